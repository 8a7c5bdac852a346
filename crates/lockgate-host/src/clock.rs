//! Wall time, as the machine has it.

use std::time::{SystemTime, UNIX_EPOCH};

use lockgate_contract::ports::Clock;
use lockgate_contract::time::Timestamp;

/// The machine's clock.
///
/// It may be set back while the program runs: whoever measures a span uses [`Timestamp::since`], which is never negative.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        timestamp(SystemTime::now())
    }
}

/// In milliseconds, rounded down. A clock that was never set and stands before 1970 reads 1970, for nobody has a use for
/// an expiry before that.
fn timestamp(time: SystemTime) -> Timestamp {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
