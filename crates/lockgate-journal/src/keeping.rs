//! What is decided about whole runs, apart from how they are stored: whether one may come in, and whether one may go.

use std::collections::HashSet;

use lockgate_contract::approval::{Approval, ApprovalState, Yes};
use lockgate_contract::event::{Body, Chain, Event};
use lockgate_contract::ports::{CallState, JournalError, KeptCall, KeptKey, KeptRun, Prune, Pruned, WhyKept};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;

use crate::rules::{self, StatusChange};

/// Whether a run may come in: what no journal could have kept may not. Answers with its questions.
pub(crate) fn importable(run: &KeptRun) -> Result<Vec<Approval>, JournalError> {
    holds_together(run).map_err(|why| JournalError::Corrupt(format!("run `{}` {why}", run.run_id)))
}

/// Whether what a journal keeps beside the events of a run is what these say. Answers with the run's questions, or with what
/// is wrong about the run.
pub fn holds_together(run: &KeptRun) -> Result<Vec<Approval>, String> {
    let broken = |why: String| Err(why);
    let (Some(first), Some(last)) = (run.events.first(), run.events.last()) else {
        return broken("has no events".to_owned());
    };
    if let Some((event, expected)) = run.events.iter().zip(1..).find(|(event, expected)| event.seq != *expected) {
        return broken(format!("has event {} where event {expected} belongs", event.seq));
    }
    if let Some(event) = run.events.iter().find(|event| event.run_id != run.run_id) {
        return broken(format!("has an event {} of run `{}`", event.seq, event.run_id));
    }
    let status = match StatusChange::of_kinds(run.events.iter().map(|event| &event.kind)) {
        StatusChange::Keep | StatusChange::Clear => None,
        StatusChange::Set(status) => Some(status),
    };
    if status != run.status {
        return broken("has another status than its events say".to_owned());
    }
    if (first.at, last.at) != (run.created_at, run.updated_at) || run.epoch == 0 {
        return broken("has other times than its events, or no driver".to_owned());
    }
    let is_chained = first.hash.is_some();
    let mut chain = Chain::begin(&run.run_id);
    for event in run.events.iter().filter(|_| is_chained) {
        let hash = chain.hash(event);
        if event.hash != Some(hash) {
            return broken(format!("has an event {} that is not tied to those before it", event.seq));
        }
        chain = Chain::behind(hash);
    }
    if !is_chained && run.events.iter().any(|event| event.hash.is_some()) {
        return broken("has events that are tied to each other, and some that are not".to_owned());
    }
    let mut asked = Vec::with_capacity(run.questions.len());
    for question in &run.questions {
        let approval = match question.approval() {
            Ok(approval) if approval.run_id == run.run_id && approval.tenant == run.tenant => {
                Approval { yeses: yeses(&approval, run), ..approval }
            }
            Ok(approval) => return broken(format!("has the question `{}` of another run", approval.approval_id)),
            Err(error) => return broken(format!("has a question that cannot be read: {error}")),
        };
        asked.push(approval);
    }
    if has_double(asked.iter().map(|approval| approval.approval_id.as_str())) {
        return broken("has a question twice".to_owned());
    }
    if !ascending(run.calls.iter().map(|call| call.call_id.as_str()))
        || !ascending(run.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()))
        || !ascending(run.keys.iter().map(|key| (key.tenant.as_str(), key.key.as_str())))
    {
        return broken("has its calls, artifacts or keys twice, or in no order".to_owned());
    }
    if let Some(call) = run.calls.iter().find(|call| !stands_as_said(call, run)) {
        return broken(format!(
            "has the call `{}` as `{}`, and its events say otherwise",
            call.call_id,
            call.state.word()
        ));
    }
    if let Some(used) = run
        .calls
        .iter()
        .filter_map(|call| call.approval_id.as_ref())
        .find(|used| !asked.iter().any(|approval| approval.approval_id == **used))
    {
        return broken(format!("has a call under approval `{used}`, which it does not have"));
    }
    let taken_over = run.events.iter().rev().find_map(|event| match event.body() {
        Ok(Body::RunLeaseTaken(taken)) => Some(taken.epoch),
        _ => None,
    });
    if run.epoch != taken_over.unwrap_or(1) {
        return broken("was driven by another number of drivers than its events say".to_owned());
    }
    if let Some(key) = run
        .keys
        .iter()
        .find(|key| key.tenant != run.tenant || !run.calls.iter().any(|call| call.call_id == key.call_id))
    {
        return broken(format!(
            "has a caller's key of another tenant, or of the call `{}` that it does not have",
            key.call_id
        ));
    }
    if let Some(forged) = asked.iter().find(|approval| !is_decided_as_said(approval, run)) {
        return broken(format!("has the question `{}`, which nobody granted as its events say", forged.approval_id));
    }
    Ok(asked)
}

/// A call that has a result has one in an event, and one that has none has none; what nobody knows is never kept as known.
fn stands_as_said(call: &KeptCall, run: &KeptRun) -> bool {
    let of_call = run.events.iter().filter(|event| event.call_id.as_ref() == Some(&call.call_id));
    let said = of_call.fold(None, |said, event| match event.body() {
        Ok(Body::ToolStarted(_)) => Some(CallState::Running),
        Ok(Body::Settled(settled)) if settled.is_to_be_found_out() => Some(CallState::Unknown),
        Ok(Body::CallReconciled(found)) if found.reopens() => Some(CallState::Open),
        Ok(Body::Settled(_) | Body::CallReconciled(_)) => Some(CallState::Settled),
        _ => said,
    });
    match (said, call.state) {
        // An older journal kept a copy of an unknown result as unknown, too.
        (None, _)
        | (Some(CallState::Running | CallState::Open), CallState::Running | CallState::Open)
        | (Some(CallState::Settled), CallState::Unknown) => true,
        (Some(said), kept) => said == kept,
    }
}

/// A yes is the last thing that somebody said about a question, and each of the yeses that it needs stands in an event.
fn is_decided_as_said(approval: &Approval, run: &KeptRun) -> bool {
    if !matches!(approval.state, ApprovalState::Granted | ApprovalState::Consumed) {
        return true;
    }
    let decided = run.events.iter().rev().find_map(|event| match event.body() {
        Ok(Body::ApprovalDecided(decided))
            if decided.approval_id == approval.approval_id && decided.decision != rules::REFUSED =>
        {
            Some(decided)
        }
        _ => None,
    });
    decided.is_some_and(|decided| {
        decided.decision == ApprovalState::Granted.word() && Some(&decided.decided_by) == approval.decided_by.as_ref()
    }) && (approval.approvers.is_none() || approval.missing_yeses() == 0)
}

/// The yeses to a question, as its events tell of them.
fn yeses(question: &Approval, run: &KeptRun) -> Vec<Yes> {
    let granted = ApprovalState::Granted.word();
    let said = |event: &Event| match event.body() {
        Ok(Body::ApprovalAgreed(said)) if said.approval_id == question.approval_id => {
            Some(Yes { by: said.agreed_by, roles: said.roles, proof: said.proof, at: event.at, reason: said.reason })
        }
        Ok(Body::ApprovalDecided(said)) if said.approval_id == question.approval_id && said.decision == granted => {
            let proof = said.proof.unwrap_or_default();
            Some(Yes { by: said.decided_by, roles: said.roles, proof, at: event.at, reason: said.reason })
        }
        _ => None,
    };
    run.events.iter().filter_map(said).collect()
}

fn has_double<'i>(mut ids: impl Iterator<Item = &'i str>) -> bool {
    let mut seen = HashSet::new();
    ids.any(|id| !seen.insert(id))
}

fn ascending<T: PartialOrd>(ids: impl Iterator<Item = T>) -> bool {
    ids.is_sorted_by(|one, next| one < next)
}

/// How a run stands that is to be removed.
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Standing {
    pub(crate) status: Option<RunStatus>,
    pub(crate) last_seq: u64,
    pub(crate) updated_at: Timestamp,
    pub(crate) is_driven: bool,
    pub(crate) has_open_question: bool,
    pub(crate) has_unknown_effect: bool,
    pub(crate) has_live_key: bool,
}

/// Whether a run may go.
pub(crate) fn prunable(standing: &Standing, prune: &Prune, now: Timestamp) -> Pruned {
    let why = match standing.status {
        _ if now < standing.updated_at.after(prune.older_than) => WhyKept::Recent,
        _ if prune.last_seq.is_some_and(|seq| seq != standing.last_seq) => WhyKept::Recent,
        None => WhyKept::Open,
        Some(RunStatus::WaitingForApproval) => WhyKept::Waiting,
        Some(RunStatus::NeedsReconciliation) => WhyKept::NeedsReconciliation,
        Some(RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled | RunStatus::LimitReached) => {
            if standing.is_driven {
                WhyKept::Driven
            } else if standing.has_open_question {
                WhyKept::OpenQuestion
            } else if standing.has_unknown_effect {
                WhyKept::UnknownEffect
            } else if standing.has_live_key {
                WhyKept::LiveKey
            } else {
                return Pruned::Removed;
            }
        }
    };
    Pruned::Kept(why)
}

/// Whether a caller's key comes in with its run. One that has run out makes way, whichever it is; `until` is how long the one
/// that is there is remembered.
pub(crate) fn key_comes_in(until: Option<Timestamp>, key: &KeptKey, now: Timestamp) -> Result<bool, JournalError> {
    match until {
        Some(until) if now < until && now < Timestamp::from_millis(key.expires_at_ms) => {
            Err(JournalError::Exists(key.key.clone()))
        }
        Some(until) => Ok(now >= until),
        None => Ok(true),
    }
}
