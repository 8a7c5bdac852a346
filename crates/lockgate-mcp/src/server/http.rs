//! Streamable HTTP: one endpoint, both eras.
//!
//! ```text
//! POST ─► door (Host, Origin) ─► body, one message ─► modern: headers = body ─► answer: JSON, or events once there is more to say
//!                                                └─► legacy: session        ─► the same, and events can be read again
//! GET, DELETE (legacy): messages that belong to no request, the end of a session
//! ```
//!
//! Whoever calls [`Endpoint::answer`] has authenticated already. Where the connection of a modern request closes, the request is
//! cancelled; a legacy one goes on.

mod body;
mod door;
mod events;
mod headers;
mod legacy;
mod listener;
mod modern;
mod pages;
mod places;
mod sessions;

use std::fmt::Display;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Buf as _;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use lockgate_contract::document::Limits as TextLimits;
use lockgate_contract::ports::BoxFuture;

use self::door::Door;
use self::events::{EventLog, Held};
use self::headers::Accepts;
use self::sessions::{Busy, Sessions};
use super::call::{Call, Next};
use super::desk::{DEEPEST_MESSAGE, Desk};
use super::result::Answer;
use super::{Limits, Peer as _, Principal, Service, Standing};
use crate::wire::{Era, Message, RpcError, Version, code};

pub use self::body::Body;
pub use self::listener::{ListenerLimits, serve};

/// The header with a session's id.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header with the version.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How an endpoint behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much is taken on.
    pub limits: Limits,
    /// The address that is listened on: requests may name it as their host.
    pub bound: Option<SocketAddr>,
    /// More hosts that requests may name, each with or without its port. Loopback, by any of its names, always may be.
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, beside those on loopback and on `bound`: `https://example.com`.
    pub origins: Vec<String>,
    /// How many legacy sessions there are at once.
    pub sessions: usize,
    /// How many of them one principal has. One more, and the longest idle one ends.
    pub sessions_each: usize,
    /// How long a session may be idle before it ends.
    pub session_idle: Duration,
    /// How long a request's body may take to arrive.
    pub body_within: Duration,
    /// When an answer that is not there yet becomes a stream, which shows those between that somebody is at work.
    pub stream_after: Duration,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            bound: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            sessions: 1024,
            sessions_each: 64,
            session_idle: Duration::from_mins(30),
            body_within: Duration::from_secs(30),
            stream_after: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// One MCP endpoint.
#[derive(Clone)]
pub struct Endpoint {
    inner: Arc<Inner>,
}

struct Inner {
    desk: Arc<Desk>,
    options: Options,
    door: Door,
    sessions: Sessions,
}

impl Endpoint {
    /// Offers a service.
    ///
    /// # Errors
    ///
    /// The system has no randomness to give: nothing could be sealed.
    pub fn new(service: Arc<dyn Service>, options: Options) -> std::io::Result<Self> {
        let desk = Desk::new(service, options.limits)?;
        let door = Door::new(options.bound, &options.hosts, &options.origins);
        let sessions = Sessions::new(options.sessions, options.sessions_each, options.session_idle);
        Ok(Self { inner: Arc::new(Inner { desk, options, door, sessions }) })
    }

    /// Answers one request of this principal's.
    pub async fn answer<B>(&self, request: Request<B>, principal: Principal) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Display,
    {
        let (parts, body) = request.into_parts();
        let page = match self.inner.door.check(&parts) {
            Ok(page) => page,
            Err(header) => return stranger(header),
        };
        let modern =
            headers::version(&parts).and_then(Version::read).is_some_and(|version| version.era() == Era::Modern);
        let mut response = match parts.method {
            Method::POST => self.post(&parts, body, principal).await,
            Method::GET if !modern => self.stream_of_session(&parts, &principal),
            Method::DELETE if !modern => self.end_of_session(&parts, &principal),
            _ => {
                let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
                let allowed = if modern { "POST" } else { "GET, POST, DELETE" };
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
                response
            }
        };
        if let Some(page) = page {
            pages::may_read(page, response.headers_mut());
        }
        response
    }

    /// The refusal of a request that means another host, as one of a page does whose name was made to lead here; nothing where it means
    /// this one. For what is beside the endpoint at the same address: [`Endpoint::answer`] looks for itself.
    pub fn refuse_strange_host(&self, parts: &Parts) -> Option<Response<Body>> {
        self.inner.door.check_host(parts).err().map(stranger)
    }

    /// What a browser is told that asks whether a page may send requests; nothing where this is no such question. It is asked without
    /// credentials, so before anybody authenticates.
    pub fn preflight(&self, parts: &Parts) -> Option<Response<Body>> {
        if parts.method != Method::OPTIONS || !parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let page = match self.inner.door.check(parts) {
            Ok(page) => page?,
            Err(header) => return Some(stranger(header)),
        };
        let mut response = empty(StatusCode::NO_CONTENT);
        pages::may_read(page, response.headers_mut());
        pages::may_send(parts, response.headers_mut());
        Some(response)
    }

    /// Looks again at everybody who was let in: what is under way ends, and so do sessions, where whoever it is for may have it no more.
    /// To be called whenever a credential may have been taken back, and now and then, since those that have an end come to it.
    pub fn look_again(&self, standing: impl Fn(&Principal) -> Standing) {
        self.inner.desk.judge(&standing);
        self.inner.sessions.judge(&standing);
    }

    /// Takes no more on. Streams end, questions and sessions are given up; what is under way has so much time.
    pub async fn close(&self, patience: Duration) {
        self.inner.desk.closing.cancel();
        self.inner.sessions.clear();
        self.inner.desk.close(patience).await;
    }

    async fn post<B>(&self, parts: &Parts, body: B, principal: Principal) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Display,
    {
        let invalid = |why: &str| RpcError::new(code::INVALID_REQUEST, why);
        if self.inner.desk.closing.is_cancelled() {
            return refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                &RpcError::new(code::INTERNAL_ERROR, "the server is stopping"),
            );
        }
        if !headers::is_json(parts) {
            return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &invalid("the body has to be `application/json`"));
        }
        let Some(accepts) = Accepts::of(parts) else {
            let why = "`Accept` has to name `application/json` and `text/event-stream`";
            return refusal(StatusCode::NOT_ACCEPTABLE, &invalid(why));
        };
        let text = match self.text(body).await {
            Ok(text) => text,
            Err((status, error)) => return refusal(status, &error),
        };
        let limits = TextLimits { max_bytes: self.inner.options.limits.message_bytes, max_depth: DEEPEST_MESSAGE };
        let message = match Message::read(text, limits) {
            Ok(message) => message,
            Err(error) => return json(StatusCode::BAD_REQUEST, Message::Response(error.answer()).text()),
        };
        if modern::is_modern(parts, &message) {
            self.modern(parts, accepts, message, principal).await
        } else {
            self.legacy(parts, accepts, message, principal).await
        }
    }

    /// Reads a body that is no longer, and takes no longer, than it may.
    async fn text<B>(&self, body: B) -> Result<String, (StatusCode, RpcError)>
    where
        B: http_body::Body,
        B::Error: Display,
    {
        let most = self.inner.options.limits.message_bytes;
        let too_large = || {
            let why = format!("the message is larger than {most} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, RpcError::new(code::INVALID_REQUEST, why))
        };
        let said = body.size_hint().lower();
        if said > most as u64 {
            return Err(too_large());
        }
        let mut body = std::pin::pin!(body);
        let reading = async {
            // What a client says of itself is no reason to reserve much.
            let mut bytes = Vec::with_capacity(usize::try_from(said).unwrap_or_default().min(64 << 10));
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| {
                    let why = format!("the body broke off: {error}");
                    (StatusCode::BAD_REQUEST, RpcError::new(code::PARSE_ERROR, why))
                })?;
                let Ok(mut data) = frame.into_data() else { continue };
                if bytes.len() + data.remaining() > most {
                    return Err(too_large());
                }
                while data.has_remaining() {
                    let chunk = data.chunk();
                    bytes.extend_from_slice(chunk);
                    let read = chunk.len();
                    data.advance(read);
                }
            }
            Ok(bytes)
        };
        let bytes = tokio::time::timeout(self.inner.options.body_within, reading).await.map_err(|_| {
            let why = "the body did not arrive in time";
            (StatusCode::REQUEST_TIMEOUT, RpcError::new(code::INVALID_REQUEST, why))
        })??;
        String::from_utf8(bytes).map_err(|_| {
            (StatusCode::BAD_REQUEST, RpcError::new(code::PARSE_ERROR, "this is no JSON text: it is no UTF-8"))
        })
    }

    /// The answer to a call: JSON, or events where the client would rather have them, or once there is anything to say before.
    async fn call(&self, call: Call, accepts: Accepts, session: Option<Busy>) -> Response<Body> {
        let version = call.peer().version();
        let (cancel, revoked) = (call.peer().cancel().clone(), call.revoked());
        let mut next: BoxFuture<'static, Next> = Box::pin(call.next());
        let first = async {
            if accepts.events_first {
                // What is there at once needs nobody to wait for it.
                poll_fn(|context| {
                    Poll::Ready(match next.as_mut().poll(context) {
                        Poll::Ready(next) => Some(next),
                        Poll::Pending => None,
                    })
                })
                .await
            } else if accepts.events {
                tokio::time::timeout(self.inner.options.stream_after, &mut next).await.ok()
            } else {
                Some(next.as_mut().await)
            }
        };
        let first = tokio::select! {
            biased;
            () = revoked.cancelled() => {
                cancel.cancel();
                let why = "the credential of this request was taken back";
                return refusal(StatusCode::UNAUTHORIZED, &RpcError::new(code::INVALID_REQUEST, why));
            }
            first = first => first,
        };
        let log = match first {
            Some(Next::Answer(answer)) if accepts.events_first && answer.code.is_none() => {
                let log = stream(version, session.as_ref());
                log.push(answer.text, false);
                finish(&log, session.as_ref());
                return events(log.read(None, self.inner.options.keep_alive, Held::default()));
            }
            Some(Next::Answer(answer)) => return answered(version.era(), answer),
            Some(Next::Tell { text, report, call }) => {
                let log = stream(version, session.as_ref());
                log.push(text, report);
                next = Box::pin(call.next());
                log
            }
            None => stream(version, session.as_ref()),
        };
        let gone = (version.era() == Era::Modern).then(|| cancel.drop_guard());
        let body = log.read(None, self.inner.options.keep_alive, Held { gone, revoked, besides: None });
        self.inner.desk.tasks.spawn(async move {
            loop {
                match next.await {
                    Next::Tell { text, report, call } => {
                        log.push(text, report);
                        next = Box::pin(call.next());
                    }
                    Next::Answer(answer) => {
                        log.push(answer.text, false);
                        break;
                    }
                }
            }
            finish(&log, session.as_ref());
        });
        events(body)
    }
}

/// Nothing more comes on a request's stream.
fn finish(log: &Arc<EventLog>, session: Option<&Busy>) {
    match session {
        Some(session) => session.complete(log),
        None => log.end(),
    }
}

/// A stream for one request: in a session it can be read again.
fn stream(version: Version, session: Option<&Busy>) -> Arc<EventLog> {
    let Some(session) = session else { return EventLog::new(None) };
    let log = session.stream();
    if version >= Version::V2025_11_25 {
        log.prime();
    }
    log
}

fn answered(era: Era, answer: Answer) -> Response<Body> {
    let status = match (era, answer.code) {
        (Era::Legacy, _) | (Era::Modern, None) => StatusCode::OK,
        (Era::Modern, Some(code::METHOD_NOT_FOUND)) => StatusCode::NOT_FOUND,
        (Era::Modern, Some(code)) => {
            let spoken_of = [code::HEADER_MISMATCH, code::MISSING_CAPABILITY, code::UNSUPPORTED_VERSION];
            if answer.refused || spoken_of.contains(&code) { StatusCode::BAD_REQUEST } else { StatusCode::OK }
        }
    };
    json(status, answer.text)
}

fn refusal(status: StatusCode, error: &RpcError) -> Response<Body> {
    let mut response = json(status, Answer::refused(None, error.clone()).text);
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn stranger(header: &str) -> Response<Body> {
    let why = format!("the header `{header}` names nobody that is let in here: see `hosts` and `origins`");
    refusal(StatusCode::FORBIDDEN, &RpcError::new(code::INVALID_REQUEST, why))
}

fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn events(events: events::Events) -> Response<Body> {
    let mut response = Response::new(Body::events(events));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
