//! How a run goes on or ends.

use serde::{Deserialize, Serialize};

use crate::ids::{ApprovalId, CallId};
use crate::run::{Budget, CompletedBy, Completion, Limit};

/// The run waits for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunWaiting {
    /// The open questions, in request order.
    pub approvals: Vec<ApprovalId>,
}

/// A driver took the run over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunLeaseTaken {
    /// How often the right to drive the run was taken, its maker included.
    pub epoch: u64,
    /// Who drives it: for people.
    pub holder: String,
}

/// A driver took the run up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunResumed {
    /// The limits from here on, where they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// The run is complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunCompleted {
    /// Why.
    pub reason: Completion,
    /// What the model said last.
    pub answer: Option<String>,
    /// Who said that the goal is reached.
    pub completed_by: Option<CompletedBy>,
}

/// The run cannot go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFailed {
    /// A stable word.
    pub reason: String,
    /// For people, scrubbed.
    pub detail: String,
}

/// A budget is used up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunLimitReached {
    /// Which.
    pub limit: Limit,
}

/// The run was cancelled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunCancelled {}

/// A person has to find out what happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunNeedsReconciliation {
    /// The calls with unknown effects.
    pub calls: Vec<CallId>,
}
