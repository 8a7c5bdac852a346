//! released: the one thing that leaves the executor. Scrubbed, limited, journaled, for success and refusal alike.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use lockgate_contract::document::{Document, Kind};
use lockgate_contract::effect::{EffectState, ReplayPolicy};
use lockgate_contract::event::{Audit, Body, EventType, NewEvent, Settled, ToolAttemptFailed};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::{JournalError, StoredArtifact};
use lockgate_contract::result::{ActionOutcome, Meta, ToolResult};

use crate::checked::{Checked, CheckedOutput};
use crate::exit::{Exit, Refusal};
use crate::limit::shorten;
use crate::reconciled::BY_TOOL;
use crate::trail::{Origin, Stage, StageTimes, Trail};

/// How a call left the gate.
#[derive(Debug)]
pub enum Released {
    /// It has its one outcome.
    Settled(Box<Settlement>),
    /// It has an answer, and stays open under its id.
    Open(Box<Open>),
    /// Nothing happened: it may not start yet. Ask again with other terms.
    Held,
    /// The run was cancelled, and the call has no outcome yet: whoever drives the run settles it.
    Cancelled {
        /// Whether the handler had been entered.
        started: bool,
    },
    /// The attempt failed in a way that may be tried again, and the call is still open: whoever drives the run decides.
    AttemptFailed,
    /// An attempt whose result was lost is known not to have happened, and the call is still open.
    Reopened,
}

/// A settled call. Made here only.
#[derive(Debug)]
pub struct Settlement {
    call_id: CallId,
    /// Made when it is asked for: the loop of a run never does.
    result: OnceLock<ToolResult>,
    outcome: ActionOutcome,
    settled: Arc<Settled>,
    times: StageTimes,
}

/// An answer to an open call. Made here only.
#[derive(Debug)]
pub struct Open {
    result: ToolResult,
    approval_id: ApprovalId,
    audit: Audit,
    times: StageTimes,
}

impl Settlement {
    /// The result in its wire shape.
    pub fn result(&self) -> &ToolResult {
        self.result.get_or_init(|| self.settled.result(&self.call_id))
    }

    /// What the loop sees of it.
    pub fn outcome(&self) -> &ActionOutcome {
        &self.outcome
    }

    /// What the journal holds of it.
    pub fn settled(&self) -> &Settled {
        &self.settled
    }

    /// How long each stage took.
    pub fn times(&self) -> &StageTimes {
        &self.times
    }
}

impl Open {
    /// The answer in the wire shape of a result: `approval_required` or `approval_stale`.
    pub fn result(&self) -> &ToolResult {
        &self.result
    }

    /// The question that is open.
    pub fn approval_id(&self) -> &ApprovalId {
        &self.approval_id
    }

    /// The truth, for people.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// How long each stage took.
    pub fn times(&self) -> &StageTimes {
        &self.times
    }
}

/// Ends a call.
pub(crate) async fn release(mut trail: Trail<'_>, ending: Result<Checked, Exit>, may_retry: bool) -> Released {
    let (settled, artifact) = match ending {
        Ok(checked) => {
            // An output that cannot be scrubbed is not shown.
            match catch_unwind(AssertUnwindSafe(|| succeeded(&mut trail, checked))) {
                Ok(released) => released,
                Err(panic) => (trail.settled_as(Trail::gate_defect(panic)), None),
            }
        }
        Err(Exit::Refused(refusal)) => refused(&mut trail, *refusal),
        Err(Exit::Reused { earlier, why, settled }) => (reused(&mut trail, &earlier, why, *settled), None),
        Err(Exit::Open { code, approval, audit }) => return open(trail, code, approval, &audit),
        Err(Exit::Held) => {
            trail.finish();
            return Released::Held;
        }
        Err(Exit::Cancelled { started }) => {
            trail.finish();
            return Released::Cancelled { started };
        }
    };
    if may_retry && worth_retrying(&trail, &settled) && attempt_failed(&mut trail, &settled).await {
        trail.finish();
        return Released::AttemptFailed;
    }
    let settled = journal(&mut trail, settled, artifact).await;
    reach(Point::ResultAfter);
    tracing::Span::current().record("code", settled.code.as_ref().map_or("ok", |code| code.word()));
    trail.passed(Stage::Released);
    trail.finish();
    Released::Settled(Box::new(Settlement {
        call_id: trail.call.call_id.clone(),
        result: OnceLock::new(),
        outcome: outcome(&settled),
        settled,
        times: trail.times.clone(),
    }))
}

/// Scrubs and limits an output.
fn succeeded(trail: &mut Trail<'_>, checked: Checked) -> (Arc<Settled>, Option<StoredArtifact>) {
    let CheckedOutput { output, truncated_chars, lossy, env_reported_completion } = checked.into_output();
    let gate = trail.gate;
    let scrubbed = gate.redactor.scrub_document(&output).unwrap_or(output);
    let mut meta = Meta {
        lossy,
        truncated_chars: (truncated_chars > 0).then_some(truncated_chars),
        reconciled_by: (trail.origin == Origin::Question).then(|| BY_TOOL.to_owned()),
        arguments_edited: trail.terms.edited,
        ..Meta::default()
    };
    let (data, artifact) = limited(trail, scrubbed, &mut meta);
    let (tool_version, audit) = trail.take_facts();
    let settled = Settled {
        tool_name: trail.call.tool_name.clone(),
        tool_version,
        ok: true,
        code: None,
        reason: None,
        status: Status::Executed,
        effect_state: EffectState::Done,
        // As it is read back: an output of `null` and none are one.
        data: Some(data).filter(|data| data.root().kind() != Kind::Null),
        message: None,
        details: None,
        retryable: false,
        meta,
        env_reported_completion,
        audit,
    };
    (Arc::new(settled), artifact)
}

/// Cuts what is too large, and says so.
fn limited(trail: &Trail<'_>, scrubbed: Document, meta: &mut Meta) -> (Document, Option<StoredArtifact>) {
    match shorten(&scrubbed, trail.form, trail.gate.options.max_output_bytes) {
        None => (scrubbed, None),
        Some(shortened) => {
            meta.truncated_bytes = Some(shortened.truncated_bytes);
            meta.truncated_chars = Some(meta.truncated_chars.unwrap_or(0) + shortened.truncated_chars);
            meta.artifact = Some(shortened.artifact.artifact_id.clone());
            (shortened.data, Some(shortened.artifact))
        }
    }
}

/// A call without an output. What its tool says of that is scrubbed and limited as an output is; where it cannot be, it is not shown.
fn refused(trail: &mut Trail<'_>, mut refusal: Refusal) -> (Arc<Settled>, Option<StoredArtifact>) {
    let Some(details) = refusal.details.take() else { return (trail.settled_as(refusal), None) };
    let mut meta = Meta::default();
    let shown = catch_unwind(AssertUnwindSafe(|| {
        let scrubbed = trail.gate.redactor.scrub_document(&details).unwrap_or(details);
        limited(trail, scrubbed, &mut meta)
    }));
    let Ok((details, artifact)) = shown else { return (trail.settled_as(refusal), None) };
    refusal.details = Some(details);
    let mut settled = trail.settled_as(refusal);
    let told = &mut Arc::make_mut(&mut settled).meta;
    (told.truncated_bytes, told.truncated_chars, told.artifact) =
        (meta.truncated_bytes, meta.truncated_chars, meta.artifact);
    (settled, artifact)
}

/// Whether an attempt failed in a way that passes, and a second attempt could have no second effect: nothing happened, or
/// the tool or its provider sees to it.
fn worth_retrying(trail: &Trail<'_>, settled: &Settled) -> bool {
    let passes = settled.retryable
        || settled.code.as_ref().is_some_and(|code| {
            [Code::EnvironmentError, Code::TimedOut, Code::OutcomeUnknown].into_iter().any(|passing| code.is(passing))
        });
    trail.started
        && !settled.ok
        && passes
        && (settled.effect_state == EffectState::None || trail.replay == ReplayPolicy::Safe)
}

/// Records a failed attempt. Answers whether it stands: what is not recorded is settled instead.
async fn attempt_failed(trail: &mut Trail<'_>, settled: &Arc<Settled>) -> bool {
    let failed = ToolAttemptFailed { attempt: trail.terms.attempt, settled: Box::new(Settled::clone(settled)) };
    trail.note(Body::ToolAttemptFailed(failed));
    match trail.scope.log.append(trail.pending.clone()).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(call_id = %trail.call.call_id, %error, "a failed attempt could not be recorded");
            trail.pending.retain(|event| event.kind != EventType::ToolAttemptFailed);
            trail.forget_what_stands().await;
            false
        }
    }
}

/// The stored result of an earlier call, marked so: never a bare success (S-31).
fn reused(trail: &mut Trail<'_>, earlier: &CallId, why: &str, settled: Settled) -> Arc<Settled> {
    let (_, facts) = trail.take_facts();
    let text = format!("the result of `{earlier}`: {why}");
    Arc::new(Settled {
        meta: Meta { deduplicated: Some(earlier.clone()), ..settled.meta },
        env_reported_completion: false,
        audit: Audit { text: Some(text), ..facts },
        ..settled
    })
}

/// An answer to a call that stays open.
fn open(mut trail: Trail<'_>, code: Code, approval_id: ApprovalId, audit: &str) -> Released {
    let mut settled = Arc::unwrap_or_clone(trail.settled_as(Refusal::new(code, audit)));
    settled.meta.approval_id = Some(approval_id.clone());
    trail.finish();
    Released::Open(Box::new(Open {
        result: settled.result(&trail.call.call_id),
        approval_id,
        audit: settled.audit,
        times: trail.times.clone(),
    }))
}

/// Writes the call's last event. What could not be written is not shown as a result.
async fn journal(trail: &mut Trail<'_>, settled: Arc<Settled>, artifact: Option<StoredArtifact>) -> Arc<Settled> {
    let call_id = &trail.call.call_id;
    let mut events = trail.last_events(&settled);
    let then = trail.scope.then.and_then(|then| then(trail.call, &settled));
    events.extend(then.map(|body| NewEvent::new(trail.call.step, None, body)));
    match trail.scope.log.settle(trail.settling(artifact), events).await {
        Ok(()) => settled,
        Err(taken @ JournalError::AlreadySettled(_)) => match first_result(trail, call_id).await {
            Ok(Some(first)) => first,
            Ok(None) => not_recorded(trail, &settled, &taken),
            Err(error) => not_recorded(trail, &settled, &error),
        },
        Err(error) => not_recorded(trail, &settled, &error),
    }
}

/// The result that the call has already, marked so: a call has one outcome, however often it is asked for.
async fn first_result(trail: &Trail<'_>, call_id: &CallId) -> Result<Option<Arc<Settled>>, JournalError> {
    let mut stored = trail.scope.log.settled(call_id).await?;
    if let Some(settled) = &mut stored {
        Arc::make_mut(settled).meta.deduplicated = Some(call_id.clone());
    }
    Ok(stored)
}

fn not_recorded(trail: &mut Trail<'_>, settled: &Settled, error: &JournalError) -> Arc<Settled> {
    let ran = trail.started || settled.status == Status::Executed;
    let code = if ran { Code::ResultNotRecorded } else { Code::StorageUnavailable };
    // What is known about the world becomes neither more nor less because it could not be stored.
    trail.settled_as(Refusal::new(code, error.to_string()).effect_state(settled.effect_state))
}

/// What the loop sees of a settled call, row by row as R-096…R-103 fill it.
fn outcome(settled: &Settled) -> ActionOutcome {
    let executors_sentence = || Document::string(settled.audit.text.as_deref().unwrap_or_default());
    let (observation, observation_is_synthetic) = match settled.status {
        Status::NotExecuted if settled.meta.deduplicated.is_none() => (executors_sentence(), true),
        Status::EnvError => (executors_sentence(), false),
        Status::Executed | Status::NotExecuted => (settled.model_content(), false),
    };
    ActionOutcome {
        status: settled.status,
        observation,
        observation_is_synthetic,
        env_reported_completion: settled.env_reported_completion,
        observation_truncated_chars: settled.meta.truncated_chars.unwrap_or(0),
    }
}
