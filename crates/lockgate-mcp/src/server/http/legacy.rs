//! Requests of the legacy era: they belong to a session.

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::events::{Held, event_id};
use super::headers::Accepts;
use super::sessions::Busy;
use super::{Body, Endpoint, SESSION, VERSION, answered, empty, events, headers, refusal};
use crate::server::Principal;
use crate::server::admission::Stay;
use crate::server::result::Answer;
use crate::server::session::Session;
use crate::server::turn::Turn;
use crate::wire::{Era, Message, RpcError, Version, code};

impl Endpoint {
    pub(super) async fn legacy(
        &self,
        parts: &Parts,
        accepts: Accepts,
        message: Message,
        principal: Principal,
    ) -> Response<Body> {
        let desk = &self.inner.desk;
        if let Message::Request(request) = &message
            && request.method == "initialize"
        {
            let Message::Request(request) = message else { return empty(StatusCode::ACCEPTED) };
            return self.initialize(principal, request);
        }
        let session = match self.session(parts, &principal) {
            Ok(session) => session,
            Err((status, error)) => return refusal(status, &error),
        };
        match message {
            Message::Notification(notification) => {
                session.session.notified(&notification);
                empty(StatusCode::ACCEPTED)
            }
            Message::Response(response) => {
                session.session.answered(response);
                empty(StatusCode::ACCEPTED)
            }
            Message::Request(request) => {
                let permit = match desk.admit(&principal, Stay::UntilAnswered) {
                    Ok(permit) => permit,
                    Err(error) => return refusal(StatusCode::TOO_MANY_REQUESTS, &error),
                };
                match session.session.request(desk, principal, request, permit, accepts.events) {
                    Turn::Ready(answer) => answered(Era::Legacy, answer),
                    Turn::Call(call) => self.call(call, accepts, Some(session)).await,
                    // Legacy clients open a stream of their own.
                    Turn::Listen(_) => empty(StatusCode::ACCEPTED),
                }
            }
        }
    }

    /// The stream of what belongs to no request, or one that a client lost.
    pub(super) fn stream_of_session(&self, parts: &Parts, principal: &Principal) -> Response<Body> {
        let invalid = |status, why: &str| refusal(status, &RpcError::new(code::INVALID_REQUEST, why));
        if !Accepts::of(parts).is_some_and(|accepts| accepts.events) {
            return invalid(StatusCode::NOT_ACCEPTABLE, "`Accept` has to name `text/event-stream`");
        }
        let session = match self.session(parts, principal) {
            Ok(session) => session,
            Err((status, error)) => return refusal(status, &error),
        };
        let permit = match self.inner.desk.admit(principal, Stay::Listening) {
            Ok(permit) => permit,
            Err(error) => return refusal(StatusCode::TOO_MANY_REQUESTS, &error),
        };
        let (log, after) = match parts.headers.get("last-event-id") {
            None => (session.general(&self.inner.desk), None),
            Some(last) => {
                let last = last.to_str().ok().and_then(event_id);
                let Some((log, event)) = last.and_then(|(stream, event)| Some((session.kept(stream)?, event))) else {
                    return invalid(StatusCode::BAD_REQUEST, "the stream of `Last-Event-ID` is not kept any more");
                };
                (log, Some(event))
            }
        };
        let revoked = permit.revoked().clone();
        let held = Held { gone: None, revoked, besides: Some(Box::new((session, permit))) };
        events(log.read(after, self.inner.options.keep_alive, held))
    }

    pub(super) fn end_of_session(&self, parts: &Parts, principal: &Principal) -> Response<Body> {
        match self.session(parts, principal) {
            Ok(_) => {
                let id = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
                self.inner.sessions.remove(id);
                empty(StatusCode::NO_CONTENT)
            }
            Err((status, error)) => refusal(status, &error),
        }
    }

    fn initialize(&self, principal: Principal, request: crate::wire::Request) -> Response<Body> {
        let desk = &self.inner.desk;
        let id = request.id.clone();
        let failed = |status, error: RpcError| {
            let mut response = answered(Era::Legacy, Answer::refused(Some(id.clone()), error));
            *response.status_mut() = status;
            response
        };
        let (session, answer) = match Session::begin(desk, principal, request) {
            Ok(begun) => begun,
            Err(answer) => return answered(Era::Legacy, answer),
        };
        match self.inner.sessions.add(session) {
            Ok(Some(id)) => {
                let mut response = answered(Era::Legacy, answer);
                if let Ok(id) = HeaderValue::from_str(&id) {
                    response.headers_mut().insert(SESSION, id);
                }
                response
            }
            Ok(None) => {
                let why = "there are too many sessions, and all are in use; try again later";
                failed(StatusCode::SERVICE_UNAVAILABLE, RpcError::new(code::INTERNAL_ERROR, why))
            }
            Err(error) => {
                tracing::error!(%error, "a session cannot be named");
                failed(StatusCode::INTERNAL_SERVER_ERROR, RpcError::internal())
            }
        }
    }

    /// The session that a request belongs to.
    fn session(&self, parts: &Parts, principal: &Principal) -> Result<Busy, (StatusCode, RpcError)> {
        let invalid = |status, why: String| Err((status, RpcError::new(code::INVALID_REQUEST, why)));
        // Without the header it is 2025-03-26, whatever was agreed on: clients of before 2025-06-18 send none.
        if parts.headers.contains_key(VERSION) && headers::version(parts).and_then(Version::read).is_none() {
            return invalid(StatusCode::BAD_REQUEST, format!("the version in `{VERSION}` is not spoken here"));
        }
        let Some(id) = parts.headers.get(SESSION) else {
            let why = format!("`{SESSION}` is missing: begin with `initialize`, or name a version in `_meta`");
            return invalid(StatusCode::BAD_REQUEST, why);
        };
        let id = id.to_str().unwrap_or_default();
        match self.inner.sessions.find(id, principal) {
            Some(session) => Ok(session),
            None => invalid(StatusCode::NOT_FOUND, "there is no such session: begin with `initialize`".to_owned()),
        }
    }
}
