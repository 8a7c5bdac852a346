//! reconciled: what became of an attempt without whose result the call went on: the tool itself can find out, or its handler
//! answers late.
//!
//! Not a stage: no handler runs here. The tool is asked a question that changes nothing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use lockgate_contract::event::{Body, CallReconciled, Finding, NewEvent};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::outcome::Code;
use lockgate_contract::tool::{Failure, Output, Reconciled, ToolContext};

use crate::checked::Checked;
use crate::exit::{Exit, Refusal};
use crate::gate::Gate;
use crate::proposed::propose;
use crate::ran::failed;
use crate::released::{Released, release};
use crate::resolved::Resolved;
use crate::scope::{Request, Scope};
use crate::trail::{Origin, Trail, panic_text};

/// Who found out, in `call.reconciled` and in a result's `meta`.
pub(crate) const BY_TOOL: &str = "tool";

/// What a tool answers, once it is looked at.
enum Answer {
    Done(Checked),
    NotDone,
}

/// What a tool says that such an attempt came to. Made here only.
pub(crate) struct Found<'g> {
    resolved: Resolved<'g>,
    output: Output,
}

impl<'g> Found<'g> {
    pub(crate) fn into_parts(self) -> (Resolved<'g>, Output) {
        (self.resolved, self.output)
    }
}

impl Gate {
    /// Asks the tool what became of a started attempt whose result was lost; the terms name that attempt. Its answer settles
    /// the call, or opens it again. Whatever else comes of it, the outcome stays unknown: nothing is guessed.
    pub async fn reconcile(&self, request: Request, scope: &Scope) -> Released {
        let mut trail = Trail::begin(self, scope, &request);
        trail.started = true;
        match self.find_out(&request, scope, &mut trail).await {
            Ok(Answer::NotDone) => match self.reopen(&request, scope).await {
                Ok(()) => {
                    trail.finish();
                    Released::Reopened
                }
                Err(error) => release(trail, Err(unknown(&format!("that it was not done: {error}"))), false).await,
            },
            Ok(Answer::Done(checked)) => {
                trail.origin = Origin::Question;
                release(trail, Ok(checked), false).await
            }
            Err(why) => release(trail, Err(unknown(&why)), false).await,
        }
    }

    async fn reopen(&self, request: &Request, scope: &Scope) -> Result<(), lockgate_contract::ports::JournalError> {
        let call_id = &request.call.call_id;
        let found = CallReconciled {
            finding: Finding::NotDone,
            by: BY_TOOL.to_owned(),
            reason: Some("the tool says that the lost attempt did not take effect".to_owned()),
            settled: None,
        };
        let event = NewEvent::new(request.call.step, Some(call_id.clone()), Body::CallReconciled(found));
        scope.log.reconcile(call_id, vec![event]).await
    }

    /// Puts the question. The error says, for people, why there is no answer.
    async fn find_out<'g>(
        &'g self,
        request: &'g Request,
        scope: &'g Scope,
        trail: &mut Trail<'g>,
    ) -> Result<Answer, String> {
        let no_answer = |exit: Exit| match exit {
            Exit::Refused(refusal) => format!("the tool cannot be asked: {}", refusal.audit),
            _ => "the tool cannot be asked".to_owned(),
        };
        let proposed = propose(request, self, scope, trail).map_err(no_answer)?;
        let resolved = proposed.resolve(trail).map_err(no_answer)?;
        let ask = resolved.tool().spec().reconcile().ok_or("the tool cannot be asked what became of a call")?;
        let timeout = resolved.timeout();
        // The question's own token: no answer can stop the run by it.
        let stop = scope.cancel.child_token();
        let guard = stop.clone().drop_guard();
        let context = ToolContext::new(stop, self.clock.now().after(timeout), request.idempotency_key(scope))
            .with_artifacts(Some(Arc::<crate::RunLog>::clone(&scope.log)));
        let question = AssertUnwindSafe(async { ask(resolved.arguments().clone(), context).await }).catch_unwind();
        reach(Point::ReconcileBefore);
        let answer = tokio::select! {
            biased;
            answer = question => answer,
            () = scope.cancel.cancelled() => return Err("the run was cancelled while the tool was asked".to_owned()),
            () = tokio::time::sleep(timeout) => {
                return Err(format!("the tool gave no answer within {} ms", timeout.as_millis()));
            }
        };
        reach(Point::ReconcileAfter);
        guard.disarm();
        match answer {
            Ok(Ok(Reconciled::Done(output))) => match (Found { resolved, output }).check() {
                Ok(checked) => Ok(Answer::Done(checked)),
                Err(refusal) => Err(format!("the tool's answer has a wrong form: {}", refusal.audit)),
            },
            Ok(Ok(Reconciled::NotDone)) => Ok(Answer::NotDone),
            Ok(Ok(Reconciled::Unsure)) => Err("the tool cannot tell".to_owned()),
            Ok(Err(failure)) => Err(format!("the question failed: {}", failure.text())),
            Err(panic) => Err(format!("the question panicked: {}", panic_text(panic))),
        }
    }
}

/// Keeps what a handler answered when nobody waited for it any more, looked at and scrubbed as any answer.
pub(crate) async fn answered_late(gate: &Gate, scope: &Scope, mut request: Request, answer: Result<Output, Failure>) {
    request.terms.requested_before = true;
    let mut trail = Trail::begin(gate, scope, &request);
    (trail.started, trail.origin) = (true, Origin::LateHandler);
    let resolved = propose(&request, gate, scope, &mut trail).and_then(|proposed| proposed.resolve(&mut trail));
    let Ok(resolved) = resolved else {
        // The tool was taken away meanwhile: nothing says any more what its answer may look like.
        tracing::warn!(call_id = %request.call.call_id, "a late answer is of a tool that is gone");
        return trail.finish();
    };
    let ending = match answer {
        Ok(output) => Found { resolved, output }.check().map_err(Exit::from),
        Err(failure) => Err(failed(gate, resolved.tool(), failure).into()),
    };
    release(trail, ending, false).await;
}

fn unknown(why: &str) -> Exit {
    Refusal::new(Code::OutcomeUnknown, format!("its result was lost, and {why}")).into()
}
