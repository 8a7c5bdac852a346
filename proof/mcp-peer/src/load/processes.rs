//! What the system says of processes (Linux).

use std::fs::read_to_string;
use std::time::Duration;

use crate::error::PeerError;

/// One tick of the clock that CPU time is counted in: a hundredth of a second, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Some processes together.
#[derive(Default)]
pub(super) struct Processes {
    /// The CPU time that they took, in the kernel too.
    pub(super) cpu: Duration,
    /// The memory that they hold now, in bytes.
    pub(super) memory: u64,
    /// The most memory that they held, in bytes.
    pub(super) peak: u64,
}

impl Processes {
    pub(super) fn read(ids: &[u32]) -> Result<Self, PeerError> {
        let mut all = Self::default();
        for id in ids {
            let stat = read_to_string(format!("/proc/{id}/stat")).map_err(PeerError::at("a process"))?;
            let status = read_to_string(format!("/proc/{id}/status")).map_err(PeerError::at("a process"))?;
            all.cpu += TICK * u32::try_from(ticks(&stat)).unwrap_or(u32::MAX);
            all.memory += kilobytes(&status, "VmRSS:") * 1024;
            all.peak += kilobytes(&status, "VmHWM:") * 1024;
        }
        Ok(all)
    }
}

/// The two fields `utime` and `stime`. The name before them may have blanks and parentheses.
fn ticks(stat: &str) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn kilobytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Processes, kilobytes, ticks};

    #[test]
    fn fields_are_counted_behind_the_name() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 100 1000 10";
        assert_eq!(ticks(stat), 12);
        assert_eq!(kilobytes("Name:\tx\nVmHWM:\t  200 kB\nVmRSS:\t  100 kB\n", "VmRSS:"), 100);
    }

    #[test]
    fn a_process_holds_memory() {
        let own = Processes::read(&[std::process::id()]).unwrap();
        assert!(own.memory > 0 && own.peak >= own.memory);
    }
}
