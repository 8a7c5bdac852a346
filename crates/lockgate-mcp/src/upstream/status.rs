//! How a server stands.

use std::collections::BTreeMap;

use lockgate_contract::time::Timestamp;
use serde::Serialize;

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It was not started yet.
    Configured,
    /// It is being started.
    Starting,
    /// Its tools can be called.
    Ready,
    /// It could not be started, or was lost.
    Failed,
    /// It is not what it was configured to be, and is left alone.
    Quarantined,
}

/// How a server stands, since when, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How it stands.
    pub state: Condition,
    /// Since when, in milliseconds since the Unix epoch.
    pub since_ms: i64,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The version of the protocol that is spoken with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
    /// How many tools of it can be called.
    pub tools: usize,
    /// Its tools that cannot be, by its own names, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quarantined: BTreeMap<String, String>,
    /// What was doubtful about what it said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How often it was started again.
    pub restarts: u32,
}

impl Condition {
    /// The word in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Quarantined => "quarantined",
        }
    }
}

impl Status {
    /// It cannot even be tried.
    pub fn unusable(why: String) -> Self {
        let mut status = Self::configured(Timestamp::default());
        status.becomes(Condition::Failed, Some(why), Timestamp::default());
        status
    }

    /// Nothing happened yet.
    pub(super) fn configured(now: Timestamp) -> Self {
        Self {
            state: Condition::Configured,
            since_ms: now.as_millis(),
            reason: None,
            protocol: None,
            tools: 0,
            quarantined: BTreeMap::new(),
            warnings: Vec::new(),
            restarts: 0,
        }
    }

    /// From now on it stands so.
    pub(super) fn becomes(&mut self, state: Condition, reason: Option<String>, now: Timestamp) {
        self.state = state;
        self.reason = reason;
        self.since_ms = now.as_millis();
    }

    /// Whether a start has come to an end, one way or the other.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, Condition::Ready | Condition::Failed | Condition::Quarantined)
    }
}
