//! What the journal decides, apart from how it stores: pure functions that every backend asks inside its commit.

mod decided;

use std::sync::Arc;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{
    Body, CallReconciled, Chain, Event, EventType, Finding, NewEvent, RunLeaseTaken, Settled, ToolAnsweredLate,
};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    CallState, CallerKey, ClaimRefused, JournalError, KeyHolder, Lease, Quota, Seen, Settling,
};
use lockgate_contract::run::{Completion, RunKind, RunStatus};
use lockgate_contract::time::Timestamp;

pub(crate) use self::decided::{Decided, REFUSED, decide};

/// A question as it is stored when it is asked. Nobody has decided it, whatever the caller's record says: an approval
/// becomes granted through a decision only.
pub(crate) fn asked(approval: Approval, lease: &Lease) -> Approval {
    Approval { run_id: lease.run_id.clone(), ..approval.undecided() }
}

/// Whether nobody misses the beginning of such a run where nothing came after it: a direct call that was not claimed did nothing,
/// and its caller has no answer yet.
pub(crate) fn begins_nothing(kind: RunKind) -> bool {
    kind == RunKind::Direct
}

/// Whether these say only that a run ended because its one call is settled: its result says so too, and whoever takes the run up
/// says it again.
pub(crate) fn is_told_by_its_result(events: &[NewEvent]) -> bool {
    events.iter().all(|event| match event.kind {
        EventType::RunCompleted => {
            event.data.root().get("reason").and_then(|reason| reason.as_str()).as_deref()
                == Some(Completion::CallSettled.word())
        }
        _ => false,
    })
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

/// Whether a question has its answer: whoever drives its run goes on with it.
pub(crate) fn is_answered(approval: &Approval, now: Timestamp) -> bool {
    !matches!(approval.state_at(now), ApprovalState::Pending | ApprovalState::Consumed)
}

/// Whether a call that stands so has its result.
pub(crate) fn has_result(state: CallState) -> bool {
    matches!(state, CallState::Unknown | CallState::Settled)
}

/// Whether a question still waits for its answer. Where an edit put one in place of another, that one counts.
pub(crate) fn is_pending(approval: &Approval, now: Timestamp) -> bool {
    approval.state_at(now) == ApprovalState::Pending
}

/// The state of a call with this word.
pub(crate) fn call_state(word: &str) -> Result<CallState, JournalError> {
    let known = CallState::ALL.iter().copied().find(|known| known.word() == word);
    known.ok_or_else(|| JournalError::Corrupt(format!("a call has the unknown state `{word}`")))
}

/// What is stored of a call: where it stands, and the last attempt that was started, 0 where none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredCall {
    pub(crate) state: CallState,
    pub(crate) attempt: u32,
}

/// Whether this attempt of a call may start: a later one than any before it, of a call that has no result.
pub(crate) fn may_start(stored: Option<StoredCall>, attempt: u32) -> bool {
    attempt > 0
        && stored.is_none_or(|stored| {
            matches!(stored.state, CallState::Running | CallState::Open) && attempt > stored.attempt
        })
}

/// What a result comes to: the events that are written, and where the call stands afterwards; nothing where it stays.
pub(crate) struct Settlement {
    pub(crate) events: Vec<NewEvent>,
    pub(crate) state: Option<CallState>,
}

/// Takes a result. `holds` says whether whoever brings it has the run's lease: a result that is no attempt's needs it, the
/// result of an attempt that was started is taken from anybody.
pub(crate) fn settlement(
    stored: Option<StoredCall>,
    run: &RunId,
    settling: &Settling,
    holds: bool,
    events: Vec<NewEvent>,
) -> Result<Settlement, JournalError> {
    let attempt = settling.attempt;
    let settled = |events: Vec<NewEvent>| {
        let state = if has_unknown_effect(&events) { CallState::Unknown } else { CallState::Settled };
        Ok(Settlement { events, state: Some(state) })
    };
    let Some(StoredCall { state, attempt: last }) = stored else {
        return if holds { settled(events) } else { Err(JournalError::Fenced { run: run.clone() }) };
    };
    let is_earlier = attempt > 0 && (attempt < last || attempt == last && state == CallState::Open);
    let is_last = attempt > 0 && attempt == last;
    match state {
        _ if is_earlier => Ok(Settlement { events: late(events, attempt), state: None }),
        CallState::Running | CallState::Open if holds => settled(events),
        CallState::Running if is_last => settled(of_calls(events)),
        CallState::Running | CallState::Open => Err(JournalError::Fenced { run: run.clone() }),
        CallState::Unknown if is_last && !has_unknown_effect(&events) => {
            Ok(Settlement { events: found_out(events), state: Some(CallState::Settled) })
        }
        CallState::Unknown | CallState::Settled if is_last && settling.late => {
            Ok(Settlement { events: late(events, attempt), state: None })
        }
        CallState::Unknown | CallState::Settled => Err(JournalError::AlreadySettled(settling.call_id.clone())),
    }
}

/// What these say of calls: what becomes of the run is said by whoever has its lease.
fn of_calls(mut events: Vec<NewEvent>) -> Vec<NewEvent> {
    events.retain(|event| event.call_id.is_some());
    events
}

fn has_unknown_effect(events: &[NewEvent]) -> bool {
    events.iter().any(|event| matches!(event.body(), Ok(Body::Settled(settled)) if settled.is_to_be_found_out()))
}

/// A result that comes too late to be one: it stands in the journal, and changes nothing.
fn late(events: Vec<NewEvent>, attempt: u32) -> Vec<NewEvent> {
    only_result(events, |settled| Body::ToolAnsweredLate(ToolAnsweredLate { attempt, settled }))
}

/// A result of which everybody thought that it was lost.
fn found_out(events: Vec<NewEvent>) -> Vec<NewEvent> {
    only_result(events, |settled| {
        let finding = if settled.effect_state == EffectState::Done { Finding::Done } else { Finding::NotDone };
        let by = "late_result".to_owned();
        Body::CallReconciled(CallReconciled { finding, by, reason: None, settled: Some(settled) })
    })
}

fn only_result(events: Vec<NewEvent>, body: impl Fn(Arc<Settled>) -> Body) -> Vec<NewEvent> {
    let of = |event: NewEvent| match event.body() {
        Ok(Body::Settled(settled)) => Some(NewEvent::new(event.step, event.call_id, body(settled))),
        _ => None,
    };
    events.into_iter().filter_map(of).collect()
}

/// Where a call stands after what was found out about it. A call without a result can only be found not to have happened.
pub(crate) fn reconciled(
    stored: Option<StoredCall>,
    call: &CallId,
    events: &[NewEvent],
) -> Result<CallState, JournalError> {
    let reopens = events.iter().find_map(|event| match event.body() {
        Ok(Body::CallReconciled(found)) => Some(found.reopens()),
        _ => None,
    });
    match (stored.map(|stored| stored.state), reopens) {
        (Some(CallState::Running | CallState::Unknown), Some(true)) => Ok(CallState::Open),
        (Some(CallState::Unknown), Some(false)) => Ok(CallState::Settled),
        _ => Err(JournalError::NothingToReconcile(call.clone())),
    }
}

/// Whether a caller's key is free for this call, belongs to it already, or is passed on to it. `stored` is who has it, and until when.
pub(crate) fn key_is_free(
    stored: Option<(KeyHolder, Timestamp)>,
    run: &RunId,
    call: &CallId,
    key: &CallerKey,
    now: Timestamp,
) -> Result<(), ClaimRefused> {
    let Some(holder) = key_holder(stored, now) else { return Ok(()) };
    let is_own = holder.run_id == *run && holder.call_id == *call;
    let is_passed_on = key.passed_on_by.as_ref() == Some(&holder.call_id);
    if holder.request == key.request && (is_own || is_passed_on) {
        Ok(())
    } else {
        Err(ClaimRefused::KeyTaken(Box::new(holder)))
    }
}

/// Whether one more call may be admitted where so many were.
pub(crate) fn within_quota(quota: &Quota, admitted: u64) -> Result<(), ClaimRefused> {
    let is_room = quota.most.is_none_or(|most| admitted < u64::from(most));
    if is_room { Ok(()) } else { Err(ClaimRefused::Quota(quota.count.name.clone())) }
}

/// Whether a decision still stands that looked at this number.
pub(crate) fn still_holds(seen: &Seen, admitted: u64) -> Result<(), ClaimRefused> {
    if admitted == seen.admitted { Ok(()) } else { Err(ClaimRefused::Changed(seen.count.name.clone())) }
}

/// Who has a caller's key now.
pub(crate) fn key_holder(stored: Option<(KeyHolder, Timestamp)>, now: Timestamp) -> Option<KeyHolder> {
    stored.filter(|(_, until)| now < *until).map(|(holder, _)| holder)
}

/// The event with which a driver takes a run over, in the step that the run is in. `holder` says to people who it is.
pub(crate) fn lease_taken(epoch: u64, step: u32, holder: String) -> NewEvent {
    NewEvent::new(step, None, Body::RunLeaseTaken(RunLeaseTaken { epoch, holder }))
}

/// Who a process is that takes a run over, for people.
pub(crate) fn holder() -> String {
    format!("process {}", std::process::id())
}

/// Ties events to those before them, and answers with the hash of the last one.
pub(crate) fn tie(head: Digest, events: &mut [Event]) -> Digest {
    let mut chain = Chain::behind(head);
    for event in events {
        chain.tie(event);
    }
    chain.head()
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
        Self::of_kinds(events.iter().map(|event| &event.kind))
    }

    /// The same, of the types of events in their order.
    pub(crate) fn of_kinds<'e>(kinds: impl DoubleEndedIterator<Item = &'e EventType>) -> Self {
        let said = kinds.rev().find_map(|kind| match kind {
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
