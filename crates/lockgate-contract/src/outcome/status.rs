//! What a run counts a call by.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a run counts a call by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// A valid action.
    Executed,
    /// Only a step.
    NotExecuted,
    /// A step that also counts towards the limit of environment failures.
    EnvError,
}

impl Status {
    /// The word in events and results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Executed => "EXECUTED",
            Self::NotExecuted => "NOT_EXECUTED",
            Self::EnvError => "ENV_ERROR",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
