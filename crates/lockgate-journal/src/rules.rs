//! What the journal decides, apart from how it stores: pure functions that both backends ask inside their commit.

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::digest::Digest;
use lockgate_contract::event::{ApprovalDecided, Body, EventType, NewEvent};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{ClaimRefused, Decision, DecisionRefused, JournalError};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;

/// A question as it is stored when it is asked. Nobody has decided it, whatever the caller's record says: an approval
/// becomes granted through a decision only.
pub(crate) fn asked(approval: Approval) -> Approval {
    Approval {
        state: ApprovalState::Pending,
        decided_by: None,
        decided_at: None,
        reason: None,
        consumed_at: None,
        ..approval
    }
}

/// Whether a claim may use this approval now (architecture rule 6). What is missing counts as bound to something else.
pub(crate) fn usable(
    approval: Option<&Approval>,
    run: &RunId,
    call: &CallId,
    digest: &Digest,
    now: Timestamp,
) -> Result<(), ClaimRefused> {
    let approval = approval
        .filter(|approval| approval.run_id == *run && approval.call_id == *call && approval.digest == *digest)
        .ok_or(ClaimRefused::Stale)?;
    match approval.state_at(now) {
        ApprovalState::Granted => Ok(()),
        state => Err(ClaimRefused::Approval(state)),
    }
}

/// Nobody is asked about a call that has its result: a question that is still open is taken back with it.
pub(crate) fn withdraw_if_open(approval: &mut Approval, now: Timestamp) {
    if matches!(approval.state_at(now), ApprovalState::Pending | ApprovalState::Granted) {
        approval.state = ApprovalState::Withdrawn;
    }
}

/// What came of a decision: the event that records it, and the new record or why there is none. Both are stored.
pub(crate) struct Verdict {
    pub(crate) event: NewEvent,
    pub(crate) answer: Result<Approval, DecisionRefused>,
}

/// Takes a decision. A decision that is not taken leaves an event too: the attempt is part of the truth.
///
/// Fails, and leaves no event, when the answer is not one that a person can give.
pub(crate) fn decide(approval: &Approval, decision: &Decision, now: Timestamp) -> Result<Verdict, JournalError> {
    let state = approval.state_at(now);
    let open = match (decision.answer, state) {
        (ApprovalState::Granted | ApprovalState::Denied | ApprovalState::Withdrawn, ApprovalState::Pending)
        | (ApprovalState::Withdrawn, ApprovalState::Granted) => true,
        (ApprovalState::Granted | ApprovalState::Denied | ApprovalState::Withdrawn, _) => false,
        (answer @ (ApprovalState::Pending | ApprovalState::Expired | ApprovalState::Consumed), _) => {
            return Err(JournalError::unavailable(format_args!("`{}` is not an answer to a question", answer.word())));
        }
    };
    let id = || approval.approval_id.clone();
    let verdict = if !open {
        let reason = match state {
            ApprovalState::Expired => "expired".to_owned(),
            state => format!("already_{}", state.word()),
        };
        refused(approval, decision, reason, DecisionRefused::NotOpen { approval: id(), state })
    } else if decision.digest.as_ref().is_some_and(|shown| *shown != approval.digest) {
        refused(approval, decision, "digest".to_owned(), DecisionRefused::Digest(id()))
    } else {
        taken(approval, decision, now)
    };
    Ok(verdict)
}

fn taken(approval: &Approval, decision: &Decision, now: Timestamp) -> Verdict {
    let decided = Approval {
        state: decision.answer,
        decided_by: Some(decision.by.clone()),
        decided_at: Some(now),
        reason: decision.reason.clone(),
        ..approval.clone()
    };
    let event = decided_event(approval, decision, decision.answer.word(), decision.reason.clone());
    Verdict { event, answer: Ok(decided) }
}

fn refused(approval: &Approval, decision: &Decision, reason: String, refusal: DecisionRefused) -> Verdict {
    Verdict { event: decided_event(approval, decision, "refused", Some(reason)), answer: Err(refusal) }
}

fn decided_event(approval: &Approval, decision: &Decision, word: &str, reason: Option<String>) -> NewEvent {
    let body = Body::ApprovalDecided(ApprovalDecided {
        approval_id: approval.approval_id.clone(),
        decision: word.to_owned(),
        decided_by: decision.by.clone(),
        reason,
    });
    NewEvent::new(approval.step, Some(approval.call_id.clone()), body)
}

/// What events make of the status in the run's row. The row is a projection for lists; the truth is the fold over the
/// events.
pub(crate) enum StatusChange {
    Keep,
    Clear,
    Set(RunStatus),
}

impl StatusChange {
    /// The last event that says something counts.
    pub(crate) fn of(events: &[NewEvent]) -> Self {
        let said = events.iter().rev().find_map(|event| match event.kind {
            EventType::RunCompleted => Some(Self::Set(RunStatus::Completed)),
            EventType::RunFailed => Some(Self::Set(RunStatus::Failed)),
            EventType::RunLimitReached => Some(Self::Set(RunStatus::LimitReached)),
            EventType::RunCancelled => Some(Self::Set(RunStatus::Cancelled)),
            EventType::RunWaiting => Some(Self::Set(RunStatus::WaitingForApproval)),
            EventType::RunNeedsReconciliation => Some(Self::Set(RunStatus::NeedsReconciliation)),
            EventType::RunResumed => Some(Self::Clear),
            _ => None,
        });
        said.unwrap_or(Self::Keep)
    }
}
