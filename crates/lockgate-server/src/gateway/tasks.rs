//! Calls that take their time, for clients that follow tasks (the extension `io.modelcontextprotocol/tasks`).
//!
//! ```text
//! tools/call ─► under way, and done at once ─► result
//!                  │ a little later
//!                  ▼
//!               a task: its id is the call's run ─► tasks/get · tasks/update (answers) · tasks/cancel
//! ```
//!
//! What a task stands for is in the journal before its client hears of it, and belongs to its subject. When the process ends, what was
//! settled can still be read from the journal.

mod following;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use lockgate::contract::document::Document;
use lockgate::contract::event::Event;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{BoxFuture, Caller, Clock as _, Report, Unanswered};
use lockgate::contract::time::Timestamp;
use lockgate::executor::Observer;
use lockgate::host::clock::SystemClock;
use lockgate_mcp::server::{Asked, Change, Peer, Principal, lacking};
use lockgate_mcp::wire::{Edit, Era, RpcError, Version, follows_tasks};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio_util::sync::CancellationToken;

use super::State;

/// How long a call is under way before it is a task.
const AT_ONCE: Duration = Duration::from_millis(100);
/// How often a client should ask.
const POLL: Duration = Duration::from_millis(500);
/// How many tasks of one credential are under way at once. One more stays a request, and counts as one.
const MOST_WORKING: usize = 256;
/// How many tasks are kept that came to their end, beside the journal.
const MOST_ENDED: usize = 1024;

/// The tasks of this process.
pub(super) struct Tasks {
    by_id: Mutex<BTreeMap<String, Arc<Task>>>,
    changes: broadcast::Sender<Change>,
}

/// A call that may become a task.
pub(super) struct Task {
    principal: Principal,
    run: OnceLock<RunId>,
    cancel: CancellationToken,
    changes: broadcast::Sender<Change>,
    began: Timestamp,
    inner: Mutex<Inner>,
    /// Answers came.
    answered: Notify,
}

struct Inner {
    /// Whoever sent the call, until it is a task.
    peer: Option<Arc<dyn Peer>>,
    /// It is being asked something right now, in its own request.
    is_asking: bool,
    standing: Standing,
    message: Option<String>,
    updated: Timestamp,
    /// What is asked and not answered, by keys that are never used again.
    questions: BTreeMap<String, Value>,
    answers: BTreeMap<String, Value>,
    asked: usize,
}

enum Standing {
    Working,
    Completed(Document),
    Failed(RpcError),
    Cancelled,
}

/// Whether a client follows tasks.
pub(super) fn follows(peer: &dyn Peer) -> bool {
    peer.version().era() == Era::Modern && follows_tasks(peer.capabilities().root())
}

impl State {
    /// A call of a client that follows tasks: its result where it is there at once, else a task.
    pub(super) async fn call_as_task(self: &Arc<Self>, asked: Asked) -> Result<Document, RpcError> {
        let task = Arc::new(Task::new(Arc::clone(&asked.peer), self.tasks.changes.clone()));
        let (done, mut result) = oneshot::channel();
        let (state, working) = (Arc::clone(self), Arc::clone(&task));
        let peer = Arc::clone(&asked.peer);
        tokio::spawn(async move {
            let asked = Asked { peer: Arc::new(TaskPeer::new(Arc::clone(&working), &asked)), ..asked };
            let answer = Box::pin(state.call(&asked, Some(&working))).await;
            // Where nobody waits any more it is a task.
            if let Err(answer) = done.send(answer) {
                working.ends(answer);
            }
        });
        loop {
            tokio::select! {
                biased;
                answer = &mut result => return answer.unwrap_or_else(|_| Err(RpcError::internal())),
                () = peer.cancel().cancelled(), if !task.cancel.is_cancelled() => task.cancel.cancel(),
                () = tokio::time::sleep(AT_ONCE) => {
                    if self.tasks.has_room(&task.principal) && task.becomes_one() && let Some(run) = task.run.get() {
                        // What came until now is the answer, and what comes from now on belongs to the task.
                        result.close();
                        if let Ok(answer) = result.try_recv() {
                            return answer;
                        }
                        self.tasks.insert(run.as_str(), Arc::clone(&task));
                        return Ok(Document::from_json_value(&task.shown(run.as_str(), "task")));
                    }
                }
            }
        }
    }
}

impl Task {
    fn new(peer: Arc<dyn Peer>, changes: broadcast::Sender<Change>) -> Self {
        let began = SystemClock.now();
        Self {
            principal: peer.principal().clone(),
            run: OnceLock::new(),
            cancel: CancellationToken::new(),
            changes,
            began,
            inner: Mutex::new(Inner {
                peer: Some(peer),
                is_asking: false,
                standing: Standing::Working,
                message: None,
                updated: began,
                questions: BTreeMap::new(),
                answers: BTreeMap::new(),
                asked: 0,
            }),
            answered: Notify::new(),
        }
    }

    /// Sees which run the call has.
    pub(super) fn observer(self: &Arc<Self>) -> Observer {
        let task = Arc::clone(self);
        Arc::new(move |event: &Event| drop(task.run.set(event.run_id.clone())))
    }

    /// A person has to decide: the task waits for that, whoever asks how it stands.
    pub(super) fn waits_for(&self, run: &RunId, words: String) {
        // The question may have been asked for an earlier call, in whose run this one goes on.
        let _ = self.run.set(run.clone());
        let mut inner = self.inner();
        inner.peer = None;
        inner.message = Some(words);
        inner.updated = SystemClock.now();
        drop(inner);
        self.tell();
    }

    /// Fires when nobody waits for it any more.
    pub(super) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// From now on it is one, unless its client is being asked something.
    fn becomes_one(&self) -> bool {
        let mut inner = self.inner();
        if inner.is_asking || self.run.get().is_none() {
            return false;
        }
        inner.peer = None;
        true
    }

    fn ends(&self, answer: Result<Document, RpcError>) {
        let mut inner = self.inner();
        inner.standing = match answer {
            _ if self.cancel.is_cancelled() => Standing::Cancelled,
            Ok(result) => Standing::Completed(result),
            Err(error) => Standing::Failed(error),
        };
        (inner.questions, inner.message) = (BTreeMap::new(), None);
        inner.updated = SystemClock.now();
        drop(inner);
        self.tell();
    }

    /// Whoever listens to it hears how it stands.
    fn tell(&self) {
        let Some(run) = self.run.get() else { return };
        let mut shown = self.shown(run.as_str(), "complete");
        if let Some(members) = shown.as_object_mut() {
            // A notification is no result.
            members.remove("resultType");
        }
        // Nobody may be listening.
        let _ = self.changes.send(Change::Task(Document::from_json_value(&shown)));
    }

    fn has_ended(&self) -> bool {
        !matches!(self.inner().standing, Standing::Working)
    }

    /// As its client sees it, in an answer of this type.
    fn shown(&self, id: &str, result_type: &str) -> Value {
        let inner = self.inner();
        let mut shown = Map::new();
        let mut put = |key: &str, value: Value| drop(shown.insert(key.to_owned(), value));
        put("resultType", json!(result_type));
        put("taskId", json!(id));
        let status = match &inner.standing {
            Standing::Working if inner.questions.is_empty() => "working",
            Standing::Working => "input_required",
            Standing::Completed(_) => "completed",
            Standing::Failed(_) => "failed",
            Standing::Cancelled => "cancelled",
        };
        put("status", json!(status));
        if let Some(message) = &inner.message {
            put("statusMessage", json!(message));
        }
        put("createdAt", json!(self.began.to_string()));
        put("lastUpdatedAt", json!(inner.updated.to_string()));
        put("ttlMs", Value::Null);
        put("pollIntervalMs", json!(u64::try_from(POLL.as_millis()).unwrap_or(u64::MAX)));
        if result_type != "task" {
            match &inner.standing {
                Standing::Completed(result) => put("result", result.to_json_value()),
                Standing::Failed(error) => put("error", serde_json::to_value(error).unwrap_or_default()),
                Standing::Working if !inner.questions.is_empty() => put("inputRequests", json!(inner.questions)),
                Standing::Working | Standing::Cancelled => {}
            }
        }
        Value::Object(shown)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whoever follows the task, and waits for all the answers.
    async fn ask(&self, questions: &Document) -> Result<Document, Unanswered> {
        let mut keys = Vec::new();
        {
            let mut inner = self.inner();
            for (name, question) in questions.root().members() {
                inner.asked += 1;
                let key = format!("q{}-{name}", inner.asked);
                inner.questions.insert(key.clone(), question.to_json_value());
                keys.push((name.into_owned(), key));
            }
            inner.updated = SystemClock.now();
        }
        self.tell();
        loop {
            let answered = self.answered.notified();
            if keys.iter().all(|(_, key)| self.inner().answers.contains_key(key)) {
                let mut inner = self.inner();
                let answers: Map<_, _> =
                    keys.into_iter().filter_map(|(name, key)| Some((name, inner.answers.remove(&key)?))).collect();
                return Ok(Document::from_json_value(&answers.into()));
            }
            tokio::select! {
                () = answered => {}
                () = self.cancel.cancelled() => return Err(Unanswered::Gone),
            }
        }
    }
}

impl Tasks {
    /// None yet; listeners hear of them by these changes.
    pub(super) fn new(changes: broadcast::Sender<Change>) -> Self {
        Self { by_id: Mutex::default(), changes }
    }

    fn insert(&self, id: &str, task: Arc<Task>) {
        let mut tasks = self.lock();
        if tasks.len() >= MOST_ENDED {
            let ended = tasks.iter().filter(|(_, task)| task.has_ended());
            let oldest = ended.min_by_key(|(_, task)| task.inner().updated).map(|(id, _)| id.clone());
            // Its result is in the journal.
            if let Some(oldest) = oldest {
                tasks.remove(&oldest);
            }
        }
        tasks.insert(id.to_owned(), task);
    }

    /// Whether whoever has this credential may have one more under way.
    fn has_room(&self, principal: &Principal) -> bool {
        let is_working = |task: &&Arc<Task>| task.principal.credential == principal.credential && !task.has_ended();
        self.lock().values().filter(is_working).count() < MOST_WORKING
    }

    fn get(&self, id: &str) -> Option<Arc<Task>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Task>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever sent a call that may become a task: in its own request until then, by the task after.
struct TaskPeer {
    task: Arc<Task>,
    version: Version,
    capabilities: Document,
    beside: Option<Document>,
}

impl TaskPeer {
    fn new(task: Arc<Task>, asked: &Asked) -> Self {
        let peer = &asked.peer;
        Self { task, version: peer.version(), capabilities: peer.capabilities().clone(), beside: peer.beside() }
    }
}

impl Caller for TaskPeer {
    fn beside(&self) -> Option<Document> {
        self.beside.clone()
    }

    fn can_be_asked(&self) -> Document {
        self.capabilities.clone()
    }

    fn report(&self, report: Report) {
        let peer = self.task.inner().peer.clone();
        // A task has no progress and no log.
        if let Some(peer) = peer {
            peer.report(report);
        }
    }

    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>> {
        Box::pin(async move {
            let peer = {
                let mut inner = self.task.inner();
                inner.is_asking = inner.peer.is_some();
                inner.peer.clone()
            };
            let Some(peer) = peer else {
                // Nothing is shown to a client that it never said it answers.
                let mut asked = questions.root().members();
                if let Some(lacking) = asked.find_map(|(_, question)| lacking(question, self.capabilities.root())) {
                    return Err(Unanswered::Cannot(lacking));
                }
                return self.task.ask(&questions).await;
            };
            let answers = peer.ask(questions).await;
            self.task.inner().is_asking = false;
            answers
        })
    }
}

impl Peer for TaskPeer {
    fn principal(&self) -> &Principal {
        &self.task.principal
    }

    fn version(&self) -> Version {
        self.version
    }

    fn capabilities(&self) -> &Document {
        &self.capabilities
    }

    fn cancel(&self) -> &CancellationToken {
        &self.task.cancel
    }
}

/// An object of these members.
fn empty() -> Document {
    Edit::new().document()
}
