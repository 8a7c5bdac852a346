//! What people find out about calls with unknown effects.

use std::sync::Arc;

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Audit, Body, CallReconciled, Finding, NewEvent, Settled};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::result::Meta;
use lockgate_contract::run::RunKind;
use lockgate_executor::{Request, Terms};

use crate::driver::Runner;
use crate::error::RunError;
use crate::state::RunState;
use crate::turn::Call;

/// What somebody found out about a call.
#[derive(Debug, Clone)]
pub struct Reconciliation {
    /// The call.
    pub call_id: CallId,
    /// What became of it.
    pub finding: Finding,
    /// Who says so.
    pub by: String,
    /// Why, for people.
    pub reason: Option<String>,
}

impl Runner {
    /// Writes down what became of a call whose effect was unknown. It runs nothing: once no call of the run is unknown any
    /// more, [`Runner::resume`] goes on with it. A call that did not happen is open again, and needs a new approval where
    /// one is asked for; one that came without a model is not sent again, and ends as `cancelled`.
    pub async fn reconcile(&self, run_id: &RunId, found: Reconciliation) -> Result<RunState, RunError> {
        let mut live = self.open(run_id).await?;
        let call = live.call(&found.call_id).filter(|call| call.has_unknown_effect()).cloned();
        let call = call.ok_or_else(|| RunError::NothingUnknown(found.call_id.clone()))?;
        let by = self.gate.scrub(&found.by).into_owned();
        let settled = call.settled.as_ref().filter(|_| found.finding == Finding::Done).map(|lost| done(lost, &by));
        let body = CallReconciled {
            finding: found.finding,
            by,
            reason: found.reason.map(|reason| self.gate.scrub(&reason).into_owned()),
            settled: settled.map(Arc::new),
        };
        let event = NewEvent::new(call.step, Some(call.call_id.clone()), Body::CallReconciled(body));
        live.log.reconcile(&call.call_id, vec![event]).await?;
        live.absorb()?;
        if live.state.start().kind == RunKind::Direct && live.call(&call.call_id).is_some_and(Call::is_open) {
            let terms = Terms { requested_before: true, attempt: call.attempts, ..Terms::default() };
            let request = Request { call: call.tool_call(), terms };
            let why = "it did not happen, and its caller does not wait for it any more";
            // The run has stopped: whoever takes it up ends it.
            live.scope.then = None;
            self.settle_one(&mut live, request, Code::Cancelled, false, why).await?;
        }
        Ok(live.state)
    }
}

/// The result of a call that took effect, and whose output nobody has.
fn done(lost: &Settled, by: &str) -> Settled {
    Settled {
        tool_name: lost.tool_name.clone(),
        tool_version: lost.tool_version.clone(),
        ok: true,
        code: None,
        reason: None,
        status: Status::Executed,
        effect_state: EffectState::Done,
        data: None,
        message: None,
        details: None,
        retryable: false,
        meta: Meta { reconciled_by: Some(by.to_owned()), ..Meta::default() },
        env_reported_completion: false,
        audit: Audit { text: Some("it took effect; its output was lost".to_owned()), ..lost.audit.clone() },
    }
}
