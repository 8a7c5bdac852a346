//! Calls that a server answers with a task (extension `io.modelcontextprotocol/tasks`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::{Document, Node};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::envelope::Envelope;
use super::exchange::Exchange;
use super::questions::answers;
use super::{ClientError, Outgoing, Patience};
use crate::wire::{Edit, RpcError};

/// How often a task is asked after, whatever the server says.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_mins(1);
/// How often where it says nothing.
const USUAL: Duration = Duration::from_secs(1);
/// How long a task's end is asked for that nobody waits for any more.
const LAST_WORD: Duration = Duration::from_secs(10);

/// A task that is under way. The server is told where nobody waits for it any more.
struct Follower {
    core: Arc<Core>,
    id: Document,
    is_over: bool,
}

impl Core {
    /// Follows a task to its end: its result, as the call would have had it.
    pub(super) async fn follow(
        self: &Arc<Self>,
        created: Document,
        asked: &Outgoing<'_>,
        began: Instant,
    ) -> Result<Document, ClientError> {
        let Some(id) = created.root().get("taskId").filter(|id| id.as_str().is_some()) else {
            return Err(ClientError::Invalid("its task has no `taskId`".to_owned()));
        };
        let mut follower = Follower { core: self.clone(), id: id.to_document(), is_over: false };
        let outcome = self.follow_on(&follower, created, asked, began).await;
        // What ended here is not what the server says of the task: it goes on there, until it is told.
        follower.is_over = !matches!(&outcome, Err(ClientError::Cancelled | ClientError::TimedOut { .. }));
        outcome
    }

    async fn follow_on(
        self: &Arc<Self>,
        follower: &Follower,
        created: Document,
        asked: &Outgoing<'_>,
        began: Instant,
    ) -> Result<Document, ClientError> {
        let capabilities = asked.capabilities.as_ref().unwrap_or(&self.options.capabilities);
        let of_task = Edit::new().with("taskId", follower.id.clone());
        let mut task = created;
        let mut answered = BTreeSet::new();
        loop {
            let status = task.root().get("status").and_then(|status| status.as_str()).unwrap_or_default().into_owned();
            match status.as_str() {
                "working" | "input_required" => {}
                "completed" => {
                    let result = task.root().get("result").map(|result| result.to_document());
                    return result.ok_or_else(|| ClientError::Invalid("its completed task has no `result`".to_owned()));
                }
                "failed" => return Err(failure(task.root())),
                "cancelled" => return Err(ClientError::Invalid("it cancelled its task".to_owned())),
                _ => return Err(ClientError::Invalid("its task is in no known state".to_owned())),
            }
            let total = began.elapsed();
            let Patience { idle, absolute } = asked.patience;
            let Some(left) = absolute.checked_sub(total).filter(|left| !left.is_zero()) else {
                return Err(ClientError::TimedOut { waited: total, total, idle, absolute });
            };
            let questions = new_questions(&task, &answered);
            if questions.is_empty() {
                tokio::select! {
                    () = asked.cancel.cancelled() => return Err(ClientError::Cancelled),
                    () = sleep(interval(&task).min(left)) => {}
                }
            } else {
                let questions = questions.document();
                let given = tokio::select! {
                    given = timeout(left, answers(&questions, capabilities.root(), asked.caller.as_ref())) => given,
                    () = asked.cancel.cancelled() => return Err(ClientError::Cancelled),
                };
                let total = began.elapsed();
                let given = given.map_err(|_| ClientError::TimedOut { waited: total, total, idle, absolute })??;
                answered.extend(questions.root().members().map(|(name, _)| name.into_owned()));
                let params = of_task.clone().with("inputResponses", given).document();
                self.about_task("tasks/update", &params, asked, &asked.cancel).await?;
            }
            task = self.about_task("tasks/get", &of_task.document(), asked, &asked.cancel).await?;
        }
    }

    async fn about_task(
        self: &Arc<Self>,
        method: &str,
        params: &Document,
        asked: &Outgoing<'_>,
        cancel: &CancellationToken,
    ) -> Result<Document, ClientError> {
        let envelope = Envelope { capabilities: asked.capabilities.as_ref(), ..Envelope::default() };
        let patience =
            Patience { idle: asked.patience.idle, absolute: asked.patience.idle.min(asked.patience.absolute) };
        let asked = Exchange { envelope, ..Exchange::of_ours(method, params, patience, cancel) };
        self.exchange(asked).await.map_err(|error| match error {
            // An error about the task is none of the call's.
            ClientError::Server(error) | ClientError::Refused(error) => {
                ClientError::Lost(format!("`{method}`: {error}"))
            }
            error => error.after_it_was_taken_up(),
        })
    }
}

/// The questions that were not answered yet: a key is never used twice in a task.
fn new_questions<'a>(task: &'a Document, answered: &BTreeSet<String>) -> Edit<'a> {
    let mut questions = task.root().get("inputRequests").map_or_else(Edit::new, Edit::of);
    questions.retain(|name| !answered.contains(name));
    questions
}

fn interval(task: &Document) -> Duration {
    let said = task.root().get("pollIntervalMs").and_then(|interval| interval.decode::<u64>().ok());
    said.map_or(USUAL, Duration::from_millis).clamp(SOONEST, LATEST)
}

fn failure(task: Node<'_>) -> ClientError {
    let error = task.get("error").and_then(|error| {
        Some(RpcError {
            code: error.get("code")?.decode().ok()?,
            message: error.get("message")?.as_str()?.into_owned(),
            data: error.get("data").map(|data| data.to_document()),
        })
    });
    error.map_or_else(|| ClientError::Invalid("its failed task has no `error`".to_owned()), ClientError::Server)
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (core, id) = (Arc::downgrade(&self.core), self.id.clone());
        self.core.spawn(async move {
            let Some(core) = core.upgrade() else { return };
            let params = Edit::new().with("taskId", id).document();
            let patience = Patience { idle: LAST_WORD, absolute: LAST_WORD };
            let cancel = CancellationToken::new();
            let asked = Exchange::of_ours("tasks/cancel", &params, patience, &cancel);
            // It is cooperative: the server may end it otherwise, and nobody waits for it.
            let _ = core.exchange(asked).await;
        });
    }
}
