//! Resources that clients listen to: of each connection they are counted, so that one client's leaving ends nobody else's, and are
//! watched again on the connection that takes the place of a lost one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::subject::Subject;
use tokio::time::sleep;

use super::call::without_the_hop;
use super::link::Link;
use super::logging_in::NoLink;
use super::server::{Said, Upstream, locked};
use super::settings::Identity;
use crate::client::ClientError;
use crate::wire::Edit;

/// The pauses between attempts to reach a server again that tells of resources: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// What is listened to at one server. It outlives the server's settings.
#[derive(Default)]
pub(super) struct Watches(Mutex<BTreeMap<Key, Arc<Watch>>>);

/// A resource, as one connection reaches it.
type Key = (Identity, String);

#[derive(Default)]
struct Watch {
    /// How many listen.
    listeners: Mutex<usize>,
    /// The connection on which the server was told. Held while it is: what the server is told last is what counts.
    told: tokio::sync::Mutex<Option<Weak<dyn Link>>>,
}

/// Somebody listens to a resource, until this is dropped. The server is told by a call of the tool for [`Beside::Subscriptions`](super::Beside).
pub struct Watching {
    upstream: Arc<Upstream>,
    key: Key,
    watch: Arc<Watch>,
}

/// Why a resource is not listened to.
pub(super) enum NotWatched {
    /// There is no connection.
    NoLink(NoLink),
    /// The server refused, or was lost.
    Refused(ClientError),
}

impl Upstream {
    /// Somebody is about to listen to a resource, by the server's own URI; nothing where this subject reaches no connection.
    pub fn listens(self: &Arc<Self>, subject: &Subject, uri: &str) -> Option<Watching> {
        let key = (self.settings().identity(subject)?, uri.to_owned());
        let watch = {
            let mut watches = locked(&self.watches.0);
            let watch = Arc::clone(watches.entry(key.clone()).or_default());
            *locked(&watch.listeners) += 1;
            watch
        };
        Some(Watching { upstream: Arc::clone(self), key, watch })
    }

    /// Has the server tell of a resource that somebody listens to. Where nobody does, there is nothing to be told.
    pub(super) async fn watch(self: &Arc<Self>, subject: &Subject, uri: &str) -> Result<(), NotWatched> {
        let Some(identity) = self.settings().identity(subject) else { return Ok(()) };
        let key = (identity, uri.to_owned());
        let watch = locked(&self.watches.0).get(&key).cloned();
        match watch {
            Some(watch) => self.follow(&key, &watch).await.map(drop),
            None => Ok(()),
        }
    }

    /// Tells the server what is so: that somebody listens, or that nobody does any more. Whether it had to be told that somebody does.
    async fn follow(self: &Arc<Self>, key: &Key, watch: &Watch) -> Result<bool, NotWatched> {
        let (identity, uri) = key;
        let mut told = watch.told.lock().await;
        let is_listened_to = *locked(&watch.listeners) > 0;
        let before = told.as_ref().and_then(Weak::upgrade).filter(|link| !link.is_lost());
        if is_listened_to {
            let held = self.link_of(identity.clone()).await.map_err(NotWatched::NoLink)?;
            if before.is_some_and(|before| Arc::ptr_eq(&before, held.link())) {
                return Ok(false);
            }
            held.link().watch(uri).await.map_err(NotWatched::Refused)?;
            *told = Some(Arc::downgrade(held.link()));
            return Ok(true);
        }
        if told.take().is_some()
            && let Some(link) = before
            && let Err(error) = link.unwatch(uri).await
        {
            tracing::debug!(server = self.settings().name, uri, %error, "a server could not be told that nobody listens");
        }
        // Only now: until then, whoever came meanwhile had to wait for this.
        let mut watches = locked(&self.watches.0);
        if *locked(&watch.listeners) == 0 {
            watches.remove(key);
        }
        Ok(false)
    }

    /// Whether the server was told of anything on a connection of this identity.
    async fn is_watched(&self, identity: &Identity) -> bool {
        for (_, watch) in self.watches_of(identity) {
            if watch.told.lock().await.is_some() {
                return true;
            }
        }
        false
    }

    fn watches_of(&self, identity: &Identity) -> Vec<(Key, Arc<Watch>)> {
        let watches = locked(&self.watches.0);
        let of_it = watches.iter().filter(|((whose, _), _)| whose == identity);
        of_it.map(|(key, watch)| (key.clone(), Arc::clone(watch))).collect()
    }

    /// Whether anybody listens through this connection.
    pub(super) fn is_listened_to(&self, identity: &Identity) -> bool {
        locked(&self.watches.0).keys().any(|(whose, _)| whose == identity)
    }

    /// The server was started, or is another one: everything that was watched is again.
    pub(super) fn watch_all_again(self: &Arc<Self>) {
        let whose: BTreeSet<Identity> = locked(&self.watches.0).keys().map(|(whose, _)| whose.clone()).collect();
        for identity in whose.into_iter().filter(|identity| self.settings().is_reached_as(identity)) {
            tokio::spawn(Arc::clone(self).reach_again(identity));
        }
    }

    /// Another connection took the place of the one on which resources were watched. What changed meanwhile was said to nobody.
    async fn watch_again(self: &Arc<Self>, identity: &Identity) {
        for (key, watch) in self.watches_of(identity) {
            if watch.told.lock().await.is_none() {
                // Nobody was let listen yet.
                continue;
            }
            let (_, uri) = &key;
            match self.follow(&key, &watch).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(NotWatched::NoLink(_)) => return,
                Err(NotWatched::Refused(error)) => {
                    tracing::warn!(server = self.settings().name, uri, %error, "a resource is not told of any more");
                }
            }
            let params = Edit::new().with("uri", Document::string(uri)).document();
            self.says_of_resource(identity, &params);
        }
    }

    /// A connection is gone, or another one is there: where it told of resources, it is opened, as often as it takes.
    pub(super) async fn reach_again(self: Arc<Self>, identity: Identity) {
        let mut pause = PAUSES.0;
        while self.is_watched(&identity).await {
            if self.link_of(identity.clone()).await.is_ok() {
                return self.watch_again(&identity).await;
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// A resource changed, as the connection of this identity heard.
    pub(super) fn says_of_resource(&self, identity: &Identity, params: &Document) {
        let (server, identity) = (self.settings().name.clone(), identity.clone());
        let params = without_the_hop(params.root());
        // Nobody may be listening.
        let _ = self.said.send(Said::Resource { server, identity, params });
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let is_last = {
            let _watches = locked(&self.upstream.watches.0);
            let mut listeners = locked(&self.watch.listeners);
            *listeners -= 1;
            *listeners == 0
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if is_last {
            let (upstream, key, watch) = (Arc::clone(&self.upstream), self.key.clone(), Arc::clone(&self.watch));
            runtime.spawn(async move { drop(upstream.follow(&key, &watch).await) });
        }
    }
}

#[cfg(test)]
mod tests;
