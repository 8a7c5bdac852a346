//! What a request leads to, and how a modern request is read.

use std::sync::Arc;

use lockgate_contract::document::{Document, Kind, Node};
use tokio_util::sync::CancellationToken;

use super::Principal;
use super::admission::Permit;
use super::call::{Call, needs_tasks};
use super::desk::Desk;
use super::level::Level;
use super::listen::Listening;
use super::peer::{Asker, Wants};
use super::question::Answers;
use super::result::Answer;
use super::seal::{Bound, digest};
use crate::wire::{Edit, Request, RequestId, RpcError, Version, code, follows_tasks, key};

/// What a request leads to.
pub(super) enum Turn {
    /// The answer, at once.
    Ready(Answer),
    /// A call.
    Call(Call),
    /// Messages for as long as the client listens.
    Listen(Box<Listening>),
}

impl Turn {
    /// An answer that the service never heard of.
    pub(super) fn refused(id: RequestId, error: RpcError) -> Self {
        Self::Ready(Answer::refused(Some(id), error))
    }
}

/// What a modern request says about itself.
pub(super) struct Envelope {
    capabilities: Document,
    wants: Wants,
}

/// The version that a request names in its `_meta`: what makes it a modern one.
pub(super) fn named_version(params: Option<&Document>) -> Option<String> {
    let meta = params?.root().get("_meta")?;
    meta.get(key::PROTOCOL_VERSION).and_then(|version| version.as_str()).map(std::borrow::Cow::into_owned)
}

/// The token under which a request wants to hear of progress.
pub(super) fn progress_token(params: &Document) -> Option<Document> {
    let token = params.root().get("_meta")?.get(key::PROGRESS_TOKEN)?;
    matches!(token.kind(), Kind::String | Kind::Number).then(|| token.to_document())
}

/// What a request that names no version is told.
pub(super) fn names_no_version() -> RpcError {
    RpcError::invalid_params(format!("`_meta` has no `{}`", key::PROTOCOL_VERSION))
}

/// What a request of a version is told that is not spoken here.
pub(super) fn not_spoken(version: &str) -> RpcError {
    let data = Edit::new().with("supported", spoken()).with("requested", Document::string(version)).document();
    RpcError::new(code::UNSUPPORTED_VERSION, "this version is not spoken here").with_data(data)
}

/// The versions that a request can name here.
fn spoken() -> Document {
    Document::from_serialize(&Version::NAMED.map(Version::word)).unwrap_or_else(|_| Document::empty_array())
}

impl Envelope {
    /// Reads what stands in `_meta`.
    ///
    /// # Errors
    ///
    /// The version is not spoken here, or something that every request has to say is missing.
    pub(super) fn read(version: &str, params: &Document, stream: bool) -> Result<Self, RpcError> {
        if Version::read(version).is_none_or(|version| !Version::NAMED.contains(&version)) {
            return Err(not_spoken(version));
        }
        let meta = params.root().get("_meta");
        let capabilities = meta.and_then(|meta| meta.get(key::CLIENT_CAPABILITIES));
        let Some(capabilities) = capabilities.filter(|capabilities| capabilities.kind() == Kind::Object) else {
            return Err(RpcError::invalid_params(format!("`_meta` has no object `{}`", key::CLIENT_CAPABILITIES)));
        };
        let level = match meta.and_then(|meta| meta.get(key::LOG_LEVEL)) {
            None => None,
            Some(level) => match level.as_str().as_deref().and_then(Level::read) {
                None => return Err(RpcError::invalid_params(format!("`{}` is no level", key::LOG_LEVEL))),
                level => level,
            },
        };
        let wants = Wants { progress: progress_token(params), level, stream };
        Ok(Self { capabilities: capabilities.to_document(), wants })
    }
}

/// Takes a modern request, whose headers were checked.
pub(super) async fn take(
    desk: &Arc<Desk>,
    principal: Principal,
    request: Request,
    envelope: Envelope,
    permit: Permit,
) -> Turn {
    let Request { id, method, params } = request;
    let params = params.unwrap_or_else(Document::empty_object);
    let Envelope { capabilities, wants } = envelope;
    match method.as_str() {
        "server/discover" => Turn::Ready(discover(desk, &principal, &id)),
        "subscriptions/listen" => Listening::begin(desk, principal, id, capabilities, &params, permit).await,
        "tasks/get" | "tasks/update" | "tasks/cancel" if !follows_tasks(capabilities.root()) => {
            Turn::refused(id, needs_tasks())
        }
        "tools/call" | "prompts/get" | "resources/read" => {
            let root = params.root();
            let mut given = Answers::new();
            for (key, answer) in root.get("inputResponses").iter().flat_map(Node::members) {
                given.insert(key.into_owned(), answer.to_document());
            }
            if let Some(state) = root.get("requestState") {
                let bound = Bound { credential: &principal.credential, method: &method, digest: digest(&params) };
                let waiting = match state.as_str() {
                    Some(state) => desk.parking.claim(&state, &bound).await,
                    None => None,
                };
                let Some((call, question)) = waiting else {
                    let error = "`requestState` is none that this request can go on with: it is not yours, was used, or is too old";
                    return Turn::refused(id, RpcError::invalid_params(error));
                };
                return match call.resume(question, id, capabilities, wants, given, permit) {
                    Ok(call) => Turn::Call(call),
                    Err(answer) => Turn::Ready(answer),
                };
            }
            let params = match root.get("inputResponses") {
                Some(_) => Edit::of(root).without("inputResponses").document(),
                None => params.clone(),
            };
            let peer = asker(desk, principal, capabilities, &params);
            peer.wants(wants, given);
            Turn::Call(Call::begin(Arc::clone(desk), peer, id, method, params, permit))
        }
        "tools/list"
        | "resources/list"
        | "resources/templates/list"
        | "prompts/list"
        | "completion/complete"
        | "tasks/get"
        | "tasks/update"
        | "tasks/cancel" => {
            let peer = asker(desk, principal, capabilities, &params);
            peer.wants(wants, Answers::new());
            Turn::Call(Call::begin(Arc::clone(desk), peer, id, method, params, permit))
        }
        _ => Turn::refused(id, RpcError::method_not_found(&method)),
    }
}

/// Whoever sent a modern request.
pub(super) fn asker(desk: &Desk, principal: Principal, capabilities: Document, params: &Document) -> Arc<Asker> {
    let cancel = CancellationToken::new();
    let patience = desk.limits.answer_within;
    Arc::new(Asker::new(principal, Version::V2026_07_28, capabilities, params, None, cancel, patience))
}

fn discover(desk: &Desk, principal: &Principal, id: &RequestId) -> Answer {
    let facts = desk.service.facts(principal);
    let result = Edit::new()
        .with("supportedVersions", spoken())
        .with("capabilities", facts.capabilities)
        .with_some("instructions", facts.instructions.as_deref().map(Document::string));
    Answer::modern(id, "server/discover", &result.document(), desk.info(principal).text())
}
