//! Time and ids: asked for, never taken (architecture section 2).

use std::time::Duration;

use crate::time::Timestamp;

/// Wall time. The journal stamps events with the clock it was built with, and judges expiry by it.
pub trait Clock: Send + Sync {
    /// Now, in milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;

    /// Time since some fixed point, for measuring how long something took. Never goes back.
    fn monotonic(&self) -> Duration;
}

/// Where new ids come from.
pub trait Ids: Send + Sync {
    /// 64 fresh random bits.
    fn random(&self) -> u64;
}
