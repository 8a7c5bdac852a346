//! Calls without a model: each has a run of kind `direct`, so that it has ids, events and approvals like any other.

use lockgate_contract::approval::{Approval, Binding};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::document::Limits;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{
    Audit, Body, RunCancelled, RunCompleted, RunNeedsReconciliation, RunResumed, RunWaiting,
};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::JournalError;
use lockgate_contract::result::{Meta, ToolError, ToolResult};
use lockgate_contract::run::{Completion, RunBinding, RunKind, RunStart};
use lockgate_contract::subject::Subject;
use lockgate_executor::{Released, Request, StageTimes, Terms};

use crate::driver::Runner;
use crate::error::RunError;
use crate::live::Live;
use crate::plan::SAID_NO;
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
            Some(approval) => self.call_again(direct, &approval).await,
        }
    }

    async fn first_call(&self, direct: DirectCall) -> Result<DirectAnswer, RunError> {
        let title = self.gate.scrub(&direct.tool_name).into_owned();
        let start = RunStart {
            task: Some(format!("call {title}")),
            run_file: direct.run_file,
            ..RunStart::direct(direct.subject, direct.binding)
        };
        let live = self.create(start).await?;
        let call = ToolCall {
            call_id: live.log.run_id().call(0, 0),
            step: 0,
            parent: None,
            provider_call_id: String::new(),
            tool_name: direct.tool_name,
            arguments_text: direct.arguments_text,
            language: ActionLanguage::Call,
        };
        self.gate_direct(live, Request { call, terms: Terms::default() }).await
    }

    /// The same arguments again, with the approval: the open call goes on in its own run.
    async fn call_again(&self, direct: DirectCall, approval_id: &ApprovalId) -> Result<DirectAnswer, RunError> {
        let stored = self.gate.journal().approval(approval_id).await?;
        let approval = stored.ok_or_else(|| RunError::NoSuchApproval(approval_id.clone()))?;
        let live = match self.open(&approval.run_id).await {
            Ok(live) => live,
            // The same call is on its way, for another caller: this one may ask again later.
            Err(RunError::Busy(_)) => return Ok(self.answer(&direct, approval, Code::InProgress, "another caller's")),
            Err(error) => return Err(error),
        };
        if live.state.start().kind != RunKind::Direct {
            return Err(RunError::WrongKind {
                run: approval.run_id,
                what: "is an agent's: its calls go on with `lockgate runs resume`",
            });
        }
        if let Some(difference) = self.difference(&direct, &approval) {
            let why = format!("the approval is bound to {difference}");
            return Ok(self.answer(&direct, approval, Code::ApprovalStale, &why));
        }
        if let Some(answer) = stored_answer(&live.state) {
            return Ok(answer);
        }
        let started = live.state.calls().any(|call| call.attempts > 0);
        let refused_as = live.state.calls().find_map(|call| call.approval.as_ref()?.refused_as);
        let call = ToolCall {
            call_id: approval.call_id,
            step: approval.step,
            parent: None,
            provider_call_id: String::new(),
            tool_name: direct.tool_name,
            arguments_text: direct.arguments_text,
            language: ActionLanguage::Call,
        };
        let terms = Terms { requested_before: true, approval: Some(approval_id.clone()), ..Terms::default() };
        let request = Request { call, terms };
        if started {
            let why = "its caller died after the effect was started, and the result was lost";
            return self.settle_direct(live, request, Code::OutcomeUnknown, true, why).await;
        }
        match refused_as {
            // A person's no stands, also where the policy would not ask any more.
            Some(code) => self.settle_direct(live, request, code, false, SAID_NO).await,
            None => self.gate_direct(live, request).await,
        }
    }

    /// What of a call is not what the approval is bound to.
    fn difference(&self, direct: &DirectCall, approval: &Approval) -> Option<&'static str> {
        let limits = Limits { max_bytes: self.gate.options().max_argument_bytes, ..Limits::ARGUMENTS };
        let same_arguments = || {
            Arguments::parse(&direct.arguments_text, limits)
                .is_ok_and(|arguments| arguments.digest() == approval.arguments_digest)
        };
        if Binding::subject(&direct.subject) != [&approval.tenant, &approval.user, &approval.agent] {
            Some("another subject")
        } else if direct.tool_name != approval.tool_name {
            Some("another tool")
        } else if same_arguments() {
            None
        } else {
            Some("other arguments")
        }
    }

    /// A direct run whose caller died: what is open of it is settled, and the run ends.
    pub(crate) async fn take_up_direct(&self, mut live: Live) -> Result<RunState, RunError> {
        let open = live.state.calls().find(|call| call.is_open()).cloned();
        match open {
            Some(call) if call.attempts == 0 && call.approval.is_some() => {
                let approvals = call.approval.into_iter().map(|open| open.approval_id).collect();
                live.append(Body::RunWaiting(RunWaiting { approvals })).await?;
            }
            Some(call) => {
                let (code, started) =
                    if call.attempts > 0 { (Code::OutcomeUnknown, true) } else { (Code::Cancelled, false) };
                let terms =
                    Terms { requested_before: call.requested, attempt: call.attempts.max(1), ..Terms::default() };
                let request = Request { call: call.tool_call(), terms };
                self.settle_one(&mut live, request, code, started, "its caller died").await?;
                end_settled(&mut live).await?;
            }
            None => end_settled(&mut live).await?,
        }
        Ok(live.state)
    }

    /// An answer that settles nothing. The gate does not see this call: whatever it came to there would be the result of
    /// the open call, which is not this caller's business.
    fn answer(&self, direct: &DirectCall, approval: Approval, code: Code, why: &str) -> DirectAnswer {
        let row = code.row();
        let audit = Audit {
            text: Some(format!("approval `{}`: {why}", approval.approval_id)),
            approval_id: Some(approval.approval_id.clone()),
            ..Audit::default()
        };
        let result = ToolResult {
            call_id: approval.call_id,
            tool_name: self.gate.scrub(&direct.tool_name).into_owned(),
            tool_version: (direct.tool_name == approval.tool_name).then(|| approval.tool_version.clone()),
            ok: false,
            data: None,
            error: Some(ToolError {
                code: row.code.into(),
                reason: None,
                message: row.model_text.to_owned(),
                retryable: row.retry.advises(EffectState::None),
            }),
            meta: Meta { approval_id: Some(approval.approval_id), ..Meta::default() },
        };
        DirectAnswer {
            run_id: approval.run_id,
            result,
            status: None,
            effect_state: EffectState::None,
            audit,
            times: None,
        }
    }

    async fn gate_direct(&self, mut live: Live, request: Request) -> Result<DirectAnswer, RunError> {
        let run_id = live.log.run_id().clone();
        reopen(&mut live).await?;
        let released = self.gate.call(request.clone(), &live.scope).await;
        live.absorb()?;
        match released {
            Released::Settled(settlement) => {
                let settled = settlement.settled();
                end(&mut live, settlement.result(), settled.effect_state).await;
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
                live.append(Body::RunWaiting(RunWaiting { approvals: vec![open.approval_id().clone()] })).await?;
                Ok(DirectAnswer {
                    run_id,
                    result: open.result().clone(),
                    status: None,
                    effect_state: EffectState::None,
                    audit: open.audit().clone(),
                    times: Some(open.times().clone()),
                })
            }
            Released::Held | Released::Cancelled { started: false } => {
                self.settle_direct(live, request, Code::Cancelled, false, CANCELLED).await
            }
            Released::Cancelled { started: true } => {
                self.settle_direct(live, request, Code::Interrupted, true, CANCELLED).await
            }
        }
    }

    /// Settles a call without the stages, and ends its run.
    async fn settle_direct(
        &self,
        mut live: Live,
        request: Request,
        code: Code,
        started: bool,
        why: &str,
    ) -> Result<DirectAnswer, RunError> {
        reopen(&mut live).await?;
        self.settle_one(&mut live, request, code, started, why).await?;
        let answer = settled_answer(&live.state)
            .ok_or_else(|| JournalError::Corrupt("a settled call has no result".to_owned()))?;
        end(&mut live, &answer.result, answer.effect_state).await;
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

/// Ends the run of a settled call. The call has its result, whatever becomes of the run's own last event.
async fn end(live: &mut Live, result: &ToolResult, effect_state: EffectState) {
    // A result that could not be stored ends nothing.
    if settled_answer(&live.state).is_none() {
        return;
    }
    let is = |code| result.code().is_some_and(|outcome| outcome.is(code));
    let body = if effect_state == EffectState::Unknown {
        Body::RunNeedsReconciliation(RunNeedsReconciliation { calls: vec![result.call_id.clone()] })
    } else if is(Code::Cancelled) || is(Code::Interrupted) {
        Body::RunCancelled(RunCancelled {})
    } else {
        Body::RunCompleted(RunCompleted { reason: Completion::CallSettled, answer: None, completed_by: None })
    };
    if let Err(error) = live.append(body).await {
        tracing::warn!(run_id = %live.log.run_id(), %error, "the end of a direct run could not be recorded");
    }
}

/// Ends a run by the result that its call has.
async fn end_settled(live: &mut Live) -> Result<(), RunError> {
    match settled_answer(&live.state) {
        Some(answer) => end(live, &answer.result, answer.effect_state).await,
        // Its caller died before anything was asked for.
        None => live.append(Body::RunCancelled(RunCancelled {})).await?,
    }
    Ok(())
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
