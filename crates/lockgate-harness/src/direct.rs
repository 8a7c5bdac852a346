//! Calls without a model: each has a run of kind `direct`, so that it has ids, events and approvals like any other.

mod again;

use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{
    Audit, Body, RunCancelled, RunCompleted, RunNeedsReconciliation, RunResumed, RunWaiting, Settled,
};
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::JournalError;
use lockgate_contract::result::ToolResult;
use lockgate_contract::run::{Completion, RunBinding, RunStart};
use lockgate_contract::subject::Subject;
use lockgate_executor::{Released, Request, StageTimes, Terms};

use crate::driver::Runner;
use crate::error::RunError;
use crate::live::Live;
use crate::state::RunState;

/// One call that a caller sends through the gate.
#[derive(Debug, Clone)]
pub struct DirectCall {
    /// On whose behalf.
    pub subject: Subject,
    /// The tools that the caller may use.
    pub binding: RunBinding,
    /// The tool.
    pub tool_name: String,
    /// The raw argument text.
    pub arguments_text: String,
    /// The question that was answered meanwhile: the same call is taken up again under its own id.
    pub approval: Option<ApprovalId>,
    /// The caller's own name for this request: sent again under the same key, it has no second effect.
    pub idempotency_key: Option<String>,
    /// The run file, as it was named.
    pub run_file: Option<String>,
}

impl DirectCall {
    /// A first call.
    pub fn new(
        subject: Subject,
        binding: RunBinding,
        tool_name: impl Into<String>,
        arguments_text: impl Into<String>,
    ) -> Self {
        Self {
            subject,
            binding,
            tool_name: tool_name.into(),
            arguments_text: arguments_text.into(),
            approval: None,
            idempotency_key: None,
            run_file: None,
        }
    }
}

/// What the caller gets.
#[derive(Debug)]
pub struct DirectAnswer {
    /// The run of the call.
    pub run_id: RunId,
    /// The result, or `approval_required` and `approval_stale` with the call still open.
    pub result: ToolResult,
    /// What the call counts as; nothing while it is open.
    pub status: Option<Status>,
    /// What is known about the world.
    pub effect_state: EffectState,
    /// The truth, for people.
    pub audit: Audit,
    /// How long each stage took; nothing for a stored result.
    pub times: Option<StageTimes>,
}

impl Runner {
    /// Sends one call through the gate.
    pub async fn call(&self, direct: DirectCall) -> Result<DirectAnswer, RunError> {
        match direct.approval.clone() {
            None => self.first_call(direct).await,
            // Boxed, like what is rare below: every call would carry the room for it.
            Some(approval) => Box::pin(self.call_again(direct, &approval)).await,
        }
    }

    async fn first_call(&self, direct: DirectCall) -> Result<DirectAnswer, RunError> {
        if let Some(key) = &direct.idempotency_key {
            Box::pin(self.recover_holder(&direct.subject.tenant, key)).await?;
        }
        let title = self.gate.scrub(&direct.tool_name).into_owned();
        let start = RunStart {
            task: Some(format!("call {title}")),
            run_file: direct.run_file,
            ..RunStart::direct(direct.subject, direct.binding)
        };
        let mut live = self.create(start).await?;
        let call = tool_call(live.log.run_id().call(0, 0), 0, direct.tool_name, direct.arguments_text);
        let terms = Terms { caller_key: direct.idempotency_key, ..Terms::default() };
        self.gate_direct(&mut live, Request { call, terms }).await
    }

    async fn gate_direct(&self, live: &mut Live, request: Request) -> Result<DirectAnswer, RunError> {
        let run_id = live.log.run_id().clone();
        reopen(live).await?;
        let released = self.gate.call(request.clone(), &live.scope).await;
        live.absorb()?;
        match released {
            Released::Settled(settlement) => {
                let settled = settlement.settled();
                end(live).await;
                Ok(DirectAnswer {
                    run_id,
                    result: settlement.result().clone(),
                    status: Some(settled.status),
                    effect_state: settled.effect_state,
                    audit: settled.audit.clone(),
                    times: Some(settlement.times().clone()),
                })
            }
            Released::Open(open) => {
                live.end(Body::RunWaiting(RunWaiting { approvals: vec![open.approval_id().clone()] })).await?;
                Ok(DirectAnswer {
                    run_id,
                    result: open.result().clone(),
                    status: None,
                    effect_state: EffectState::None,
                    audit: open.audit().clone(),
                    times: Some(open.times().clone()),
                })
            }
            // INVARIANT: a direct call has no retries, so that no attempt of it is left open.
            Released::Held | Released::AttemptFailed | Released::Reopened | Released::Cancelled { started: false } => {
                Box::pin(self.settle_direct(live, request, Code::Cancelled, false, CANCELLED)).await
            }
            Released::Cancelled { started: true } => {
                Box::pin(self.settle_direct(live, request, Code::Interrupted, true, CANCELLED)).await
            }
        }
    }

    /// Settles a call without the stages, and ends its run.
    async fn settle_direct(
        &self,
        live: &mut Live,
        request: Request,
        code: Code,
        started: bool,
        why: &str,
    ) -> Result<DirectAnswer, RunError> {
        reopen(live).await?;
        self.settle_one(live, request, code, started, why).await?;
        let answer = settled_answer(&live.state)
            .ok_or_else(|| JournalError::Corrupt("a settled call has no result".to_owned()))?;
        end(live).await;
        Ok(answer)
    }
}

const CANCELLED: &str = "the caller cancelled";

/// A run that waits is taken up again.
async fn reopen(live: &mut Live) -> Result<(), RunError> {
    if live.state.stop().is_some() {
        live.append(Body::RunResumed(RunResumed { budget: None })).await?;
    }
    Ok(())
}

/// Ends the run of a call whose result did not: one that was written before, or by somebody else. The call has its result, whatever
/// becomes of the run's own last event.
async fn end(live: &mut Live) {
    if live.state.stop().is_some() {
        return;
    }
    let call = live.state.calls().next();
    // A result that could not be stored ends nothing.
    let Some((call, settled)) = call.and_then(|call| Some((call, call.settled.as_ref()?))) else { return };
    let body = ending(&call.call_id, settled, call.has_unknown_effect());
    if let Err(error) = live.end(body).await {
        tracing::warn!(run_id = %live.log.run_id(), %error, "the end of a direct run could not be recorded");
    }
}

/// The run of a direct call is over with its result, and in the same commit.
pub(crate) fn ends_with_its_call(call: &ToolCall, settled: &Settled) -> Option<Body> {
    // What a tool calls has a result of its own.
    call.parent.is_none().then(|| ending(&call.call_id, settled, settled.is_to_be_found_out()))
}

/// How the run of a call ends that is settled so.
fn ending(call_id: &CallId, settled: &Settled, has_unknown_effect: bool) -> Body {
    let is = |code| settled.code.as_ref().is_some_and(|outcome| outcome.is(code));
    if has_unknown_effect {
        Body::RunNeedsReconciliation(RunNeedsReconciliation { calls: vec![call_id.clone()] })
    } else if is(Code::Cancelled) || is(Code::Interrupted) {
        Body::RunCancelled(RunCancelled {})
    } else {
        Body::RunCompleted(RunCompleted { reason: Completion::CallSettled, answer: None, completed_by: None })
    }
}

fn tool_call(call_id: CallId, step: u32, tool_name: String, arguments_text: String) -> ToolCall {
    ToolCall {
        call_id,
        step,
        parent: None,
        provider_call_id: String::new(),
        tool_name,
        arguments_text,
        language: ActionLanguage::Call,
    }
}

/// The stored result of a settled direct call, marked as such: never a bare success (S-31).
fn stored_answer(state: &RunState) -> Option<DirectAnswer> {
    let mut answer = settled_answer(state)?;
    answer.result.meta.deduplicated = Some(answer.result.call_id.clone());
    Some(answer)
}

fn settled_answer(state: &RunState) -> Option<DirectAnswer> {
    let call = state.calls().next()?;
    let settled = call.settled.as_ref()?;
    Some(DirectAnswer {
        run_id: state.run_id().clone(),
        result: settled.result(&call.call_id),
        status: Some(settled.status),
        effect_state: settled.effect_state,
        audit: settled.audit.clone(),
        times: None,
    })
}
