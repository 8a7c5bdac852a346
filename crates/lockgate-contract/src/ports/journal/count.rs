//! How many calls were admitted: what is counted, and whose.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::time::Timestamp;

/// Which calls are counted together. Counted are those that were admitted: started with the journal's leave, whatever came of
/// them. A call that is asked about or refused counts nothing, and a further attempt of a call nothing more.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Count {
    /// What it is called in rules, audits and refusals.
    pub name: String,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls with this effect.
    pub effect: Option<Effect>,
    /// Whose calls are counted together: those of the same run, subject or tenant as the call that it is asked for.
    pub per: Per,
    /// In this time, up to now; absent: ever.
    pub within: Option<Duration>,
    /// From this time on; absent: ever.
    pub from: Option<Timestamp>,
}

/// How many calls may be admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Which calls.
    pub count: Count,
    /// So many at most; absent: they are only counted.
    pub most: Option<u32>,
}

/// A number that a decision looked at. The call that it admits is claimed only as long as the number is still that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What was counted.
    pub count: Count,
    /// How many other calls it was.
    pub admitted: u64,
}

/// Whose calls are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Those of one run.
    Run,
    /// Those on behalf of one tenant, user and agent.
    Subject,
    /// Those of one tenant.
    Tenant,
}

impl Per {
    /// All of them, the fewest calls first.
    pub const ALL: [Self; 3] = [Self::Run, Self::Subject, Self::Tenant];

    /// The word in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Subject => "subject",
            Self::Tenant => "tenant",
        }
    }
}

impl Count {
    /// Whether it is about such a call.
    pub fn covers(&self, tool: &str, effect: Effect) -> bool {
        self.tool.as_ref().is_none_or(|only| only == tool) && self.effect.is_none_or(|only| only == effect)
    }

    /// Calls that were admitted until then do not count; 0: all do.
    pub fn since(&self, now: Timestamp) -> Timestamp {
        let within = self.within.and_then(|within| i64::try_from(within.as_millis()).ok());
        let stretch = within.map(|millis| now.as_millis().saturating_sub(millis));
        // What was admitted at this very time counts.
        let from = self.from.map(|from| from.as_millis().saturating_sub(1));
        stretch.max(from).map_or_else(Timestamp::default, Timestamp::from_millis)
    }
}

#[cfg(test)]
mod tests;
