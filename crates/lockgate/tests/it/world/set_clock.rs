//! A clock that a test sets.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use lockgate::contract::ports::Clock;
use lockgate::contract::time::Timestamp;

/// A clock that stands where a test puts it.
pub(crate) struct SetClock(AtomicI64);

impl Default for SetClock {
    /// 2026-11-29T10:00:00Z
    fn default() -> Self {
        Self(AtomicI64::new(1_795_946_400_000))
    }
}

impl SetClock {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst).unsigned_abs())
    }
}
