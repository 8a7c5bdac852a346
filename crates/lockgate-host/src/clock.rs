//! Wall time, as the machine has it.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockgate_contract::ports::Clock;
use lockgate_contract::time::Timestamp;

/// The machine's clock.
///
/// Wall time may be set back while the program runs: spans are measured by [`Clock::monotonic`].
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        timestamp(SystemTime::now())
    }

    fn monotonic(&self) -> Duration {
        // The fixed point is the first time that anybody in this process asks, so that all clocks agree on it.
        static FIRST_ASKED: OnceLock<Instant> = OnceLock::new();
        FIRST_ASKED.get_or_init(Instant::now).elapsed()
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
