//! A server that does what a test says, without a process or a socket.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
use lockgate_contract::ports::{BoxFuture, Clock, Ids};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;
use tokio::sync::Notify;

use super::super::*;
use crate::client::{ClientError, Event, List, Listener, Listing, ServerFacts};
use crate::oauth::{Confidant, NobodyListens};
use crate::wire::{RpcError, Version};

pub(in crate::upstream) fn document(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

pub(in crate::upstream) fn subject(tenant: &str, user: &str) -> Subject {
    Subject { tenant: tenant.to_owned(), user: user.to_owned(), ..Subject::default() }
}

/// Settings of a server about which nothing more is said.
pub(in crate::upstream) fn settings(name: &str) -> Settings {
    Settings {
        name: name.to_owned(),
        prefix: name.to_owned(),
        place: Place::Program { command: vec![name.to_owned()], environment: BTreeMap::new(), folder: "/".into() },
        tokens: Tokens::default(),
        era: None,
        version: None,
        allow: None,
        hide: Vec::new(),
        rules: Rules::default(),
        tools: BTreeMap::new(),
        timeout: Duration::from_secs(30),
        idle_timeout: None,
        required: false,
        start_timeout: Duration::from_secs(30),
        restarts: 10,
        relay: Relay { elicitation: true, sampling: false, roots: false },
        key: KeyGoes::Nowhere,
        login: None,
        alone: true,
    }
}

/// Who hears of a connection, and whether it is lost.
type Ear = (Arc<dyn Listener>, Arc<AtomicBool>);
type Answer = Arc<dyn Fn(&Errand) -> Result<Document, ClientError> + Send + Sync>;

/// A server.
pub(in crate::upstream) struct Fake {
    tools: Mutex<Vec<Document>>,
    pub(in crate::upstream) answer: Mutex<Answer>,
    pub(in crate::upstream) refuses: AtomicBool,
    pub(in crate::upstream) hangs: AtomicBool,
    /// Seconds that an answer takes.
    pub(in crate::upstream) slow: AtomicU64,
    pub(in crate::upstream) dials: AtomicUsize,
    pub(in crate::upstream) closed: AtomicUsize,
    /// How often it was asked for a list.
    pub(in crate::upstream) listed: AtomicUsize,
    /// The version that it says it has.
    pub(in crate::upstream) version: Mutex<String>,
    pub(in crate::upstream) tokens: Mutex<Vec<String>>,
    listeners: Mutex<Vec<Ear>>,
    /// What it was told to tell of (`+`), and no more (`-`), by connection.
    pub(in crate::upstream) watched: Mutex<Vec<String>>,
}

impl Fake {
    pub(in crate::upstream) fn with_tools(names: &[&str]) -> Arc<Self> {
        let fake = Self {
            tools: Mutex::default(),
            answer: Mutex::new(Arc::new(|_| Ok(document(r#"{"content":[]}"#)))),
            refuses: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            slow: AtomicU64::new(0),
            dials: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            listed: AtomicUsize::new(0),
            version: Mutex::new("1.0".to_owned()),
            tokens: Mutex::default(),
            listeners: Mutex::default(),
            watched: Mutex::default(),
        };
        let entry = |name: &&str| document(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#));
        fake.set_tools(names.iter().map(entry).collect());
        Arc::new(fake)
    }

    pub(in crate::upstream) fn set_tools(&self, tools: Vec<Document>) {
        *self.tools.lock().unwrap() = tools;
    }

    pub(in crate::upstream) fn says(&self, event: &Event) {
        for (listener, _) in &*self.listeners.lock().unwrap() {
            listener.heard(event.clone());
        }
    }

    pub(in crate::upstream) fn loses_all(&self, why: &str) {
        let all = std::mem::take(&mut *self.listeners.lock().unwrap());
        for (listener, lost) in all {
            lost.store(true, Ordering::SeqCst);
            listener.heard(Event::Lost(why.to_owned()));
        }
    }
}

struct FakeLink {
    fake: Arc<Fake>,
    token: String,
    lost: Arc<AtomicBool>,
    facts: ServerFacts,
}

impl Link for FakeLink {
    fn server(&self) -> &ServerFacts {
        &self.facts
    }

    fn list(&self, list: List) -> BoxFuture<'_, Result<Listing, ClientError>> {
        self.fake.listed.fetch_add(1, Ordering::SeqCst);
        let items = match list {
            List::Tools => self.fake.tools.lock().unwrap().clone(),
            _ => Vec::new(),
        };
        Box::pin(std::future::ready(Ok(Listing { items, ttl_ms: 0, warnings: Vec::new() })))
    }

    fn request(&self, errand: Errand) -> BoxFuture<'_, Result<Document, ClientError>> {
        let answer = Arc::clone(&self.fake.answer.lock().unwrap());
        let slow = self.fake.slow.load(Ordering::SeqCst);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(slow)).await;
            answer(&errand)
        })
    }

    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            if uri.contains("secret") {
                return Err(RpcError::invalid_params("there is no such resource").into());
            }
            self.fake.watched.lock().unwrap().push(format!("+{}{uri}", self.token));
            Ok(())
        })
    }

    fn unwatch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            self.fake.watched.lock().unwrap().push(format!("-{}{uri}", self.token));
            Ok(())
        })
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.fake.closed.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// Reaches each server by its name.
struct FakeDial(BTreeMap<String, Arc<Fake>>);

impl Dial for FakeDial {
    fn dial<'a>(
        &'a self,
        settings: &'a Settings,
        identity: &'a Identity,
        listener: Arc<dyn Listener>,
        _: &'a Arc<dyn Confidant>,
    ) -> BoxFuture<'a, Result<Arc<dyn Link>, ClientError>> {
        let fake = Arc::clone(&self.0[&settings.name]);
        let token = settings.token(identity).map(|token| token.expose().to_owned()).unwrap_or_default();
        Box::pin(async move {
            fake.dials.fetch_add(1, Ordering::SeqCst);
            if fake.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if fake.refuses.load(Ordering::SeqCst) {
                return Err(ClientError::NotSent("there is no such program".to_owned()));
            }
            fake.tokens.lock().unwrap().push(token.clone());
            let lost = Arc::new(AtomicBool::new(false));
            fake.listeners.lock().unwrap().push((listener, Arc::clone(&lost)));
            let facts = ServerFacts {
                version: Version::V2025_11_25,
                capabilities: document(r#"{"tools":{}}"#),
                info: Some(document(&format!(r#"{{"name":"fake","version":"{}"}}"#, fake.version.lock().unwrap()))),
                instructions: None,
            };
            Ok(Arc::new(FakeLink { fake, token, lost, facts }) as Arc<dyn Link>)
        })
    }
}

/// Keeps what was offered; a tool whose name ends in `refused` is left out.
#[derive(Default)]
pub(in crate::upstream) struct Kept {
    specs: Mutex<BTreeMap<String, Vec<ToolSpec>>>,
    changed: Notify,
}

impl Shelf for Kept {
    fn put(&self, server: &str, tools: Vec<ToolSpec>) -> Vec<(String, String)> {
        let (refused, taken): (Vec<_>, Vec<_>) = tools.into_iter().partition(|tool| tool.name().ends_with("refused"));
        self.specs.lock().unwrap().insert(server.to_owned(), taken);
        self.changed.notify_waiters();
        refused.into_iter().map(|tool| (tool.name().to_owned(), "refused".to_owned())).collect()
    }
}

impl Kept {
    pub(in crate::upstream) fn names(&self, server: &str) -> Vec<String> {
        let specs = self.specs.lock().unwrap();
        specs.get(server).into_iter().flatten().map(|spec| spec.name().to_owned()).collect()
    }

    pub(in crate::upstream) fn with<T>(&self, name: &str, look: impl FnOnce(&ToolSpec) -> T) -> T {
        let specs = self.specs.lock().unwrap();
        look(specs.values().flatten().find(|spec| spec.name() == name).unwrap())
    }

    pub(in crate::upstream) fn facts(&self, name: &str) -> (Effect, Permission, ReplayPolicy) {
        self.with(name, |spec| (spec.effect(), spec.permission(), spec.replay()))
    }

    pub(in crate::upstream) async fn until(&self, server: &str, is: impl Fn(&[String]) -> bool) {
        loop {
            let changed = self.changed.notified();
            if is(&self.names(server)) {
                return;
            }
            changed.await;
        }
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl Ids for Still {
    fn random(&self) -> u64 {
        511
    }
}

pub(in crate::upstream) fn upstreams<const N: usize>(servers: [(&str, &Arc<Fake>); N]) -> (Upstreams, Arc<Kept>) {
    upstreams_of(servers.into_iter().map(|(name, fake)| (settings(name), fake)).collect())
}

pub(in crate::upstream) fn upstreams_of(servers: Vec<(Settings, &Arc<Fake>)>) -> (Upstreams, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let fakes = servers.iter().map(|(settings, fake)| (settings.name.clone(), Arc::clone(fake))).collect();
    let parts = Parts {
        dial: Arc::new(FakeDial(fakes)),
        shelf: Arc::clone(&kept) as Arc<dyn Shelf>,
        clock: Arc::new(Still),
        ids: Arc::new(Still),
        confidant: Arc::new(NobodyListens),
    };
    let upstreams = Upstreams::new(parts);
    upstreams.set(servers.into_iter().map(|(settings, _)| settings).collect());
    (upstreams, kept)
}
