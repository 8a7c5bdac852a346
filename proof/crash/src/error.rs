//! Why a scenario could not be played. Never a verdict: those are the judge's.

use std::fmt;

/// What went wrong, for people.
#[derive(Debug)]
pub struct CrashError(String);

impl CrashError {
    /// Something that was tried, and why it failed.
    pub fn new(tried: &str, cause: impl fmt::Display) -> Self {
        Self(format!("{tried}: {cause}"))
    }
}

impl fmt::Display for CrashError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CrashError {}
