//! `subscriptions/listen`: what changes, told for as long as a client listens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockgate_contract::document::{Document, Kind};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::admission::Permit;
use super::desk::Desk;
use super::peer::Asker;
use super::result::Answer;
use super::session::{list_changed, uri_params};
use super::turn::{Turn, asker};
use super::{Asked, Change, Peer as _, Principal, Subscription};
use crate::client::List;
use crate::wire::{Edit, Message, Notification, RequestId, RpcError, follows_tasks, key};

/// How many resources, and how many tasks, one request may listen to.
pub(super) const MOST_NAMED: usize = 1024;

/// One client that listens.
pub(super) struct Listening {
    desk: Arc<Desk>,
    peer: Arc<Asker>,
    id: RequestId,
    subscription: Document,
    honoured: Honoured,
    changes: Receiver<Change>,
    /// What is to be said before anything else.
    unsaid: Vec<String>,
    ended: bool,
    permit: Permit,
}

/// What is listened to.
#[derive(Default)]
struct Honoured {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: BTreeMap<String, Subscription>,
    tasks: BTreeSet<String>,
}

impl Listening {
    /// Begins to listen, to as much of what is asked for as there is.
    pub(super) async fn begin(
        desk: &Arc<Desk>,
        principal: Principal,
        id: RequestId,
        capabilities: Document,
        params: &Document,
        permit: Permit,
    ) -> Turn {
        let Some(wanted) = params.root().get("notifications").filter(|wanted| wanted.kind() == Kind::Object) else {
            return Turn::refused(id, RpcError::invalid_params("`notifications` is no object"));
        };
        let names = |member: &str| -> Option<BTreeSet<String>> {
            let Some(names) = wanted.get(member) else { return Some(BTreeSet::new()) };
            let names: BTreeSet<String> = names.decode().ok()?;
            (names.len() <= MOST_NAMED).then_some(names)
        };
        let (Some(uris), Some(tasks)) = (names("resourceSubscriptions"), names("taskIds")) else {
            let error = format!("`resourceSubscriptions` and `taskIds` are lists of at most {MOST_NAMED} texts");
            return Turn::refused(id, RpcError::invalid_params(error));
        };
        // First, so that nothing between this and the acknowledgement is missed.
        let changes = desk.service.changes(&principal);
        let offered = desk.service.facts(&principal).capabilities;
        let offers = |pointer: &str| offered.root().pointer(pointer).and_then(|offer| offer.as_bool()) == Some(true);
        let wants = |member: &str| wanted.get(member).and_then(|want| want.as_bool()) == Some(true);
        let tasks = if follows_tasks(capabilities.root()) { tasks } else { BTreeSet::new() };
        let of_task = |task: &str| Edit::new().with("taskId", Document::string(task)).document();
        let mut honoured = Honoured {
            tools: wants("toolsListChanged") && offers("/tools/listChanged"),
            prompts: wants("promptsListChanged") && offers("/prompts/listChanged"),
            resources: wants("resourcesListChanged") && offers("/resources/listChanged"),
            uris: BTreeMap::new(),
            tasks: BTreeSet::new(),
        };
        // Nobody can be asked anything before the answer is begun.
        let mut capabilities = Edit::of(capabilities.root());
        capabilities.retain(|name| name == "extensions");
        let peer = asker(desk, principal, capabilities.document(), params);
        let subscription = Document::from_serialize(&id).unwrap_or_else(|_| Document::null());
        let mut listening = Self {
            desk: Arc::clone(desk),
            peer,
            id,
            subscription,
            honoured: Honoured::default(),
            changes,
            unsaid: Vec::new(),
            ended: false,
            permit,
        };
        if offers("/resources/subscribe") {
            for uri in uris {
                let asked = listening.about("resources/subscribe", uri_params(&uri));
                if let Ok(subscription) = desk.service.subscribe(asked).await {
                    honoured.uris.insert(uri, subscription);
                }
            }
        }
        for task in tasks {
            // Of another's, and of one that is not there, nobody hears.
            if desk.service.answer(listening.about("tasks/get", of_task(&task))).await.is_ok() {
                honoured.tasks.insert(task);
            }
        }
        listening.honoured = honoured;
        listening.unsaid.push(listening.acknowledgement());
        Turn::Listen(Box::new(listening))
    }

    /// Fires when the client does not listen any more.
    pub(super) fn cancel(&self) -> &CancellationToken {
        self.peer.cancel()
    }

    /// Fires when the client may listen no more.
    pub(super) fn revoked(&self) -> &CancellationToken {
        self.permit.revoked()
    }

    /// The next message; nothing after the last, and where the client went away.
    pub(super) async fn next(&mut self) -> Option<String> {
        if let Some(unsaid) = self.unsaid.pop() {
            return Some(unsaid);
        }
        let cancel = self.peer.cancel().clone();
        while !self.ended {
            // Where there is nothing to listen to, nobody holds a connection for it.
            let change = if self.honoured.is_empty() {
                Err(RecvError::Closed)
            } else {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => return None,
                    () = self.desk.closing.cancelled() => Err(RecvError::Closed),
                    change = self.changes.recv() => change,
                }
            };
            match change {
                Ok(change) => {
                    if let Some(text) = self.tells(change) {
                        return Some(text);
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    self.unsaid = self.honoured.all().into_iter().filter_map(|change| self.tells(change)).collect();
                    if let Some(unsaid) = self.unsaid.pop() {
                        return Some(unsaid);
                    }
                }
                Err(RecvError::Closed) => {
                    self.ended = true;
                    return Some(self.ending());
                }
            }
        }
        None
    }

    fn tells(&self, change: Change) -> Option<String> {
        let honoured = &self.honoured;
        let (method, params) = match change {
            Change::List(list) => {
                let wanted = match list {
                    List::Tools => honoured.tools,
                    List::Prompts => honoured.prompts,
                    List::Resources | List::ResourceTemplates => honoured.resources,
                };
                (wanted.then(|| list_changed(list))?, Document::empty_object())
            }
            Change::Resource { params, user } => {
                let uri = params.root().get("uri").and_then(|uri| uri.as_str())?;
                let hears = self.peer.principal().hears_of(user.as_ref()) && honoured.uris.contains_key(uri.as_ref());
                (hears.then_some("notifications/resources/updated")?, params)
            }
            Change::Task(params) => {
                let task = params.root().get("taskId").and_then(|task| task.as_str())?;
                (honoured.tasks.contains(task.as_ref()).then_some("notifications/tasks")?, params)
            }
            // Log messages belong to requests that ask for them.
            Change::Log(_) => return None,
        };
        Some(self.notification(method, &params))
    }

    fn notification(&self, method: &str, params: &Document) -> String {
        let meta = params.root().get("_meta").map_or_else(Edit::new, Edit::of);
        let meta = meta.with(key::SUBSCRIPTION_ID, self.subscription.clone()).document();
        let params = Edit::of(params.root()).with("_meta", meta).document();
        Message::Notification(Notification { method: method.to_owned(), params: Some(params) }).text()
    }

    fn acknowledgement(&self) -> String {
        let honoured = &self.honoured;
        let yes = |honoured: bool| honoured.then(|| Document::boolean(true));
        let names = |names: Vec<&String>| {
            (!names.is_empty()).then(|| Document::from_serialize(&names).unwrap_or_else(|_| Document::empty_array()))
        };
        let notifications = Edit::new()
            .with_some("toolsListChanged", yes(honoured.tools))
            .with_some("promptsListChanged", yes(honoured.prompts))
            .with_some("resourcesListChanged", yes(honoured.resources))
            .with_some("resourceSubscriptions", names(honoured.uris.keys().collect()))
            .with_some("taskIds", names(honoured.tasks.iter().collect()))
            .document();
        let params = Edit::new().with("notifications", notifications).document();
        self.notification("notifications/subscriptions/acknowledged", &params)
    }

    fn ending(&self) -> String {
        let info = self.desk.info(self.peer.principal()).clone();
        let meta = Edit::new().with(key::SUBSCRIPTION_ID, self.subscription.clone()).with(key::SERVER_INFO, info);
        let result = Edit::new().with("resultType", Document::string("complete")).with("_meta", meta.document());
        Answer::as_it_is(&self.id, result.document()).text
    }

    fn about(&self, method: &str, params: Document) -> Asked {
        Asked { method: method.to_owned(), params, peer: Arc::clone(&self.peer) as _ }
    }
}

impl Honoured {
    fn is_empty(&self) -> bool {
        !(self.tools || self.prompts || self.resources) && self.uris.is_empty() && self.tasks.is_empty()
    }

    /// Everything that may have changed where changes were missed.
    fn all(&self) -> Vec<Change> {
        let lists = [(self.tools, List::Tools), (self.prompts, List::Prompts), (self.resources, List::Resources)];
        let lists = lists.into_iter().filter(|(honoured, _)| *honoured).map(|(_, list)| Change::List(list));
        let updated = |uri: &String| Change::Resource { params: uri_params(uri), user: None };
        lists.chain(self.uris.keys().map(updated)).collect()
    }
}
