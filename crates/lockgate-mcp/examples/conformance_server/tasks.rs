//! Tasks: jobs that a client follows (the extension `io.modelcontextprotocol/tasks`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::ports::Clock as _;
use lockgate_host::clock::SystemClock;
use lockgate_mcp::wire::{RpcError, code};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::content::{failure, form, text_result};

/// All tasks.
#[derive(Default)]
pub(crate) struct Tasks {
    last: AtomicU64,
    all: Mutex<HashMap<String, Arc<Task>>>,
}

/// One task.
pub(crate) struct Task {
    id: String,
    created: String,
    cancel: CancellationToken,
    changed: Notify,
    state: Mutex<State>,
}

struct State {
    status: &'static str,
    updated: String,
    /// The questions that are open, and the answers to those that are not.
    questions: Map<String, Value>,
    answers: Map<String, Value>,
    /// The result or the error, by that name.
    ending: Option<(&'static str, Value)>,
}

/// What a task does.
pub(crate) enum Job {
    Compute { time: Duration, label: String },
    Failing,
    Broken,
    Confirm { filename: String },
    TwoQuestions,
}

impl Job {
    /// Does it for a client that waits.
    pub(crate) async fn at_once(self) -> Value {
        match self {
            Self::Compute { time, label } => {
                tokio::time::sleep(time).await;
                text_result(format!("Computed: {label}"))
            }
            _ => failure("this has to be followed"),
        }
    }

    async fn run(self, task: &Task) -> Result<Value, RpcError> {
        Ok(match self {
            Self::Failing => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                failure("this always fails")
            }
            Self::Broken => return Err(RpcError::new(code::INTERNAL_ERROR, "the job broke")),
            Self::Confirm { filename } => {
                let question = form(&format!("Delete {filename}?"), "confirm", "boolean");
                let answers = task.ask([("confirm", question)]).await;
                text_result(format!("Deleted {filename}: {}", answers["confirm"]["content"]["confirm"]))
            }
            Self::TwoQuestions => {
                let questions =
                    [("first", form("First?", "name", "string")), ("second", form("Second?", "name", "string"))];
                text_result(format!("Answered: {}", Value::from(task.ask(questions).await)))
            }
            compute @ Self::Compute { .. } => compute.at_once().await,
        })
    }
}

impl Tasks {
    /// Begins a job; what the client is told, who can ask for the task from now on.
    pub(crate) fn begin(&self, job: Job) -> Value {
        let id = format!("task-{}", self.last.fetch_add(1, Ordering::Relaxed));
        let state =
            State { status: "working", updated: now(), questions: Map::new(), answers: Map::new(), ending: None };
        let task = Arc::new(Task {
            id: id.clone(),
            created: now(),
            cancel: CancellationToken::new(),
            changed: Notify::new(),
            state: Mutex::new(state),
        });
        self.all().insert(id, Arc::clone(&task));
        let shown = task.shown(false);
        tokio::spawn(async move {
            let ending = tokio::select! {
                () = task.cancel.cancelled() => None,
                ending = job.run(&task) => Some(ending),
            };
            match ending {
                None => task.end("cancelled", None),
                Some(Ok(result)) => task.end("completed", Some(("result", result))),
                Some(Err(error)) => {
                    task.end("failed", Some(("error", json!({"code": error.code, "message": error.message}))));
                }
            }
        });
        shown
    }

    /// The task that these parameters name.
    pub(crate) fn find(&self, params: &Value) -> Result<Arc<Task>, RpcError> {
        let task = params["taskId"].as_str().and_then(|id| self.all().get(id).cloned());
        task.ok_or_else(|| RpcError::invalid_params("there is no such task"))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Task>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    /// The task as it is shown: with what became of it and what it asks, or as it is created.
    pub(crate) fn shown(&self, whole: bool) -> Value {
        let state = self.state();
        let mut shown = json!({
            "resultType": if whole { "complete" } else { "task" },
            "taskId": self.id,
            "status": state.status,
            "createdAt": self.created,
            "lastUpdatedAt": state.updated,
            "ttlMs": 600_000,
            "pollIntervalMs": 100,
        });
        if whole {
            if !state.questions.is_empty() {
                shown["inputRequests"] = Value::from(state.questions.clone());
            }
            if let Some((name, ending)) = &state.ending {
                shown[*name] = ending.clone();
            }
        }
        shown
    }

    /// Takes answers; those to nothing are left.
    pub(crate) fn update(&self, answers: &Value) {
        let mut state = self.state();
        for (key, answer) in answers.as_object().into_iter().flatten() {
            if state.questions.remove(key).is_some() {
                state.answers.insert(key.clone(), answer.clone());
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Ends it early.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    async fn ask<const N: usize>(&self, questions: [(&str, Value); N]) -> Map<String, Value> {
        {
            let mut state = self.state();
            state.status = "input_required";
            state.questions = questions.into_iter().map(|(key, question)| (key.to_owned(), question)).collect();
        }
        loop {
            self.changed.notified().await;
            let mut state = self.state();
            if state.questions.is_empty() {
                state.status = "working";
                return std::mem::take(&mut state.answers);
            }
        }
    }

    fn end(&self, status: &'static str, ending: Option<(&'static str, Value)>) {
        let mut state = self.state();
        state.status = status;
        state.updated = now();
        state.questions = Map::new();
        state.ending = ending;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> String {
    SystemClock.now().to_string()
}
