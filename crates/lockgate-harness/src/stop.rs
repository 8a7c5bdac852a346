//! Why a run stopped, and the event that says so.

use lockgate_contract::event::{
    Body, RunCancelled, RunCompleted, RunFailed, RunLimitReached, RunNeedsReconciliation, RunWaiting,
};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::run::{CompletedBy, Completion, Limit, RunStatus};

/// Why a run stopped: a state of the harness, never a decision of a model or a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The goal is reached, or the model gave its answer.
    Completed {
        /// Why.
        reason: Completion,
        /// What the model said last.
        answer: Option<String>,
        /// Who said that the goal is reached.
        completed_by: Option<CompletedBy>,
    },
    /// A budget is used up.
    LimitReached(Limit),
    /// These questions are open.
    WaitingForApproval(Vec<ApprovalId>),
    /// These calls have unknown effects.
    NeedsReconciliation(Vec<CallId>),
    /// It cannot go on.
    Failed {
        /// A stable word.
        reason: String,
        /// For people.
        detail: String,
    },
    /// It was cancelled.
    Cancelled,
}

impl Stop {
    /// The stop state.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Completed { .. } => RunStatus::Completed,
            Self::LimitReached(_) => RunStatus::LimitReached,
            Self::WaitingForApproval(_) => RunStatus::WaitingForApproval,
            Self::NeedsReconciliation(_) => RunStatus::NeedsReconciliation,
            Self::Failed { .. } => RunStatus::Failed,
            Self::Cancelled => RunStatus::Cancelled,
        }
    }

    /// The stable word inside the stop state.
    pub fn reason(&self) -> &str {
        match self {
            Self::Completed { reason, .. } => reason.word(),
            Self::LimitReached(limit) => limit.word(),
            Self::WaitingForApproval(_) => "approval_required",
            Self::NeedsReconciliation(_) => "unknown_effect",
            Self::Failed { reason, .. } => reason,
            Self::Cancelled => "cancelled",
        }
    }

    /// The event that says it.
    pub(crate) fn event(self) -> Body {
        match self {
            Self::Completed { reason, answer, completed_by } => {
                Body::RunCompleted(RunCompleted { reason, answer, completed_by })
            }
            Self::LimitReached(limit) => Body::RunLimitReached(RunLimitReached { limit }),
            Self::WaitingForApproval(approvals) => Body::RunWaiting(RunWaiting { approvals }),
            Self::NeedsReconciliation(calls) => Body::RunNeedsReconciliation(RunNeedsReconciliation { calls }),
            Self::Failed { reason, detail } => Body::RunFailed(RunFailed { reason, detail }),
            Self::Cancelled => Body::RunCancelled(RunCancelled {}),
        }
    }
}
