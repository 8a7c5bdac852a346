//! Requests of the modern era: each says everything about itself, in its body and again in its headers.

use http::request::Parts;
use http::{Response, StatusCode};
use lockgate_contract::document::{Document, Node};

use super::events::{EventLog, Held};
use super::headers::Accepts;
use super::{Body, Endpoint, VERSION, answered, empty, events, headers, refusal};
use crate::server::Principal;
use crate::server::admission::Stay;
use crate::server::mirror::mismatch;
use crate::server::result::Answer;
use crate::server::turn::{self, Envelope, Turn, named_version, names_no_version};
use crate::wire::{Era, Message, Request, RpcError, Version, code, decoded};

/// Whether a message is of the modern era: it names its version in its `_meta`, or its header names one that has no handshake, or it
/// asks what only that era has.
pub(super) fn is_modern(parts: &Parts, message: &Message) -> bool {
    let header = || headers::version(parts).and_then(Version::read).is_some_and(|version| version.era() == Era::Modern);
    match message {
        Message::Request(request) => {
            named_version(request.params.as_ref()).is_some() || header() || request.method == "server/discover"
        }
        Message::Notification(notification) => named_version(notification.params.as_ref()).is_some() || header(),
        Message::Response(_) => header(),
    }
}

impl Endpoint {
    pub(super) async fn modern(
        &self,
        parts: &Parts,
        accepts: Accepts,
        message: Message,
        principal: Principal,
    ) -> Response<Body> {
        let request = match message {
            Message::Request(request) => request,
            // Nothing that a client can tell: over HTTP a closed connection cancels.
            Message::Notification(_) => return empty(StatusCode::ACCEPTED),
            Message::Response(_) => {
                let error =
                    RpcError::new(code::INVALID_REQUEST, "this server asks nothing that a message could answer");
                return refusal(StatusCode::BAD_REQUEST, &error);
            }
        };
        let refused =
            |request: &Request, error| answered(Era::Modern, Answer::refused(Some(request.id.clone()), error));
        let envelope = match self.envelope(parts, accepts, &request, &principal) {
            Ok(envelope) => envelope,
            Err(error) => return refused(&request, error),
        };
        if request.method == "subscriptions/listen" && !accepts.events {
            let error = RpcError::new(code::INVALID_REQUEST, "`Accept` has to name `text/event-stream`");
            return refusal(StatusCode::NOT_ACCEPTABLE, &error);
        }
        let desk = &self.inner.desk;
        let is_listening = request.method == "subscriptions/listen";
        let stay = if is_listening { Stay::Listening } else { Stay::UntilAnswered };
        let permit = match desk.admit(&principal, stay) {
            Ok(permit) => permit,
            Err(error) => return refusal(StatusCode::TOO_MANY_REQUESTS, &error),
        };
        match turn::take(desk, principal, request, envelope, permit).await {
            Turn::Ready(answer) => answered(Era::Modern, answer),
            Turn::Call(call) => self.call(call, accepts, None).await,
            Turn::Listen(mut listening) => {
                let log = EventLog::new(None);
                let (gone, revoked) = (Some(listening.cancel().clone().drop_guard()), listening.revoked().clone());
                let body = log.read(None, self.inner.options.keep_alive, Held { gone, revoked, besides: None });
                desk.tasks.spawn(async move {
                    let cancel = listening.cancel().clone();
                    while let Some(text) = listening.next().await {
                        log.push(text, false);
                        // Whoever reads slowly misses what comes meanwhile, and is told so.
                        tokio::select! {
                            () = log.room() => {}
                            () = cancel.cancelled() => {}
                        }
                    }
                    log.end();
                });
                events(body)
            }
        }
    }

    /// Reads what a request says about itself, and whether its headers say the same.
    fn envelope(
        &self,
        parts: &Parts,
        accepts: Accepts,
        request: &Request,
        principal: &Principal,
    ) -> Result<Envelope, RpcError> {
        let empty = Document::empty_object();
        let params = request.params.as_ref().unwrap_or(&empty);
        let version = named_version(request.params.as_ref()).ok_or_else(names_no_version)?;
        if headers::version(parts) != Some(version.as_str()) {
            return Err(mismatch(VERSION.as_str()));
        }
        let envelope = Envelope::read(&version, params, accepts.events)?;
        says(parts, "mcp-method", &request.method)?;
        if let Some(name) = name(&request.method, params.root()) {
            says(parts, "mcp-name", &name)?;
            if request.method == "tools/call"
                && let Some(mirrors) = self.inner.desk.service.mirrors(principal, &name)
            {
                mirrors.check(&parts.headers, params.root().get("arguments"))?;
            }
        }
        Ok(envelope)
    }
}

/// What a request is about, as its header says it again.
fn name<'a>(method: &str, params: Node<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params.get(member)?.as_str()
}

/// Whether a header says this, once.
fn says(parts: &Parts, header: &'static str, what: &str) -> Result<(), RpcError> {
    let mut values = parts.headers.get_all(header).iter();
    let said = values.next().and_then(decoded);
    if said.as_deref() == Some(what) && values.next().is_none() { Ok(()) } else { Err(mismatch(header)) }
}
