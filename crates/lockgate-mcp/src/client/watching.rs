//! Resources of which a server is to tell that they changed.
//!
//! ```text
//! watch(uri) ─► legacy: resources/subscribe, and again in a session that takes the place of a lost one
//!           └─► modern: subscriptions/listen for all of them; another one takes its place when they are others, and only then it ends
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use lockgate_contract::document::Document;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::core::Core;
use super::exchange::Exchange;
use super::subscription::{FIRST_WAIT, LONGEST_WAIT};
use super::transport::FOR_EVER;
use super::{ClientError, Event, Patience};
use crate::wire::{Edit, Era};

/// How long a server may take to say what of a subscription it honours.
const TO_ACKNOWLEDGE: Duration = Duration::from_secs(10);

/// What is watched on one connection.
pub(super) struct Watching {
    wanted: watch::Sender<BTreeSet<String>>,
    /// What a modern server said to each.
    standing: watch::Sender<BTreeMap<String, Result<(), ClientError>>>,
    is_kept: AtomicBool,
}

impl Default for Watching {
    fn default() -> Self {
        let (wanted, standing) = (watch::Sender::default(), watch::Sender::default());
        Self { wanted, standing, is_kept: AtomicBool::new(false) }
    }
}

impl Core {
    /// From now on the server tells of changes of this resource.
    pub(super) async fn watch(self: &Arc<Self>, uri: &str) -> Result<(), ClientError> {
        if self.era() == Era::Legacy {
            self.about_resource("resources/subscribe", uri).await?;
            self.watching.want(uri);
            return Ok(());
        }
        let watching = &self.watching;
        watching.standing.send_modify(|standing| drop(standing.remove(uri)));
        watching.want(uri);
        if !watching.is_kept.swap(true, Ordering::AcqRel) {
            self.spawn(keep_listening(Arc::downgrade(self), watching.wanted.subscribe()));
        }
        let mut standing = watching.standing.subscribe();
        let patience = self.options.patience.absolute;
        let said = match timeout(patience, standing.wait_for(|standing| standing.contains_key(uri))).await {
            Ok(Ok(standing)) => standing.get(uri).cloned().unwrap_or(Ok(())),
            Ok(Err(_)) => Err(ClientError::Lost("its connection is gone".to_owned())),
            Err(_) => Err(not_acknowledged()),
        };
        if said.is_err() {
            self.watching.forget(uri);
        }
        said
    }

    /// From now on it need not.
    pub(super) async fn unwatch(self: &Arc<Self>, uri: &str) -> Result<(), ClientError> {
        self.watching.forget(uri);
        match self.era() {
            Era::Legacy => self.about_resource("resources/unsubscribe", uri).await,
            Era::Modern => Ok(()),
        }
    }

    /// Another session took the place of the one in which resources were watched. What changed meanwhile was said to nobody.
    pub(super) fn watch_again(self: &Arc<Self>) {
        let wanted = self.watching.wanted.borrow().clone();
        if wanted.is_empty() {
            return;
        }
        let weak = Arc::downgrade(self);
        self.spawn(async move {
            for uri in wanted {
                let Some(core) = weak.upgrade() else { return };
                if let Err(error) = core.about_resource("resources/subscribe", &uri).await {
                    core.noise(&format!("`{uri}` is not told of any more: {error}"));
                }
                core.may_have_changed(&uri);
            }
        });
    }

    fn may_have_changed(&self, uri: &str) {
        let params = Edit::new().with("uri", Document::string(uri)).document();
        self.listener.heard(Event::ResourceUpdated(params));
    }

    async fn about_resource(self: &Arc<Self>, method: &str, uri: &str) -> Result<(), ClientError> {
        let params = Edit::new().with("uri", Document::string(uri)).document();
        let (cancel, patience) = (CancellationToken::new(), self.options.patience);
        self.exchange(Exchange::of_ours(method, &params, patience, &cancel)).await.map(drop)
    }
}

impl Watching {
    fn want(&self, uri: &str) {
        self.wanted.send_modify(|wanted| {
            wanted.insert(uri.to_owned());
        });
    }

    fn forget(&self, uri: &str) {
        self.wanted.send_if_modified(|wanted| wanted.remove(uri));
        self.standing.send_modify(|standing| drop(standing.remove(uri)));
    }

    /// What the server honours of what it was asked for.
    fn stands(&self, asked: &BTreeSet<String>, honoured: &BTreeSet<String>) {
        self.standing.send_modify(|standing| {
            for uri in asked {
                let said = if honoured.contains(uri) { Ok(()) } else { Err(not_honoured()) };
                standing.insert(uri.clone(), said);
            }
        });
    }

    /// It refuses what it was asked for. What stood before still does.
    fn refused(&self, asked: &BTreeSet<String>, error: &ClientError) {
        self.standing.send_modify(|standing| {
            for uri in asked {
                standing.entry(uri.clone()).or_insert_with(|| Err(error.clone()));
            }
        });
    }
}

/// One `subscriptions/listen`, that goes on until this is dropped.
struct Stream {
    asked: BTreeSet<String>,
    honoured: BTreeSet<String>,
    task: AbortOnDropHandle<Result<Document, ClientError>>,
}

impl Stream {
    /// Opens one, and hears what the server honours of it.
    async fn open(core: &Arc<Core>, asked: BTreeSet<String>) -> Result<Self, ClientError> {
        let params =
            Document::from_json_value(&serde_json::json!({ "notifications": { "resourceSubscriptions": asked } }));
        let (sender, said) = oneshot::channel();
        let core = Arc::clone(core);
        let listening = async move {
            let (cancel, patience) = (CancellationToken::new(), Patience { idle: FOR_EVER, absolute: FOR_EVER });
            let asked = Exchange::of_ours("subscriptions/listen", &params, patience, &cancel);
            core.exchange(Exchange { acknowledged: Some(sender), ..asked }).await
        };
        let mut task = AbortOnDropHandle::new(tokio::spawn(listening));
        let acknowledged = tokio::select! {
            biased;
            Ok(said) = said => said,
            ended = &mut task => return Err(match ended {
                Ok(Err(ClientError::Cancelled) | Ok(_)) => not_honoured(),
                Ok(Err(error)) => error,
                Err(_) => ClientError::Lost("its connection is gone".to_owned()),
            }),
            () = sleep(TO_ACKNOWLEDGE) => return Err(not_acknowledged()),
        };
        let honoured = acknowledged.root().pointer("/notifications/resourceSubscriptions");
        let honoured: BTreeSet<String> = honoured.and_then(|honoured| honoured.decode().ok()).unwrap_or_default();
        Ok(Self { asked, honoured, task })
    }
}

/// Listens for as long as there is something to listen to, and the connection lasts.
async fn keep_listening(weak: Weak<Core>, mut wanted: watch::Receiver<BTreeSet<String>>) {
    let mut current: Option<Stream> = None;
    let (mut wait, mut was_lost) = (FIRST_WAIT, false);
    loop {
        let asked = wanted.borrow_and_update().clone();
        if asked.is_empty() {
            (current, was_lost) = (None, false);
        } else {
            let Some(core) = weak.upgrade().filter(|core| core.loss().is_none()) else { return };
            if current.as_ref().is_none_or(|stream| stream.asked != asked) {
                match Stream::open(&core, asked.clone()).await {
                    // The one before ends here: between the two nothing is missed.
                    Ok(stream) => current = Some(stream),
                    Err(error) => core.watching.refused(&asked, &error),
                }
            }
            if let Some(stream) = current.as_ref().filter(|stream| stream.asked == asked) {
                core.watching.stands(&asked, &stream.honoured);
                if std::mem::take(&mut was_lost) {
                    stream.honoured.iter().for_each(|uri| core.may_have_changed(uri));
                }
            }
        }
        let began = Instant::now();
        let is_over = match &mut current {
            Some(stream) => tokio::select! {
                changed = wanted.changed() => changed.is_err(),
                _ended = &mut stream.task => {
                    (current, was_lost) = (None, true);
                    // One that lasted was well.
                    wait = if began.elapsed() > LONGEST_WAIT { FIRST_WAIT } else { wait };
                    rest(&mut wanted, &mut wait).await
                }
            },
            None if asked.is_empty() => wanted.changed().await.is_err(),
            None => rest(&mut wanted, &mut wait).await,
        };
        if is_over {
            return;
        }
    }
}

/// Waits for a while, which grows, or until something else is wanted. Whether nobody will want anything any more.
async fn rest(wanted: &mut watch::Receiver<BTreeSet<String>>, wait: &mut Duration) -> bool {
    let rested = timeout(*wait, wanted.changed()).await;
    *wait = (*wait * 2).min(LONGEST_WAIT);
    matches!(rested, Ok(Err(_)))
}

fn not_honoured() -> ClientError {
    ClientError::Invalid("it does not tell of changes of this resource".to_owned())
}

fn not_acknowledged() -> ClientError {
    ClientError::Lost("it does not say whether it tells of changes of this resource".to_owned())
}
