//! One client of the legacy era, from `initialize` on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::ports::Unanswered;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::admission::Permit;
use super::call::Call;
use super::desk::Desk;
use super::level::Level;
use super::listen::MOST_NAMED;
use super::peer::{Asker, Wants};
use super::question::{Answers, is_answer, lacking, method, mode};
use super::result::Answer;
use super::turn::Turn;
use super::{Asked, Change, Peer as _, Principal, Subscription};
use crate::client::List;
use crate::wire::{Edit, Era, Message, Notification, Request, RequestId, Response, RpcError, Version, code};

/// A session: what was agreed on, and what is under way.
pub(super) struct Session {
    /// Whose it is. Nobody else's requests are taken for it.
    pub(super) principal: Principal,
    /// What was agreed on.
    pub(super) version: Version,
    capabilities: Document,
    patience: Duration,
    /// Fires when it is over.
    pub(super) ended: CancellationToken,
    state: Mutex<State>,
}

struct State {
    level: Level,
    subscribed: BTreeMap<String, Subscription>,
    questions: HashMap<i64, oneshot::Sender<Result<Document, RpcError>>>,
    last_question: i64,
    under_way: HashMap<RequestId, CancellationToken>,
}

impl Session {
    /// Begins a session: the answer to `initialize`, and the session.
    pub(super) fn begin(desk: &Desk, principal: Principal, request: Request) -> Result<(Arc<Self>, Answer), Answer> {
        let Request { id, params, .. } = request;
        let params = params.unwrap_or_else(Document::empty_object);
        let root = params.root();
        let Some(asked) = root.get("protocolVersion").and_then(|version| version.as_str()) else {
            let error = RpcError::invalid_params("`protocolVersion` is missing");
            return Err(Answer::refused(Some(id), error));
        };
        // A version that is not spoken, and one that has no handshake, are both answered with the newest that has one.
        let version = Version::read(&asked).filter(|version| version.era() == Era::Legacy);
        let version = version.unwrap_or(Version::NEWEST_LEGACY);
        let capabilities = root.get("capabilities").filter(|capabilities| capabilities.kind() == Kind::Object);
        let capabilities = capabilities.map_or_else(Document::empty_object, |capabilities| capabilities.to_document());
        let facts = desk.service.facts(&principal);
        let result = Edit::new()
            .with("protocolVersion", Document::string(version.word()))
            .with("capabilities", Edit::of(facts.capabilities.root()).without("extensions").document())
            .with("serverInfo", facts.info)
            .with_some("instructions", facts.instructions.as_deref().map(Document::string));
        let answer = Answer::legacy(&id, "initialize", &result.document());
        let state = State {
            level: Level::Info,
            subscribed: BTreeMap::new(),
            questions: HashMap::new(),
            last_question: 0,
            under_way: HashMap::new(),
        };
        let (patience, ended) = (desk.limits.answer_within, CancellationToken::new());
        Ok((Arc::new(Self { principal, version, capabilities, patience, ended, state: Mutex::new(state) }), answer))
    }

    /// Takes a request of its owner, as the door knows it now. Its sender can hear messages before the answer where `stream` says so.
    pub(super) fn request(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        principal: Principal,
        request: Request,
        permit: Permit,
        stream: bool,
    ) -> Turn {
        let Request { id, method, params } = request;
        let params = params.unwrap_or_else(Document::empty_object);
        let empty = |id: &RequestId| Turn::Ready(Answer::as_it_is(id, Document::empty_object()));
        match method.as_str() {
            "ping" => empty(&id),
            "logging/setLevel" => {
                let level = params.root().get("level").and_then(|level| level.as_str());
                let Some(level) = level.as_deref().and_then(Level::read) else {
                    return Turn::refused(id, RpcError::invalid_params("`level` is none of the protocol's levels"));
                };
                self.state().level = level;
                empty(&id)
            }
            "initialize" => {
                Turn::refused(id, RpcError::new(code::INVALID_REQUEST, "this session was initialized already"))
            }
            "tools/list"
            | "tools/call"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "prompts/list"
            | "prompts/get"
            | "completion/complete" => {
                let wants = Wants { progress: super::turn::progress_token(&params), level: None, stream };
                let (peer, under_way) = self.begun(principal, &id, &params, wants);
                Turn::Call(Call::begin(Arc::clone(desk), peer, id, method, params, permit).within(under_way))
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                let uri = params.root().get("uri").and_then(|uri| uri.as_str()).map(std::borrow::Cow::into_owned);
                let Some(uri) = uri else { return Turn::refused(id, RpcError::invalid_params("`uri` is missing")) };
                if method == "resources/unsubscribe" {
                    let left = self.state().subscribed.remove(&uri);
                    drop(left);
                    return empty(&id);
                }
                let wants = Wants { progress: super::turn::progress_token(&params), level: None, stream };
                let (peer, under_way) = self.begun(principal, &id, &params, wants);
                let asked = Asked { method: method.clone(), params: params.clone(), peer: Arc::clone(&peer) as _ };
                let (session, service) = (Arc::clone(self), Arc::clone(&desk.service));
                let subscribing = Box::pin(async move {
                    let subscription = service.subscribe(asked).await?;
                    session.listens(uri, subscription)
                });
                let call = Call::of(Arc::clone(desk), peer, id, method, params, permit, subscribing);
                Turn::Call(call.within(under_way))
            }
            _ => Turn::refused(id, RpcError::method_not_found(&method)),
        }
    }

    /// Whoever sent a request, which is under way from now on.
    fn begun(
        self: &Arc<Self>,
        principal: Principal,
        id: &RequestId,
        params: &Document,
        wants: Wants,
    ) -> (Arc<Asker>, UnderWay) {
        let peer = Arc::new(self.asker(principal, params));
        peer.wants(wants, Answers::new());
        self.state().under_way.insert(id.clone(), peer.cancel().clone());
        (peer, UnderWay { session: Arc::clone(self), id: id.clone() })
    }

    /// It listens to a resource; once, however often it says so.
    fn listens(&self, uri: String, subscription: Subscription) -> Result<Document, RpcError> {
        let mut state = self.state();
        if state.subscribed.len() >= MOST_NAMED && !state.subscribed.contains_key(&uri) {
            return Err(RpcError::invalid_params(format!("a session listens to at most {MOST_NAMED} resources")));
        }
        let before =
            if self.ended.is_cancelled() { Some(subscription) } else { state.subscribed.insert(uri, subscription) };
        drop(state);
        drop(before);
        Ok(Document::empty_object())
    }

    /// Takes a notification.
    pub(super) fn notified(&self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = notification.params.as_ref().and_then(|params| params.root().get("requestId"));
        if let Some(id) = id.and_then(RequestId::of)
            && let Some(cancel) = self.state().under_way.get(&id)
        {
            cancel.cancel();
        }
    }

    /// Takes an answer to a question of ours.
    pub(super) fn answered(&self, response: Response) {
        let Some(RequestId::Number(id)) = response.id else { return };
        // An answer to nothing, and the second one, change nothing.
        let asked = self.state().questions.remove(&id);
        if let Some(asked) = asked {
            let _nobody_waits = asked.send(response.outcome);
        }
    }

    /// Asks the client on the stream of one of its requests, and waits for all answers.
    pub(super) async fn ask(&self, asker: &Asker, questions: &Document) -> Result<Document, Unanswered> {
        if !asker.hears() {
            return Err(Unanswered::Cannot("a stream for questions".to_owned()));
        }
        for (_, question) in questions.root().members() {
            if let Some(lacking) = self.lacking(question) {
                return Err(Unanswered::Cannot(lacking));
            }
        }
        let until = Instant::now() + asker.patience();
        let mut waiting = Vec::new();
        for (key, question) in questions.root().members() {
            let (answer, answered) = oneshot::channel();
            let id = {
                let mut state = self.state();
                state.last_question += 1;
                let id = state.last_question;
                state.questions.insert(id, answer);
                id
            };
            waiting.push((key, question, Open { session: self, id }, answered));
            asker.tell(Message::Request(Self::question(id, question)).text());
        }
        let mut answers = Vec::new();
        for (key, question, _open, answered) in waiting {
            let answer = tokio::select! {
                answer = answered => answer.map_err(|_| Unanswered::Gone)?,
                () = asker.cancel().cancelled() => return Err(Unanswered::Gone),
                () = sleep_until(until) => return Err(Unanswered::Gone),
            };
            match answer {
                Ok(answer) if is_answer(question, answer.root()) => answers.push((key, answer)),
                Err(error) if error.code == code::METHOD_NOT_FOUND => {
                    return Err(Unanswered::Cannot(method(question).unwrap_or_default().into_owned()));
                }
                Ok(_) | Err(_) => return Err(Unanswered::Gone),
            }
        }
        let answers = answers.iter().fold(Edit::new(), |all, (key, answer)| all.with(key, answer.clone()));
        Ok(answers.document())
    }

    /// The message that tells this client of a change, where it wants to hear of it.
    pub(super) fn tells(&self, change: &Change) -> Option<String> {
        let (method, params) = match change {
            Change::List(list) => (list_changed(*list), None),
            Change::Resource { params, user } => {
                let uri = params.root().get("uri").and_then(|uri| uri.as_str())?;
                if !self.principal.hears_of(user.as_ref()) || !self.state().subscribed.contains_key(uri.as_ref()) {
                    return None;
                }
                ("notifications/resources/updated", Some(params.clone()))
            }
            Change::Log(params) => {
                let level = params.root().get("level").and_then(|level| level.as_str());
                if level.as_deref().and_then(Level::read)? < self.level() {
                    return None;
                }
                ("notifications/message", Some(params.clone()))
            }
            // Tasks of that era were another thing.
            Change::Task(_) => return None,
        };
        Some(Message::Notification(Notification { method: method.to_owned(), params }).text())
    }

    /// What this client is told where changes were missed: that everything may have changed.
    pub(super) fn tells_of_missed(&self) -> Vec<String> {
        let lists = [List::Tools, List::Prompts, List::Resources].map(Change::List);
        let uris: Vec<String> = self.state().subscribed.keys().cloned().collect();
        let updated = uris.iter().map(|uri| Change::Resource { params: uri_params(uri), user: None });
        lists.into_iter().chain(updated).filter_map(|change| self.tells(&change)).collect()
    }

    /// From which level on the client wants log messages.
    pub(super) fn level(&self) -> Level {
        self.state().level
    }

    /// Ends it: what it has under way is cancelled, and it listens to nothing any more.
    pub(super) fn end(&self) {
        self.ended.cancel();
        let (under_way, subscribed) = {
            let mut state = self.state();
            (std::mem::take(&mut state.under_way), std::mem::take(&mut state.subscribed))
        };
        under_way.values().for_each(CancellationToken::cancel);
        drop(subscribed);
    }

    fn asker(self: &Arc<Self>, principal: Principal, params: &Document) -> Asker {
        let (capabilities, session) = (self.capabilities.clone(), Some(Arc::clone(self)));
        let cancel = self.ended.child_token();
        Asker::new(principal, self.version, capabilities, params, session, cancel, self.patience)
    }

    fn lacking(&self, question: Node<'_>) -> Option<String> {
        let since = match method(question).as_deref() {
            Some("elicitation/create") if mode(question.get("params")).as_deref() == Some("url") => {
                Version::V2025_11_25
            }
            Some("elicitation/create") => Version::V2025_06_18,
            _ => Version::V2024_11_05,
        };
        if self.version < since {
            return Some(format!("version {}", since.word()));
        }
        lacking(question, self.capabilities.root())
    }

    fn question(id: i64, question: Node<'_>) -> Request {
        let params = question.get("params").map(|params| {
            let by_url = mode(Some(params)).as_deref() == Some("url");
            if by_url && params.get("elicitationId").is_none() {
                // Gone in 2026-07-28, needed before.
                Edit::of(params).with("elicitationId", Document::string(&format!("question-{id}"))).document()
            } else {
                params.to_document()
            }
        });
        let method = method(question).unwrap_or_default().into_owned();
        Request { id: RequestId::Number(id), method, params }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that is open as long as somebody waits.
struct Open<'a> {
    session: &'a Session,
    id: i64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.session.state().questions.remove(&self.id);
    }
}

/// A request that is under way in a session.
pub(super) struct UnderWay {
    session: Arc<Session>,
    id: RequestId,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.session.state().under_way.remove(&self.id);
    }
}

/// What a client is told of when a list changed. Templates belong to the resources.
pub(super) fn list_changed(list: List) -> &'static str {
    match list {
        List::Tools => "notifications/tools/list_changed",
        List::Prompts => "notifications/prompts/list_changed",
        List::Resources | List::ResourceTemplates => "notifications/resources/list_changed",
    }
}

/// `{"uri"}`.
pub(super) fn uri_params(uri: &str) -> Document {
    Edit::new().with("uri", Document::string(uri)).document()
}
