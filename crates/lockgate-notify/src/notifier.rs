//! From what happens to whoever is told: a queue for each target, so that a slow one keeps nobody waiting.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor;
use lockgate_executor::Observer;
use serde::Serialize;
use tokio::sync::{Notify, mpsc};

use crate::after::{AfterHook, Told};
use crate::news::News;
use crate::program::Program;
use crate::webhook::Webhook;

/// Where messages go.
#[derive(Debug, Clone)]
pub enum Target {
    /// Over HTTP.
    Webhook(Webhook),
    /// To a program.
    Program(Program),
}

/// Messages that wait for one target; more are dropped, and that is logged.
const WAITING: usize = 256;

/// Tells every target. It never waits and never fails: what cannot be told is logged.
pub struct Notifier {
    targets: Vec<Target>,
    hooks: Vec<AfterHook>,
    redactor: Arc<dyn Redactor>,
    /// One for each target, then one for each hook. Made when something is first told: a notifier may be put together outside of a runtime.
    queues: Mutex<Option<Vec<mpsc::Sender<Arc<str>>>>>,
    open: Arc<Open>,
}

/// What is not delivered yet.
#[derive(Default)]
struct Open {
    count: AtomicUsize,
    changed: Notify,
}

impl Open {
    fn done(&self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }
}

impl Notifier {
    /// Tells these. Nothing leaves that the redactor knows as a secret.
    pub fn new(targets: Vec<Target>, redactor: Arc<dyn Redactor>) -> Self {
        Self { targets, hooks: Vec::new(), redactor, queues: Mutex::new(None), open: Arc::default() }
    }

    /// Tells these also what became of calls.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Vec<AfterHook>) -> Self {
        self.hooks = hooks;
        self
    }

    /// Whether nobody is told of questions.
    pub fn is_silent(&self) -> bool {
        self.targets.is_empty()
    }

    /// Whether somebody is told anything of a run.
    pub fn watches(&self) -> bool {
        !self.targets.is_empty() || !self.hooks.is_empty()
    }

    /// Whether nothing waits to be told.
    pub fn is_done(&self) -> bool {
        self.open.count.load(Ordering::SeqCst) == 0
    }

    /// Sees the events of a run, and tells what there is to tell of them.
    pub fn observer(self: &Arc<Self>) -> Observer {
        let notifier = Arc::clone(self);
        Arc::new(move |event| {
            if let Some(news) = News::of(event) {
                notifier.tell(&news);
            }
            if !notifier.hooks.is_empty()
                && let Some(told) = Told::of(event)
            {
                notifier.tell_hooks(&told);
            }
        })
    }

    /// Tells everybody who is told of questions, soon.
    pub fn tell(&self, news: &News) {
        self.send(news, news.approval_id.as_str(), 0..self.targets.len());
    }

    fn tell_hooks(&self, told: &Told) {
        let first = self.targets.len();
        for (place, _) in self.hooks.iter().enumerate().filter(|(_, hook)| hook.covers(told)) {
            self.send(told, told.call_id(), first + place..first + place + 1);
        }
    }

    /// Puts a message into some of the queues.
    fn send<T: Serialize>(&self, message: &T, about: &str, queues: Range<usize>) {
        if queues.is_empty() {
            return;
        }
        let Some(text) = self.text(message) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::warn!(about, "nobody was told: there is no runtime");
            return;
        };
        let mut all = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in &all.get_or_insert_with(|| self.start(&runtime))[queues] {
            self.open.count.fetch_add(1, Ordering::SeqCst);
            if queue.try_send(Arc::clone(&text)).is_err() {
                self.open.done();
                tracing::warn!(about, "nobody was told: too much waits to be told already");
            }
        }
    }

    /// Waits until everything is told or given up, for so long at most. Answers whether it is.
    pub async fn flush(&self, patience: Duration) -> bool {
        let all = async {
            loop {
                let changed = self.open.changed.notified();
                tokio::pin!(changed);
                // Before it is looked: what is done in between counts.
                changed.as_mut().enable();
                if self.is_done() {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(patience, all).await.is_ok()
    }

    /// The message as it leaves.
    fn text<T: Serialize>(&self, message: &T) -> Option<Arc<str>> {
        let document = Document::from_serialize(message).ok()?;
        let document = self.redactor.scrub_document(&document).unwrap_or(document);
        Some(document.text().into())
    }

    fn start(&self, runtime: &tokio::runtime::Handle) -> Vec<mpsc::Sender<Arc<str>>> {
        let targets = self.targets.iter().map(|target| (target.clone(), None));
        let hooks = self.hooks.iter().map(|hook| (Target::Program(hook.program.clone()), Some(Arc::clone(&hook.name))));
        targets.chain(hooks).map(|(target, hook)| self.queue(runtime, target, hook)).collect()
    }

    fn queue(
        &self,
        runtime: &tokio::runtime::Handle,
        target: Target,
        hook: Option<Arc<str>>,
    ) -> mpsc::Sender<Arc<str>> {
        let (sender, mut waiting) = mpsc::channel::<Arc<str>>(WAITING);
        let open = Arc::clone(&self.open);
        runtime.spawn(async move {
            while let Some(text) = waiting.recv().await {
                let told = match &target {
                    Target::Webhook(webhook) => webhook.send(&text).await,
                    Target::Program(program) => program.send(&text).await,
                };
                if let Err(error) = told {
                    tracing::warn!(error, hook = hook.as_deref(), "somebody was not told");
                }
                open.done();
            }
        });
        sender
    }
}
