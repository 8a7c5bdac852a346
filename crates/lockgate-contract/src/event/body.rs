//! What an event says, typed by its type.

use std::sync::Arc;

use crate::document::{DecodeError, Document};
use crate::event::{
    ApprovalAgreed, ApprovalConsumed, ApprovalDecided, ApprovalEdited, ApprovalRequested, CallReconciled, EventType,
    ModelFailed, ModelRequested, ModelResponded, RunCancelled, RunCompleted, RunFailed, RunLeaseTaken, RunLimitReached,
    RunNeedsReconciliation, RunResumed, RunWaiting, Settled, ToolAnsweredLate, ToolAttemptFailed, ToolRelaxed,
    ToolRequested, ToolStarted,
};
use crate::run::RunStart;

/// A typed body.
#[derive(Debug, Clone)]
pub enum Body {
    /// `run.started`
    RunStarted(Box<RunStart>),
    /// `model.requested`
    ModelRequested(ModelRequested),
    /// `model.responded`
    ModelResponded(ModelResponded),
    /// `model.failed`
    ModelFailed(ModelFailed),
    /// `tool.requested`
    ToolRequested(ToolRequested),
    /// `tool.relaxed`
    ToolRelaxed(ToolRelaxed),
    /// `approval.requested`
    ApprovalRequested(ApprovalRequested),
    /// `approval.agreed`
    ApprovalAgreed(ApprovalAgreed),
    /// `approval.edited`
    ApprovalEdited(Box<ApprovalEdited>),
    /// `approval.decided`
    ApprovalDecided(ApprovalDecided),
    /// `approval.consumed`
    ApprovalConsumed(ApprovalConsumed),
    /// `tool.started`
    ToolStarted(ToolStarted),
    /// `tool.finished` when `ok`, else `tool.failed`
    Settled(Arc<Settled>),
    /// `tool.attempt_failed`
    ToolAttemptFailed(ToolAttemptFailed),
    /// `tool.answered_late`
    ToolAnsweredLate(ToolAnsweredLate),
    /// `call.reconciled`
    CallReconciled(CallReconciled),
    /// `run.waiting`
    RunWaiting(RunWaiting),
    /// `run.lease_taken`
    RunLeaseTaken(RunLeaseTaken),
    /// `run.resumed`
    RunResumed(RunResumed),
    /// `run.completed`
    RunCompleted(RunCompleted),
    /// `run.failed`
    RunFailed(RunFailed),
    /// `run.limit_reached`
    RunLimitReached(RunLimitReached),
    /// `run.cancelled`
    RunCancelled(RunCancelled),
    /// `run.needs_reconciliation`
    RunNeedsReconciliation(RunNeedsReconciliation),
    /// A type that this version does not know.
    Unknown,
}

impl Body {
    /// The type of an event with this body.
    pub fn kind(&self) -> EventType {
        match self {
            Self::RunStarted(_) => EventType::RunStarted,
            Self::ModelRequested(_) => EventType::ModelRequested,
            Self::ModelResponded(_) => EventType::ModelResponded,
            Self::ModelFailed(_) => EventType::ModelFailed,
            Self::ToolRequested(_) => EventType::ToolRequested,
            Self::ToolRelaxed(_) => EventType::ToolRelaxed,
            Self::ApprovalRequested(_) => EventType::ApprovalRequested,
            Self::ApprovalAgreed(_) => EventType::ApprovalAgreed,
            Self::ApprovalEdited(_) => EventType::ApprovalEdited,
            Self::ApprovalDecided(_) => EventType::ApprovalDecided,
            Self::ApprovalConsumed(_) => EventType::ApprovalConsumed,
            Self::ToolStarted(_) => EventType::ToolStarted,
            Self::Settled(settled) if settled.ok => EventType::ToolFinished,
            Self::Settled(_) => EventType::ToolFailed,
            Self::ToolAttemptFailed(_) => EventType::ToolAttemptFailed,
            Self::ToolAnsweredLate(_) => EventType::ToolAnsweredLate,
            Self::CallReconciled(_) => EventType::CallReconciled,
            Self::RunWaiting(_) => EventType::RunWaiting,
            Self::RunLeaseTaken(_) => EventType::RunLeaseTaken,
            Self::RunResumed(_) => EventType::RunResumed,
            Self::RunCompleted(_) => EventType::RunCompleted,
            Self::RunFailed(_) => EventType::RunFailed,
            Self::RunLimitReached(_) => EventType::RunLimitReached,
            Self::RunCancelled(_) => EventType::RunCancelled,
            Self::RunNeedsReconciliation(_) => EventType::RunNeedsReconciliation,
            Self::Unknown => EventType::Other(String::new()),
        }
    }

    /// Reads the body of an event of this type.
    pub(super) fn read(kind: &EventType, data: &Document) -> Result<Self, DecodeError> {
        Ok(match kind {
            EventType::RunStarted => Self::RunStarted(Box::new(data.decode()?)),
            EventType::ModelRequested => Self::ModelRequested(data.decode()?),
            EventType::ModelResponded => Self::ModelResponded(data.decode()?),
            EventType::ModelFailed => Self::ModelFailed(data.decode()?),
            EventType::ToolRequested => Self::ToolRequested(data.decode()?),
            EventType::ToolRelaxed => Self::ToolRelaxed(data.decode()?),
            EventType::ApprovalRequested => Self::ApprovalRequested(data.decode()?),
            EventType::ApprovalAgreed => Self::ApprovalAgreed(data.decode()?),
            EventType::ApprovalEdited => Self::ApprovalEdited(Box::new(data.decode()?)),
            EventType::ApprovalDecided => Self::ApprovalDecided(data.decode()?),
            EventType::ApprovalConsumed => Self::ApprovalConsumed(data.decode()?),
            EventType::ToolStarted => Self::ToolStarted(data.decode()?),
            EventType::ToolFinished | EventType::ToolFailed => Self::Settled(Arc::new(data.decode()?)),
            EventType::ToolAttemptFailed => Self::ToolAttemptFailed(data.decode()?),
            EventType::ToolAnsweredLate => Self::ToolAnsweredLate(data.decode()?),
            EventType::CallReconciled => Self::CallReconciled(data.decode()?),
            EventType::RunWaiting => Self::RunWaiting(data.decode()?),
            EventType::RunLeaseTaken => Self::RunLeaseTaken(data.decode()?),
            EventType::RunResumed => Self::RunResumed(data.decode()?),
            EventType::RunCompleted => Self::RunCompleted(data.decode()?),
            EventType::RunFailed => Self::RunFailed(data.decode()?),
            EventType::RunLimitReached => Self::RunLimitReached(data.decode()?),
            EventType::RunCancelled => Self::RunCancelled(data.decode()?),
            EventType::RunNeedsReconciliation => Self::RunNeedsReconciliation(data.decode()?),
            EventType::Other(_) => Self::Unknown,
        })
    }

    /// The body as an event carries it.
    pub(super) fn document(&self) -> Document {
        let document = match self {
            Self::RunStarted(body) => Document::from_serialize(body),
            Self::ModelRequested(body) => Document::from_serialize(body),
            Self::ModelResponded(body) => Document::from_serialize(body),
            Self::ModelFailed(body) => Document::from_serialize(body),
            Self::ToolRequested(body) => Document::from_serialize(body),
            Self::ToolRelaxed(body) => Document::from_serialize(body),
            Self::ApprovalRequested(body) => Document::from_serialize(body),
            Self::ApprovalAgreed(body) => Document::from_serialize(body),
            Self::ApprovalEdited(body) => Document::from_serialize(body),
            Self::ApprovalDecided(body) => Document::from_serialize(body),
            Self::ApprovalConsumed(body) => Document::from_serialize(body),
            Self::ToolStarted(body) => Document::from_serialize(body),
            Self::Settled(body) => Document::from_serialize(&**body),
            Self::ToolAttemptFailed(body) => Document::from_serialize(body),
            Self::ToolAnsweredLate(body) => Document::from_serialize(body),
            Self::CallReconciled(body) => Document::from_serialize(body),
            Self::RunWaiting(body) => Document::from_serialize(body),
            Self::RunLeaseTaken(body) => Document::from_serialize(body),
            Self::RunResumed(body) => Document::from_serialize(body),
            Self::RunCompleted(body) => Document::from_serialize(body),
            Self::RunFailed(body) => Document::from_serialize(body),
            Self::RunLimitReached(body) => Document::from_serialize(body),
            Self::RunCancelled(body) => Document::from_serialize(body),
            Self::RunNeedsReconciliation(body) => Document::from_serialize(body),
            Self::Unknown => Ok(Document::null()),
        };
        // INVARIANT: bodies hold strings, numbers and parsed documents, and those always serialise.
        document.unwrap_or_else(|_| Document::null())
    }
}
