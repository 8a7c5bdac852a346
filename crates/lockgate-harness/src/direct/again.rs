//! Direct calls that are taken up again: by their caller, with the approval, or by recovery.

use lockgate_contract::approval::{Approval, Binding};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Audit, Body, RunCancelled, RunWaiting};
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::outcome::Code;
use lockgate_contract::result::{Meta, ToolError, ToolResult};
use lockgate_contract::run::RunKind;
use lockgate_executor::{Released, Request, Terms};

use super::{DirectAnswer, DirectCall, end, reopen, settled_answer, stored_answer, tool_call};
use crate::driver::Runner;
use crate::error::RunError;
use crate::live::Live;
use crate::plan::{Recovery, SAID_NO};
use crate::state::RunState;
use crate::turn::Call;

impl Runner {
    /// The same arguments again, with the approval: the open call goes on in its own run.
    pub(super) async fn call_again(
        &self,
        direct: DirectCall,
        approval_id: &ApprovalId,
    ) -> Result<DirectAnswer, RunError> {
        let stored = self.gate.journal().approval(approval_id).await?;
        let approval = stored.ok_or_else(|| RunError::NoSuchApproval(approval_id.clone()))?;
        let before = self.state(&approval.run_id).await?;
        if before.start().kind != RunKind::Direct {
            return Err(RunError::WrongKind {
                run: approval.run_id,
                what: "is an agent's: its calls go on with `lockgate runs resume`",
            });
        }
        if let Some(difference) = self.difference(&direct, &approval) {
            let why = format!("the approval is bound to {difference}");
            return Ok(self.answer(&direct, approval, Code::ApprovalStale, &why));
        }
        if let Some(answer) = stored_answer(&before) {
            return Ok(answer);
        }
        let mut live = match self.open(&approval.run_id).await {
            Ok(live) => live,
            // The same call is on its way, for another caller: this one may ask again later.
            Err(RunError::Busy(_)) => return Ok(self.answer(&direct, approval, Code::InProgress, "another caller's")),
            Err(error) => return Err(error),
        };
        if let Some(answer) = stored_answer(&live.state) {
            return Ok(answer);
        }
        let known = live.call(&approval.call_id).cloned();
        if let Some(open) = known.as_ref().and_then(Call::question)
            && open.approval_id != *approval_id
        {
            let why = format!("`{}` stands in its place, about other arguments", open.approval_id);
            return Ok(self.answer(&direct, approval, Code::ApprovalStale, &why));
        }
        if let Some(known) = known.as_ref().filter(|known| known.is_lost()) {
            return self.recover(&mut live, known).await;
        }
        let call = tool_call(approval.call_id, approval.step, direct.tool_name, direct.arguments_text);
        let terms = Terms {
            requested_before: true,
            run: live.state.facts(&call.call_id),
            approval: Some(approval_id.clone()),
            attempt: known.as_ref().map_or(0, |known| known.attempts).saturating_add(1),
            unknown_before: known.as_ref().is_some_and(|known| known.unknown_before),
            idempotency_key: known.as_ref().and_then(|known| known.idempotency_key.clone()),
            caller_key: direct.idempotency_key,
            said: known.as_ref().and_then(|known| known.question()?.reason.clone()),
            edited: known.as_ref().is_some_and(|known| known.edited.is_some()),
            ..Terms::default()
        };
        let request = Request { call, terms };
        match known.and_then(|known| known.question()?.refused_as) {
            // A person's no stands, also where the policy would not ask any more.
            Some(code) => self.settle_direct(&mut live, request, code, false, SAID_NO).await,
            None => self.gate_direct(&mut live, request).await,
        }
    }

    /// The same key again, after whoever sent it first died: what is open of that call is recovered before anybody waits for
    /// its result.
    pub(super) async fn recover_holder(&self, tenant: &str, key: &str) -> Result<(), RunError> {
        let Some(holder) = self.gate.journal().key_holder(tenant, key).await? else { return Ok(()) };
        let state = self.state(&holder.run_id).await?;
        if state.start().kind != RunKind::Direct || state.stop().is_some() {
            return Ok(());
        }
        match self.open(&holder.run_id).await {
            Ok(live) => self.take_up_direct(live).await.map(drop),
            // It is on its way.
            Err(RunError::Busy(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A direct run whose caller died: what is open of it is recovered, and the run ends.
    pub(crate) async fn take_up_direct(&self, mut live: Live) -> Result<RunState, RunError> {
        reopen(&mut live).await?;
        let open = live.state.calls().find(|call| call.is_open()).cloned();
        match open {
            Some(call) if call.is_lost() => {
                self.recover(&mut live, &call).await?;
            }
            Some(Call { approval: Some(asked), .. }) if !asked.used => {
                live.end(Body::RunWaiting(RunWaiting { approvals: vec![asked.approval_id] })).await?;
            }
            Some(call) => {
                let request = again(&call);
                self.settle_direct(&mut live, request, Code::Cancelled, false, "its caller died").await?;
            }
            None => match settled_answer(&live.state) {
                Some(_) => end(&mut live).await,
                // Its caller died before anything was asked for.
                None => live.end(Body::RunCancelled(RunCancelled {})).await?,
            },
        }
        Ok(live.state)
    }

    /// A call whose result was lost: what the crash matrix says about it.
    async fn recover(&self, live: &mut Live, lost: &Call) -> Result<DirectAnswer, RunError> {
        let mut request = again(lost);
        request.terms.unknown_before = true;
        match live.state.recovery(lost, self.gate.clock().now()) {
            Recovery::RunAgain => {
                request.terms.run = live.state.facts(&lost.call_id);
                return self.gate_direct(live, request).await;
            }
            Recovery::Ask => {
                reopen(live).await?;
                let mut question = request.clone();
                question.terms.attempt = lost.attempts;
                let released = self.gate.reconcile(question, &live.scope).await;
                live.absorb()?;
                if matches!(released, Released::Reopened) {
                    request.terms.unknown_before = false;
                    return self.gate_direct(live, request).await;
                }
            }
            Recovery::Unknown => {}
        }
        if let Some(answer) = settled_answer(&live.state) {
            end(live).await;
            return Ok(answer);
        }
        request.terms.attempt = lost.attempts;
        let why = "its caller died after the effect was started, and the result was lost";
        self.settle_direct(live, request, Code::OutcomeUnknown, true, why).await
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
                details: None,
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
}

/// The next attempt of a call, with its arguments as the journal has them.
fn again(call: &Call) -> Request {
    let terms = Terms {
        requested_before: call.requested,
        attempt: call.attempts.saturating_add(1),
        idempotency_key: call.idempotency_key.clone(),
        unknown_before: call.unknown_before,
        edited: call.edited.is_some(),
        ..Terms::default()
    };
    Request { call: call.tool_call(), terms }
}
