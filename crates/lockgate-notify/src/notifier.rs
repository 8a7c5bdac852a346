//! From what happens to whoever is told: a queue for each target, so that a slow one keeps nobody waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor;
use lockgate_executor::Observer;
use tokio::sync::{Notify, mpsc};

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
    redactor: Arc<dyn Redactor>,
    /// Made when something is first told: a notifier may be put together outside of a runtime.
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
        Self { targets, redactor, queues: Mutex::new(None), open: Arc::default() }
    }

    /// Whether there is nobody to tell.
    pub fn is_silent(&self) -> bool {
        self.targets.is_empty()
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
        })
    }

    /// Tells everybody, soon.
    pub fn tell(&self, news: &News) {
        if self.is_silent() {
            return;
        }
        let Some(text) = self.text(news) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::warn!(approval_id = %news.approval_id, "nobody was told: there is no runtime");
            return;
        };
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queues =
            queues.get_or_insert_with(|| self.targets.iter().map(|target| self.queue(&runtime, target)).collect());
        for queue in queues {
            self.open.count.fetch_add(1, Ordering::SeqCst);
            if queue.try_send(Arc::clone(&text)).is_err() {
                self.open.done();
                tracing::warn!(approval_id = %news.approval_id, "nobody was told: too much waits to be told already");
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
    fn text(&self, news: &News) -> Option<Arc<str>> {
        let document = Document::from_serialize(news).ok()?;
        let document = self.redactor.scrub_document(&document).unwrap_or(document);
        Some(document.text().into())
    }

    fn queue(&self, runtime: &tokio::runtime::Handle, target: &Target) -> mpsc::Sender<Arc<str>> {
        let (sender, mut waiting) = mpsc::channel::<Arc<str>>(WAITING);
        let (target, open) = (target.clone(), Arc::clone(&self.open));
        runtime.spawn(async move {
            while let Some(text) = waiting.recv().await {
                let told = match &target {
                    Target::Webhook(webhook) => webhook.send(&text).await,
                    Target::Program(program) => program.send(&text).await,
                };
                if let Err(error) = told {
                    tracing::warn!(error, "somebody was not told");
                }
                open.done();
            }
        });
        sender
    }
}
