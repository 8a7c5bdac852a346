//! One server: how it stands, what it offers, and the connections to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::{Failure, ToolEnvironmentError, ToolSpec};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::beside::besides_of;
use super::call::auth_required;
use super::link::{Errand, Link};
use super::logging_in::NoLink;
use super::name::{NameOf, name_of};
use super::settings::{Identity, Settings};
use super::status::{Condition, Status};
use super::tools::tools_of;
use super::watching::Watches;
use super::{Inner, Parts};
use crate::client::{ClientError, Event, List, Listener, ServerFacts};

/// One server.
pub struct Upstream {
    settings: Settings,
    home: Weak<Inner>,
    pub(super) parts: Parts,
    pub(super) status: watch::Sender<Status>,
    pub(super) lists: RwLock<Arc<Lists>>,
    /// The connection for everybody, while there is one.
    pub(super) shared: Mutex<Option<Arc<dyn Link>>>,
    /// The connections of users who have credentials of their own.
    own: Mutex<BTreeMap<Identity, Slot>>,
    pub(super) said: broadcast::Sender<Said>,
    pub(super) again: Notify,
    pub(super) watches: Arc<Watches>,
    pub(super) stop: CancellationToken,
    calls: Arc<Semaphore>,
}

type Slot = Arc<tokio::sync::Mutex<Option<Arc<dyn Link>>>>;

/// What a server offers, each entry as it came.
#[derive(Debug, Default)]
pub struct Lists {
    /// What it says about itself.
    pub facts: Option<ServerFacts>,
    /// Its tools.
    pub tools: Vec<Document>,
    /// Its resources.
    pub resources: Vec<Document>,
    /// Its resource templates.
    pub templates: Vec<Document>,
    /// Its prompts.
    pub prompts: Vec<Document>,
    /// How long the lists may be kept, in milliseconds.
    pub ttl_ms: u64,
}

/// What a server said by itself.
#[derive(Debug, Clone)]
pub enum Said {
    /// A list of this server is another one now.
    Changed {
        /// The server.
        server: String,
        /// The list.
        list: List,
    },
    /// A resource of this server changed.
    Resource {
        /// The server.
        server: String,
        /// Whose connection heard of it.
        identity: Identity,
        /// The notification's parameters, without what belongs to the hop from the server.
        params: Document,
    },
    /// A log message.
    Log {
        /// The server.
        server: String,
        /// The notification's parameters, as they came.
        params: Document,
    },
}

/// How many calls may be under way at one server.
const MOST_CALLS: u32 = 1 << 16;
/// How many users' connections are kept.
const MOST_USERS: usize = 64;
/// How long a call waits for a server that is being started.
const PATIENCE: Duration = Duration::from_secs(10);

impl Upstream {
    pub(super) fn new(settings: Settings, home: &Arc<Inner>, watches: Arc<Watches>) -> Self {
        let (parts, said) = (home.parts.clone(), home.said.clone());
        let status = watch::Sender::new(Status::configured(parts.clock.now()));
        Self {
            settings,
            home: Arc::downgrade(home),
            parts,
            status,
            lists: RwLock::default(),
            shared: Mutex::default(),
            own: Mutex::default(),
            said,
            again: Notify::new(),
            watches,
            stop: CancellationToken::new(),
            calls: Arc::new(Semaphore::new(MOST_CALLS as usize)),
        }
    }

    /// What the operator says about it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// What it offers.
    pub fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.lists.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools that it offers now. What cannot be one is left out, as its status says.
    pub fn tools(self: &Arc<Self>) -> Vec<ToolSpec> {
        let lists = self.lists();
        let Some(facts) = &lists.facts else { return Vec::new() };
        let besides = besides_of(self, facts).into_iter();
        tools_of(self, &lists.tools).specs.into_iter().chain(besides).map(|(_, spec)| spec).collect()
    }

    /// One of its tools, by its name here, could not be taken in.
    pub fn left_out(&self, tool: &str, why: String) {
        let raw = self.raw_of(tool);
        self.status.send_modify(|status| {
            status.tools = status.tools.saturating_sub(1);
            status.quarantined.insert(raw.unwrap_or_else(|| tool.to_owned()), why);
        });
    }

    /// What the server itself calls the tool of this name.
    fn raw_of(&self, tool: &str) -> Option<String> {
        let lists = self.lists();
        let mut raws = lists.tools.iter().filter_map(|entry| entry.root().get("name")?.as_str());
        let raw = raws.find(|raw| name_of(&self.settings.prefix, &self.settings.name, NameOf::Tool, raw) == tool);
        raw.map(std::borrow::Cow::into_owned)
    }

    /// The way to it for whoever outlives its configuration.
    pub(super) fn door(&self) -> Door {
        Door { home: Weak::clone(&self.home), server: self.settings.name.clone() }
    }

    /// The connection through which this subject's requests go.
    pub(super) async fn link_for(self: &Arc<Self>, subject: &Subject) -> Result<Held, NoLink> {
        match self.settings.identity(subject) {
            Some(identity) => self.link_of(identity).await,
            None => Err(NoLink::Other(auth_required(&self.settings.name))),
        }
    }

    /// The connection of this identity.
    pub(super) async fn link_of(self: &Arc<Self>, identity: Identity) -> Result<Held, NoLink> {
        let name = &self.settings.name;
        let nothing = NoLink::Other;
        let permit = Arc::clone(&self.calls).try_acquire_owned();
        let permit =
            permit.map_err(|_| nothing(format!("server `{name}` is being stopped, or too many calls wait for it")))?;
        let link = match identity {
            Identity::Shared => self.shared_link().await.map_err(nothing),
            identity @ Identity::User { .. } => self.own_link(identity).await,
        };
        Ok(Held { link: link?, _permit: permit })
    }

    /// The connection for everybody. One that is being opened is waited for, for a while.
    async fn shared_link(&self) -> Result<Arc<dyn Link>, String> {
        let (name, mut status) = (&self.settings.name, self.status.subscribe());
        let found = async {
            loop {
                if let Some(link) = locked(&self.shared).clone().filter(|link| !link.is_lost()) {
                    return Ok(link);
                }
                let now = status.borrow_and_update().clone();
                if matches!(now.state, Condition::Failed | Condition::Quarantined) {
                    let why = now.reason.unwrap_or_default();
                    return Err(format!("server `{name}` is {}: {why}", now.state.word()));
                }
                if status.changed().await.is_err() {
                    return Err(format!("server `{name}` is gone"));
                }
            }
        };
        let waited = tokio::time::timeout(PATIENCE, found).await;
        waited.unwrap_or_else(|_| Err(format!("server `{name}` is still being started")))
    }

    /// The connection of one user, opened when it is first used.
    async fn own_link(self: &Arc<Self>, identity: Identity) -> Result<Arc<dyn Link>, NoLink> {
        let name = &self.settings.name;
        self.was_ready().await.map_err(NoLink::Other)?;
        let slot = self.slot(&identity);
        let mut open = slot.lock().await;
        if let Some(link) = open.as_ref().filter(|link| !link.is_lost()) {
            return Ok(Arc::clone(link));
        }
        let listener = Arc::new(Quiet { upstream: Arc::downgrade(self), identity: identity.clone() });
        let dialled = self.parts.dial.dial(&self.settings, &identity, listener, &self.parts.confidant);
        let link = match tokio::time::timeout(self.settings.start_timeout, dialled).await {
            Ok(Ok(link)) => link,
            Ok(Err(ClientError::Unauthorized { .. })) => return Err(NoLink::Other(auth_required(name))),
            Ok(Err(ClientError::AuthorizationNeeded { url })) => return Err(NoLink::Login(url)),
            Ok(Err(error)) => return Err(NoLink::Other(format!("server `{name}` cannot be reached: {error}"))),
            Err(_) => return Err(NoLink::Other(format!("server `{name}` cannot be reached: no answer in time"))),
        };
        *open = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Waits, for a while, until its tools were taken in as it is configured now. Before, those on the shelf are judged by what was
    /// said of it earlier.
    async fn was_ready(&self) -> Result<(), String> {
        let (name, mut status) = (&self.settings.name, self.status.subscribe());
        let settled = status.wait_for(|status| status.protocol.is_some() || status.is_settled());
        let Ok(settled) = tokio::time::timeout(PATIENCE, settled).await else {
            return Err(format!("server `{name}` is still being started"));
        };
        let now = settled.map_err(|_| format!("server `{name}` is gone"))?;
        if now.protocol.is_some() && now.state != Condition::Quarantined {
            return Ok(());
        }
        Err(format!("server `{name}` is {}: {}", now.state.word(), now.reason.as_deref().unwrap_or_default()))
    }

    /// The place of a user's connection. Where there are too many, one that nobody uses now makes room.
    fn slot(&self, identity: &Identity) -> Slot {
        let mut own = locked(&self.own);
        if own.len() >= MOST_USERS && !own.contains_key(identity) {
            let is_idle =
                |identity: &Identity, slot: &Slot| Arc::strong_count(slot) == 1 && !self.is_listened_to(identity);
            let idle =
                own.iter().find(|(identity, slot)| is_idle(identity, slot)).map(|(identity, _)| identity.clone());
            if let Some(idle) = idle {
                own.remove(&idle);
            }
        }
        Arc::clone(own.entry(identity.clone()).or_default())
    }

    /// Its tools seem to be others than it said.
    pub(super) fn look_again(&self) {
        self.again.notify_one();
    }

    /// Waits until its start has come to an end.
    pub async fn settled(&self) {
        let mut status = self.status.subscribe();
        // An error says that it is gone, which is an end too.
        let _ = status.wait_for(Status::is_settled).await;
    }

    /// Lets the calls that are under way come to their end, each within its own time, and closes the connections.
    pub(super) async fn close(&self) {
        self.close_within(Duration::MAX).await;
    }

    /// The same, and calls have no more than so much time.
    pub(super) async fn close_within(&self, most: Duration) {
        let longest = self.settings.tools.values().filter_map(|rules| rules.timeout).max();
        let longest =
            longest.max(self.settings.rules.timeout).unwrap_or(self.settings.timeout).max(self.settings.timeout);
        // Whoever comes now is told that it is being stopped.
        let all = tokio::time::timeout(longest.min(most), self.calls.acquire_many(MOST_CALLS)).await;
        self.calls.close();
        drop(all);
        let shared = locked(&self.shared).take();
        if let Some(link) = shared {
            link.close().await;
        }
        let own = std::mem::take(&mut *locked(&self.own));
        for slot in own.into_values() {
            let link = slot.lock().await.take();
            if let Some(link) = link {
                link.close().await;
            }
        }
    }
}

/// The way to a server as it is configured now. Tools go through it: they stay when their server is started anew.
#[derive(Clone)]
pub(super) struct Door {
    home: Weak<Inner>,
    server: String,
}

impl Door {
    pub(super) fn upstream(&self) -> Result<Arc<Upstream>, Failure> {
        let home = self.home.upgrade();
        home.and_then(|home| home.get(&self.server)).ok_or_else(|| {
            let words = format!("server `{}` is not there any more", self.server);
            ToolEnvironmentError::new(words).nothing_happened().into()
        })
    }
}

/// A connection that is in use: a server is not closed under it.
pub(super) struct Held {
    link: Arc<dyn Link>,
    _permit: OwnedSemaphorePermit,
}

impl Held {
    pub(super) fn link(&self) -> &Arc<dyn Link> {
        &self.link
    }

    pub(super) async fn request(self, errand: Errand) -> Result<Document, ClientError> {
        let result = self.link.request(errand).await;
        drop(self);
        result
    }
}

/// Hears what comes on a user's connection: the lists are asked for elsewhere.
struct Quiet {
    upstream: Weak<Upstream>,
    identity: Identity,
}

impl Listener for Quiet {
    fn heard(&self, event: Event) {
        let Some(upstream) = self.upstream.upgrade() else { return };
        match (event, tokio::runtime::Handle::try_current()) {
            (Event::ResourceUpdated(params), _) => upstream.says_of_resource(&self.identity, &params),
            (Event::Lost(_), Ok(runtime)) => drop(runtime.spawn(upstream.reach_again(self.identity.clone()))),
            _ => {}
        }
    }
}

/// Nothing that is done under these locks panics half-way.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
