//! MCP servers as sources of tools.
//!
//! ```text
//! settings ─► a supervisor each ─► link ─► lists ─► tools ─► shelf (the registry, behind a trait)
//!                                   ▲
//!                 calls, through the subject's own connection
//! ```
//!
//! It owns the servers' names, states and connections. What a tool may do comes from the settings, and whether a call runs is decided
//! before it gets here.

mod beside;
mod call;
mod connect;
mod heard;
mod link;
mod logging_in;
mod login;
mod name;
mod server;
mod settings;
mod status;
mod supervisor;
mod tools;
mod uri;
mod watching;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use lockgate_contract::ports::{Clock, Ids};
use lockgate_contract::tool::ToolSpec;
use tokio::sync::broadcast;

use crate::oauth::Confidant;

pub use self::beside::{Beside, beside_name};
pub use self::call::{KEY_IN_META, SERVER_REFUSED, TOOL_FAILED};
pub use self::connect::{Connections, Visiting};
pub use self::link::{Dial, Errand, Link};
pub use self::login::Login;
pub use self::name::{NameOf, name_of};
pub use self::server::{Lists, Said, Upstream};
pub use self::settings::{Identity, KeyGoes, Place, Relay, Rules, Secret, Settings, Tokens};
pub use self::status::{Condition, Status};
use self::watching::Watches;
pub use self::watching::Watching;

/// Where the tools of servers are offered.
pub trait Shelf: Send + Sync {
    /// From now on these are the tools of this server, and no others. It may block. Those that could not be taken are named with the
    /// reason; they are not offered, and neither is an older one of their name.
    fn put(&self, server: &str, tools: Vec<ToolSpec>) -> Vec<(String, String)>;
}

/// What servers are reached with, and where their tools go.
#[derive(Clone)]
pub struct Parts {
    /// Opens connections.
    pub dial: Arc<dyn Dial>,
    /// Where the tools go.
    pub shelf: Arc<dyn Shelf>,
    /// Tells since when a server stands as it does.
    pub clock: Arc<dyn Clock>,
    /// Spreads new starts over time.
    pub ids: Arc<dyn Ids>,
    /// Hears of every token that is got for a server.
    pub confidant: Arc<dyn Confidant>,
}

/// All servers, each under a task of its own: none waits for another.
pub struct Upstreams {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    parts: Parts,
    servers: RwLock<BTreeMap<String, Arc<Upstream>>>,
    /// What is listened to at each, also where it is not there for a while.
    watches: Mutex<BTreeMap<String, Arc<Watches>>>,
    said: broadcast::Sender<Said>,
}

/// How long calls that are under way are waited for when everything is to stop.
const TO_STOP: Duration = Duration::from_secs(10);
/// What servers say by themselves that may wait for a slow listener.
const MOST_SAID: usize = 256;

impl Upstreams {
    /// No server yet.
    pub fn new(parts: Parts) -> Self {
        let said = broadcast::Sender::new(MOST_SAID);
        Self { inner: Arc::new(Inner { parts, servers: RwLock::default(), watches: Mutex::default(), said }) }
    }

    /// From now on these are the servers. Those that are configured as before are left alone; others are started, all at once, and
    /// those that are gone are stopped once their calls have come to an end. Must be called within a runtime.
    pub fn set(&self, settings: Vec<Settings>) {
        let inner = &self.inner;
        let mut wanted: BTreeMap<_, _> = settings.into_iter().map(|one| (one.name.clone(), one)).collect();
        let mut servers = inner.servers.write().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|name, server| {
            if wanted.get(name).is_some_and(|settings| settings == server.settings()) {
                wanted.remove(name);
                return true;
            }
            server.stop.cancel();
            if !wanted.contains_key(name) {
                let (place, gone) = (Arc::clone(&inner.parts.shelf), name.clone());
                tokio::task::spawn_blocking(move || place.put(&gone, Vec::new()));
            }
            false
        });
        for (name, settings) in wanted {
            let watches = Arc::clone(server::locked(&inner.watches).entry(name.clone()).or_default());
            let server = Arc::new(Upstream::new(settings, inner, watches));
            tokio::spawn(supervisor::supervise(Arc::clone(&server)));
            servers.insert(name, server);
        }
    }

    /// Waits until the start of each has come to an end, one way or the other.
    pub async fn settled(&self) {
        for server in self.all() {
            server.settled().await;
        }
    }

    /// All of them, sorted by name.
    pub fn all(&self) -> Vec<Arc<Upstream>> {
        self.inner.all()
    }

    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<Arc<Upstream>> {
        self.inner.get(name)
    }

    /// How each stands.
    pub fn statuses(&self) -> BTreeMap<String, Status> {
        self.all().iter().map(|server| (server.settings().name.clone(), server.status())).collect()
    }

    /// What servers say by themselves, from now on.
    pub fn said(&self) -> broadcast::Receiver<Said> {
        self.inner.said.subscribe()
    }

    /// Stops all of them, and waits until their connections are closed. Calls that are under way have ten seconds more.
    pub async fn stop(&self) {
        let servers = std::mem::take(&mut *self.inner.servers.write().unwrap_or_else(PoisonError::into_inner));
        for server in servers.values() {
            server.stop.cancel();
        }
        let closing: tokio::task::JoinSet<()> =
            servers.into_values().map(|server| async move { server.close_within(TO_STOP).await }).collect();
        closing.join_all().await;
    }
}

impl Inner {
    fn all(&self) -> Vec<Arc<Upstream>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn get(&self, name: &str) -> Option<Arc<Upstream>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        for server in self.all() {
            server.stop.cancel();
        }
    }
}

#[cfg(test)]
mod tests;
