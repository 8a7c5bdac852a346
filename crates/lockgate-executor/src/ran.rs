//! ran: the handler was entered, and answered. The only place in Lockgate where a handler runs (architecture rule 1).

use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use lockgate_contract::effect::{EffectState, ErrorText};
use lockgate_contract::outcome::{Code, Outcome};
use lockgate_contract::ports::{ActionReport, ArtifactStore};
use lockgate_contract::tool::{Failure, Output, Prepared, ToolContext};

use crate::exit::{Exit, Refusal};
use crate::gate::Dispatch;
use crate::recorded::Recorded;
use crate::trail::{Stage, Trail, panic_text};

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
        let timeout = self.timeout();
        let context = self.context(timeout);
        let prepared = self.authorized_mut().validated_mut().take_prepared();
        trail.started = true;
        let cancel = self.scope().cancel.clone();
        let answer = tokio::select! {
            // In this order: an answer that is there counts, whatever else happened meanwhile.
            biased;
            answer = self.act(prepared, context) => answer,
            () = cancel.cancelled() => return Err(Exit::Cancelled { started: true }),
            () = tokio::time::sleep(timeout) => {
                let audit = format!("no answer within {} ms", timeout.as_millis());
                return Err(Refusal::new(Code::TimedOut, audit).into());
            }
        };
        trail.passed(Stage::Ran);
        match answer {
            Ok(report) => Ok(Ran {
                recorded: self,
                output: report.output,
                env_reported_completion: report.env_reported_completion,
            }),
            Err(failure) => Err(self.failed(failure).into()),
        }
    }

    /// Performs the action.
    async fn act(&self, prepared: Option<Prepared>, context: ToolContext) -> Result<ActionReport, Failure> {
        let handler = match (&self.gate().dispatch, self.tool().spec().handler(), prepared) {
            (Dispatch::Own(executor), ..) => {
                let action = async { executor.execute(self.call(), self.arguments(), context).await };
                return AssertUnwindSafe(action).catch_unwind().await.unwrap_or_else(|panic| Err(bug(&*panic)));
            }
            (Dispatch::Registry(_), Some(handler), Some(prepared)) => (handler, prepared),
            // INVARIANT: an executor over a registry is only built when every tool has a handler.
            (Dispatch::Registry(_), ..) => return Err(Failure::bug("the tool has no handler")),
        };
        let (handler, prepared) = handler;
        let output = if handler.may_block() {
            run_blocking(prepared, context).await
        } else {
            let action = async { enter(prepared, context).await };
            AssertUnwindSafe(action).catch_unwind().await.unwrap_or_else(|panic| Err(bug(&*panic)))
        }?;
        // A registry has no environment to ask.
        Ok(ActionReport { output, env_reported_completion: false })
    }

    /// The tool's own time-out, or the gate's; never beyond the run's deadline.
    fn timeout(&self) -> Duration {
        let own = self.tool().spec().timeout().unwrap_or(self.gate().options.call_timeout);
        match self.scope().deadline {
            Some(deadline) => own.min(deadline.since(self.gate().clock.now())),
            None => own,
        }
    }

    fn context(&self, timeout: Duration) -> ToolContext {
        let scope = self.scope();
        let deadline = self.gate().clock.now().after(timeout);
        let artifacts: Arc<dyn ArtifactStore> = Arc::<crate::RunLog>::clone(&scope.log);
        ToolContext::new(scope.cancel.clone(), deadline, self.idempotency_key().into())
            .with_progress(scope.progress.clone())
            .with_artifacts(Some(artifacts))
    }

    /// The outcome of a failure: the tool's own, the environment's, or a bug of the tool.
    fn failed(&self, failure: Failure) -> Refusal {
        match failure {
            Failure::Business { code, message, retryable, effect_state } => {
                Refusal::new(Outcome::Tool(code), format!("the tool reports: {message}"))
                    .sentence(shortened(&message))
                    .retryable(retryable)
                    .effect_state(effect_state)
            }
            Failure::Environment { message, nothing_happened } => {
                let refusal = Refusal::new(Code::EnvironmentError, message);
                if nothing_happened { refusal.effect_state(EffectState::None) } else { refusal }
            }
            Failure::OutcomeUnknown { message } => Refusal::new(Code::OutcomeUnknown, message),
            Failure::Bug { text } => {
                let refusal = Refusal::new(Code::ToolInternalError, &*text);
                match self.tool().spec().error_text() {
                    ErrorText::Hidden => refusal,
                    ErrorText::Vouched => refusal.sentence(shortened(&without_paths(&text))),
                }
            }
        }
    }
}

/// Enters a handler.
#[expect(clippy::disallowed_methods, reason = "the one place where a handler runs")]
async fn enter(prepared: Prepared, context: ToolContext) -> Result<Output, Failure> {
    prepared.run(context).await
}

/// Enters a handler that may block its thread, where that harms nobody. A time-out leaves it behind; it sees the cancel
/// token and its deadline.
async fn run_blocking(prepared: Prepared, context: ToolContext) -> Result<Output, Failure> {
    let runtime = tokio::runtime::Handle::current();
    match tokio::task::spawn_blocking(move || runtime.block_on(enter(prepared, context))).await {
        Ok(answer) => answer,
        Err(error) => Err(match error.try_into_panic() {
            Ok(panic) => bug(&*panic),
            Err(error) => Failure::bug(error.to_string()),
        }),
    }
}

fn bug(panic: &(dyn std::any::Any + Send)) -> Failure {
    Failure::bug(format!("the handler panicked: {}", panic_text(panic)))
}

/// A tool's own sentence, cut to what a model needs.
fn shortened(message: &str) -> String {
    const LONGEST: usize = 2000;
    match message.char_indices().nth(LONGEST) {
        None => message.to_owned(),
        Some((end, _)) => format!("{}…", &message[..end]),
    }
}

/// The text with every path of a machine taken out: words that hold a slash or backslash after a path's beginning.
fn without_paths(text: &str) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|word| if looks_like_path(word) { format!("[path]{}", trailing_space(word)) } else { word.to_owned() })
        .collect()
}

fn looks_like_path(word: &str) -> bool {
    let inner = word.trim_matches(|character: char| !character.is_alphanumeric() && !"/\\~.".contains(character));
    let drive = inner.as_bytes().get(1) == Some(&b':') && inner.starts_with(|c: char| c.is_ascii_alphabetic());
    inner.starts_with(['/', '\\', '~'])
        || inner.starts_with("./")
        || inner.starts_with("../")
        || drive
        || inner.contains("/") && inner.matches('/').count() > 1 && !inner.contains("://")
        || inner.starts_with("file:")
}

fn trailing_space(word: &str) -> &str {
    &word[word.trim_end().len()..]
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
