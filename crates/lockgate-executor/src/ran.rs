//! ran: the handler was entered, and answered. The only place in Lockgate where a handler runs (architecture rule 1).

use std::any::Any;
use std::future::Future;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use lockgate_contract::effect::{EffectState, ErrorText};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::outcome::{Code, Outcome};
use lockgate_contract::ports::{ActionReport, ArtifactStore, BoxFuture, Caller};
use lockgate_contract::run::Limit;
use lockgate_contract::tool::{Failure, Output, Prepared, Progress, ToolContext, ToolEnvironmentError};
use lockgate_registry::RegisteredTool;
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::caller::ScrubbedCaller;
use crate::exit::{Exit, Refusal};
use crate::gate::{Dispatch, Gate};
use crate::reconciled::answered_late;
use crate::recorded::Recorded;
use crate::trail::{Stage, Trail, panic_text};
use crate::vouched::without_paths;

/// A call with its handler's answer.
pub(crate) struct Ran<'g> {
    recorded: Recorded<'g>,
    output: Output,
    env_reported_completion: bool,
}

impl<'g> Recorded<'g> {
    /// Hands the handler its arguments, and nothing else. Panics are caught; a time-out and a cancel end the wait. Nothing
    /// is ever run a second time.
    pub(crate) async fn run(mut self, trail: &mut Trail<'g>) -> Result<Ran<'g>, Exit> {
        let cancel = &self.scope().cancel;
        if cancel.is_cancelled() {
            return Err(Exit::Cancelled { started: false });
        }
        let timeout = self.timeout();
        if self.scope().deadline.is_some_and(|deadline| self.gate().clock.now() >= deadline) {
            // The run's time ran out while the intent was written.
            let audit = "the run's time was up before the handler was entered";
            return Err(Refusal::new(Code::LimitReached, audit).reason(Limit::Deadline.word()).into());
        }
        // The call's own token: no handler can stop the run by it, and what a handler left running sees that nobody waits.
        let stop = cancel.child_token();
        let guard = stop.clone().drop_guard();
        let context = self.context(timeout, stop);
        let prepared = self.authorized_mut().validated_mut().take_prepared();
        trail.started = true;
        if let Some(listener) = self.progress() {
            listener(&format!("{} runs", self.tool().spec().name()));
        }
        reach(Point::HandlerBefore);
        let answer = tokio::select! {
            // In this order: an answer that is there counts, whatever else happened meanwhile.
            biased;
            answer = self.act(prepared, context) => answer,
            () = cancel.cancelled() => return Err(Exit::Cancelled { started: true }),
            // Made when it is first waited for: an answer that is there at once needs no timer.
            () = async { tokio::time::sleep(timeout).await } => {
                let audit = format!("no answer within {} ms", timeout.as_millis());
                return Err(Refusal::new(Code::TimedOut, audit).into());
            }
        };
        reach(Point::HandlerAfter);
        guard.disarm();
        trail.passed(Stage::Ran);
        match answer {
            Ok(report) => Ok(Ran {
                recorded: self,
                output: report.output,
                env_reported_completion: report.env_reported_completion,
            }),
            Err(failure) => Err(failed(self.gate(), self.tool(), failure).into()),
        }
    }

    /// Performs the action.
    async fn act(&self, prepared: Option<Prepared>, context: ToolContext) -> Result<ActionReport, Failure> {
        let handler = match (&self.gate().dispatch, self.tool().spec().handler(), prepared) {
            (Dispatch::Own(executor), ..) => {
                let action = async { Contained(Some(executor.execute(self.call(), self.arguments(), context))).await };
                return AssertUnwindSafe(action).catch_unwind().await.unwrap_or_else(|panic| Err(bug(panic)));
            }
            (Dispatch::Registry(_), Some(handler), Some(prepared)) => (handler, prepared),
            // INVARIANT: an executor over a registry is only built when every tool has a handler.
            (Dispatch::Registry(_), ..) => return Err(Failure::bug("the tool has no handler")),
        };
        let (handler, prepared) = handler;
        let output = if handler.may_block() {
            self.run_blocking(prepared, context).await
        } else {
            let action = async { enter(prepared, context).await };
            AssertUnwindSafe(action).catch_unwind().await.unwrap_or_else(|panic| Err(bug(panic)))
        }?;
        // A registry has no environment to ask.
        Ok(ActionReport { output, env_reported_completion: false })
    }

    /// Enters a handler that may block its thread, where that harms nobody. A time-out leaves it behind; it sees the cancel
    /// token and its deadline, and what it still answers is kept.
    async fn run_blocking(&self, prepared: Prepared, context: ToolContext) -> Result<Output, Failure> {
        let runtime = Handle::current();
        let entered = runtime.clone();
        let action = move || {
            if context.cancel.is_cancelled() {
                // It waited for a thread until nobody waited for it any more: the call is settled, and nothing may start.
                return Err(ToolEnvironmentError::new("no thread was free in time").nothing_happened().into());
            }
            entered.block_on(enter(prepared, context))
        };
        Waiting { thread: Some(tokio::task::spawn_blocking(action)), call: self, runtime }.answer().await
    }

    fn context(&self, timeout: Duration, stop: CancellationToken) -> ToolContext {
        let scope = self.scope();
        let deadline = self.gate().clock.now().after(timeout);
        let artifacts: Arc<dyn ArtifactStore> = Arc::<crate::RunLog>::clone(&scope.log);
        ToolContext::new(stop, deadline, self.idempotency_key().clone())
            .with_progress(self.progress())
            .with_artifacts(Some(artifacts))
            .with_caller(self.caller())
    }

    /// The way back to whoever sent the call, behind the redactor.
    fn caller(&self) -> Option<Arc<dyn Caller>> {
        let (caller, redactor) = (self.scope().caller.clone()?, Arc::clone(&self.gate().redactor));
        Some(Arc::new(ScrubbedCaller::new(caller, redactor)))
    }

    /// The run's listener for progress, behind the redactor: these words leave too.
    fn progress(&self) -> Option<Progress> {
        let (listener, redactor) = (self.scope().progress.clone()?, Arc::clone(&self.gate().redactor));
        Some(Arc::new(move |words| listener(&redactor.scrub(words))))
    }
}

/// The outcome of a failure: the tool's own, the environment's, or a bug of the tool.
pub(crate) fn failed(gate: &Gate, tool: &RegisteredTool, failure: Failure) -> Refusal {
    match failure {
        Failure::Business { code, message, retryable, effect_state, details } => {
            Refusal::new(Outcome::Tool(code), format!("the tool reports: {message}"))
                .sentence(message)
                .retryable(retryable)
                .effect_state(effect_state)
                .details(details)
        }
        Failure::Environment { message, nothing_happened } => {
            let refusal = Refusal::new(Code::EnvironmentError, message);
            if nothing_happened { refusal.effect_state(EffectState::None) } else { refusal }
        }
        Failure::OutcomeUnknown { message } => Refusal::new(Code::OutcomeUnknown, message),
        Failure::Bug { text } => {
            let refusal = Refusal::new(Code::ToolInternalError, &*text);
            match tool.spec().error_text() {
                ErrorText::Hidden => refusal,
                // Secrets first: one that holds a slash is not recognised once half of it is gone.
                ErrorText::Vouched => refusal.sentence(without_paths(&gate.scrub(&text))),
            }
        }
    }
}

/// Enters a handler.
#[expect(clippy::disallowed_methods, reason = "the one place where a handler runs")]
async fn enter(prepared: Prepared, context: ToolContext) -> Result<Output, Failure> {
    Contained(Some(prepared.run(context))).await
}

/// A thread that somebody waits for. Where nobody does any more, its answer is late, and belongs to the attempt.
struct Waiting<'a, 'g> {
    thread: Option<JoinHandle<Result<Output, Failure>>>,
    call: &'a Recorded<'g>,
    runtime: Handle,
}

impl Waiting<'_, '_> {
    async fn answer(mut self) -> Result<Output, Failure> {
        let Some(thread) = &mut self.thread else { return std::future::pending().await };
        let answer = answer_of(thread.await);
        self.thread = None;
        answer
    }
}

impl Drop for Waiting<'_, '_> {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let (gate, scope, request) = (self.call.gate().clone(), self.call.scope().clone(), self.call.request().clone());
        self.runtime.spawn(async move { answered_late(&gate, &scope, request, answer_of(thread.await)).await });
    }
}

fn answer_of(ended: Result<Result<Output, Failure>, JoinError>) -> Result<Output, Failure> {
    match ended {
        Ok(answer) => answer,
        Err(error) => Err(match error.try_into_panic() {
            Ok(panic) => bug(panic),
            Err(error) => Failure::bug(error.to_string()),
        }),
    }
}

fn bug(panic: Box<dyn Any + Send>) -> Failure {
    Failure::bug(format!("the handler panicked: {}", panic_text(panic)))
}

/// An action whose destructor may panic: nobody waits for it by then, and the call has another ending.
struct Contained<'a, T>(Option<BoxFuture<'a, T>>);

impl<T> Future for Contained<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Contained<'_, T> {
    fn drop(&mut self) {
        let future = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            // Its text may hold a secret, and nobody is left to take it out.
            let _ = panic_text(panic);
            tracing::error!("a handler panicked while it was dropped");
        }
    }
}

impl<'g> Ran<'g> {
    pub(crate) fn into_parts(self) -> (Recorded<'g>, Output, bool) {
        (self.recorded, self.output, self.env_reported_completion)
    }
}

impl<'g> Deref for Ran<'g> {
    type Target = Recorded<'g>;

    fn deref(&self) -> &Recorded<'g> {
        &self.recorded
    }
}
