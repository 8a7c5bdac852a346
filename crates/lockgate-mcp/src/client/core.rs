//! What all parts of one connection share.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use lockgate_contract::document::Limits;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::answering::Answering;
use super::flights::Flights;
use super::transport::Wire;
use super::watching::Watching;
use super::{Event, Listener, Options};
use crate::wire::{Era, Message, Version};

/// One process, or one session over HTTP. Its tasks end with it; they hold it weakly.
pub(super) struct Core {
    pub(super) options: Options,
    pub(super) listener: Arc<dyn Listener>,
    pub(super) flights: Flights,
    pub(super) wire: Wire,
    /// What was agreed on; nothing yet while the server is asked.
    pub(super) version: OnceLock<Version>,
    /// The handshake has begun: nothing modern is said any more.
    is_legacy: AtomicBool,
    pub(super) answering: Answering,
    pub(super) watching: Watching,
    loss: Loss,
    next: AtomicI64,
    noise: AtomicUsize,
    tasks: Mutex<JoinSet<()>>,
    runtime: Handle,
}

struct Loss {
    why: OnceLock<String>,
    /// Whether anybody has this connection: one that is lost while it is opened is an error of opening it.
    is_open: AtomicBool,
    is_told: AtomicBool,
}

/// How long something that nobody waits for may take to be said.
const FOR_TELLING: Duration = Duration::from_secs(10);
/// How much noise is told one by one.
const TOLD_NOISE: usize = 200;

impl Core {
    pub(super) fn new(wire: Wire, options: Options, listener: Arc<dyn Listener>) -> Arc<Self> {
        Arc::new(Self {
            options,
            listener,
            flights: Flights::default(),
            wire,
            version: OnceLock::new(),
            is_legacy: AtomicBool::new(false),
            answering: Answering::default(),
            watching: Watching::default(),
            loss: Loss { why: OnceLock::new(), is_open: AtomicBool::new(false), is_told: AtomicBool::new(false) },
            next: AtomicI64::new(1),
            noise: AtomicUsize::new(0),
            tasks: Mutex::new(JoinSet::new()),
            runtime: Handle::current(),
        })
    }

    /// The next request's id. It is its progress token too.
    pub(super) fn next_id(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The era that is spoken: the modern one while the server is asked.
    pub(super) fn era(&self) -> Era {
        if self.is_legacy.load(Ordering::Acquire) { Era::Legacy } else { Era::Modern }
    }

    pub(super) fn begin_legacy(&self) {
        self.is_legacy.store(true, Ordering::Release);
    }

    /// The version that a handshake ended with. A session that is begun anew ends with the same.
    pub(super) fn agree(&self, version: Version) {
        // Where it does not, the first one is spoken on: a session that was lost is no reason to change what is said of a server.
        let _ = self.version.set(version);
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { max_bytes: self.options.bounds.message, max_depth: Limits::OUTPUT.max_depth }
    }

    /// Something that this connection does besides. It ends with the connection.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, &self.runtime);
    }

    /// Something that has to be said, whoever waits for it.
    pub(super) fn tell_later(self: &Arc<Self>, message: Message) {
        let core = Arc::downgrade(self);
        self.spawn(async move {
            if let Some(core) = Weak::upgrade(&core) {
                // Nobody waits for it, so nobody can be told that it failed.
                let _ = tokio::time::timeout(FOR_TELLING, core.wire.tell(&core, &message)).await;
            }
        });
    }

    /// Something that is no message, or belongs to nothing.
    pub(super) fn noise(&self, text: &str) {
        const READABLE: usize = 500;
        let told = self.noise.fetch_add(1, Ordering::Relaxed);
        if told < TOLD_NOISE {
            let cut = text.floor_char_boundary(READABLE);
            let text = if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() };
            self.listener.heard(Event::Noise(text));
        } else if told == TOLD_NOISE {
            self.listener.heard(Event::Noise("there is more, which is not told".to_owned()));
        }
    }

    /// The connection is gone. Only the first reason counts.
    pub(super) fn lose(&self, why: &str) {
        if self.loss.why.set(why.to_owned()).is_ok() {
            self.flights.lose(why);
            self.tell_loss();
        }
    }

    /// Somebody has this connection from here on.
    pub(super) fn is_open_now(&self) {
        self.loss.is_open.store(true, Ordering::SeqCst);
        self.tell_loss();
    }

    fn tell_loss(&self) {
        if let Some(why) = self.loss.why.get()
            && self.loss.is_open.load(Ordering::SeqCst)
            && !self.loss.is_told.swap(true, Ordering::SeqCst)
        {
            self.listener.heard(Event::Lost(why.clone()));
        }
    }

    /// It is closed by us: nobody is told.
    pub(super) fn closed(&self) {
        if self.loss.why.set("it was closed".to_owned()).is_ok() {
            self.loss.is_told.store(true, Ordering::SeqCst);
            self.flights.lose("it was closed");
        }
    }

    pub(super) fn loss(&self) -> Option<&str> {
        self.loss.why.get().map(String::as_str)
    }

    pub(super) fn end_tasks(&self) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
