//! Streamable HTTP: a request each, answered by one message or by a stream of them.

mod session;
mod streams;

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use bytes::Bytes;
use lockgate_contract::document::Document;
use lockgate_host::http::{BodyError, explain, patient_client, read_body};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};

use self::session::Sessions;
use crate::client::core::Core;
use crate::client::envelope::Headers;
use crate::client::flights::Life;
use crate::client::questions::can_be_asked;
use crate::client::subscription::says_anything;
use crate::client::transport::GIVEN_UP;
use crate::client::{ClientError, Endpoint, Tokens};
use crate::wire::{Message, RequestId, RpcError};

/// A URL that messages are sent to.
pub(in crate::client) struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
    tokens: Option<Arc<dyn Tokens>>,
    longest: usize,
    sessions: Sessions,
    /// The status that the last request was refused with; 0 where it was not.
    refusal: AtomicU16,
}

/// How often another token is shown for one request.
const CHALLENGES: usize = 2;
/// How long the stream of what the server says by itself is waited for. Some servers begin it with what they say first.
const FOR_STREAM: Duration = Duration::from_millis(500);
/// How long the server is told that a session is over.
const FOR_FAREWELL: Duration = Duration::from_secs(2);
/// The longest text of a refusal that is read.
const LONGEST_REFUSAL: usize = 1 << 20;

impl Http {
    pub(super) fn new(endpoint: &Endpoint, longest: usize) -> Result<Self, ClientError> {
        let not_sent = |what: String| ClientError::NotSent(what);
        let url =
            Url::parse(&endpoint.url).map_err(|error| not_sent(format!("`{}` is no URL: {error}", endpoint.url)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(not_sent(format!("`{}` is no URL of the scheme http or https", endpoint.url)));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &endpoint.headers {
            let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, mut value) = header.ok_or_else(|| not_sent(format!("the header `{name}` cannot be sent")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = patient_client(&url).map_err(|error| not_sent(explain(error)))?;
        let tokens = endpoint.tokens.clone();
        let sessions = Sessions::default();
        Ok(Self { client, url, headers, tokens, longest, sessions, refusal: AtomicU16::new(0) })
    }

    /// Sends a request and hears what comes back, until the answer is among it.
    pub(super) async fn request(
        &self,
        core: &Arc<Core>,
        id: i64,
        text: String,
        headers: Headers,
        life: &Arc<Life>,
    ) -> Result<(), ClientError> {
        let mut is_renewed = false;
        let body = Bytes::from(text);
        loop {
            let session = self.sessions.for_request(&headers).await;
            let answer = self.post(&body, &headers, session.id.as_deref(), life).await?;
            if answer.status() == StatusCode::NOT_FOUND && session.id.is_some() && !is_renewed {
                // The server knows no such session, so nothing happened in it.
                drop(answer);
                self.renew(core, session.number).await?;
                is_renewed = true;
                continue;
            }
            return self.take(core, id, answer).await;
        }
    }

    /// Sends what has no answer.
    pub(super) async fn tell(&self, core: &Arc<Core>, message: &Message) -> Result<(), ClientError> {
        let (method, params) = match message {
            Message::Notification(notification) => (notification.method.as_str(), notification.params.clone()),
            Message::Request(_) | Message::Response(_) => ("", None),
        };
        let params = params.unwrap_or_else(Document::empty_object);
        let headers = crate::client::envelope::headers(core, method, &params, None);
        let session = self.sessions.current();
        let answer = self.post(&Bytes::from(message.text()), &headers, session.id.as_deref(), &Arc::default()).await?;
        if answer.status().is_success() { Ok(()) } else { Err(self.refused(answer).await) }
    }

    /// Sends one message. A server that wants to know who asks is shown another token, where there is one: what it refused for that
    /// was not taken up.
    async fn post(
        &self,
        body: &Bytes,
        headers: &Headers,
        session: Option<&str>,
        life: &Arc<Life>,
    ) -> Result<Response, ClientError> {
        for challenges in 0.. {
            let token = self.tokens.as_ref().and_then(|tokens| tokens.token());
            let request = self
                .begin(Method::POST, headers, session, token.as_deref())?
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json, text/event-stream")
                .body(body.clone());
            if !life.may_be_sent() {
                return Err(ClientError::NotSent(GIVEN_UP.to_owned()));
            }
            let answer = request.send().await.map_err(unreached)?;
            let status = answer.status();
            self.refusal.store(if status.is_success() { 0 } else { status.as_u16() }, Ordering::Release);
            let challenge = challenge(&answer);
            let wants_more = challenge.as_deref().is_some_and(|challenge| challenge.contains("insufficient_scope"));
            if !(status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN && wants_more) {
                return Ok(answer);
            }
            drop(answer);
            // Somebody may have to be asked, which takes as long as it takes.
            let _asking = life.clone().asking();
            let is_settled = match &self.tokens {
                Some(tokens) if challenges < CHALLENGES => tokens.challenged(token, challenge.clone()).await?,
                _ => false,
            };
            if !is_settled {
                return Err(ClientError::Unauthorized { challenge });
            }
        }
        Err(ClientError::Unauthorized { challenge: None })
    }

    /// A request with all that goes with each of them.
    fn begin(
        &self,
        method: Method,
        headers: &Headers,
        session: Option<&str>,
        token: Option<&str>,
    ) -> Result<RequestBuilder, ClientError> {
        let mut all = self.headers.clone();
        let session = session.map(|session| (SESSION, session));
        for (name, value) in headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(session) {
            let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) =
                header.ok_or_else(|| ClientError::NotSent(format!("the header `{name}` cannot be sent")))?;
            all.insert(name, value);
        }
        let mut request = self.client.request(method, self.url.clone()).headers(all);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        Ok(request)
    }

    /// Hears what a request is answered with.
    async fn take(&self, core: &Arc<Core>, id: i64, answer: Response) -> Result<(), ClientError> {
        let status = answer.status();
        if !status.is_success() {
            return Err(self.refused(answer).await);
        }
        self.sessions.begun(core.era(), answer.headers().get(SESSION));
        match kind(&answer).as_str() {
            "text/event-stream" => self.stream(core, id, answer).await,
            "application/json" => {
                let body = read_body(answer, self.longest).await.map_err(broken)?;
                let text = String::from_utf8(body).map_err(|_| ClientError::Invalid("it is no UTF-8".to_owned()))?;
                core.heard_text(text, Some(id));
                if core.flights.has(id) {
                    return Err(ClientError::Invalid("what came is no answer to what was asked".to_owned()));
                }
                Ok(())
            }
            _ if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => {
                Err(ClientError::Invalid("it takes the request, and does not answer it".to_owned()))
            }
            kind => Err(ClientError::Invalid(format!("it is of the type `{}`", &kind[..kind.floor_char_boundary(64)]))),
        }
    }

    /// What a refusal says of the request.
    async fn refused(&self, answer: Response) -> ClientError {
        let status = answer.status();
        if status.is_redirection() {
            return ClientError::Invalid(format!(
                "it sends us elsewhere (HTTP {}), where we do not go",
                status.as_u16()
            ));
        }
        let is_json = kind(&answer) == "application/json";
        let body = read_body(answer, LONGEST_REFUSAL).await.unwrap_or_default();
        let error = if is_json { error_in(body) } else { None };
        let said = error.as_ref().map_or_else(String::new, |(_, error)| format!(": {error}"));
        let what = format!("HTTP {}{said}", status.as_u16());
        match error {
            // Whatever stands behind the server may have taken it up.
            _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => ClientError::Lost(what),
            // It says nothing about what was asked.
            _ if matches!(status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) => ClientError::NotSent(what),
            Some((None, error)) => ClientError::Refused(error),
            Some((Some(_), error)) => ClientError::answered(error),
            None if is_about_the_request(status) => ClientError::NotSent(what),
            None => ClientError::Lost(what),
        }
    }

    pub(super) fn last_refusal(&self) -> Option<u16> {
        Some(self.refusal.load(Ordering::Acquire)).filter(|status| *status != 0)
    }

    /// Hears what a legacy server says by itself, where it says anything. Some servers ask there too.
    pub(super) async fn listen(&self, core: &Arc<Core>, capabilities: &Document) {
        if says_anything(capabilities.root()) || can_be_asked(core.options.capabilities.root()) {
            self.sessions.listen_to(capabilities);
            // What is asked there before it is open is asked of nobody.
            let _ = tokio::time::timeout(FOR_STREAM, self.open_stream(core).cancelled()).await;
        }
    }

    /// Tells the server that the session is over.
    pub(super) async fn close(&self, core: &Arc<Core>) {
        let session = self.sessions.current();
        let Some(id) = session.id.as_deref() else { return };
        let headers = crate::client::envelope::headers(core, "", &Document::empty_object(), None);
        let token = self.tokens.as_ref().and_then(|tokens| tokens.token());
        if let Ok(request) = self.begin(Method::DELETE, &headers, Some(id), token.as_deref()) {
            // Some servers do not let clients end sessions, which is their right.
            let _ = tokio::time::timeout(FOR_FAREWELL, request.send()).await;
        }
    }
}

/// Whether a status without a word of the protocol says that the request was not taken: its form, its address, its sender. Others,
/// such as 409 and 422, are what applications say of what they were asked to do.
fn is_about_the_request(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 401 | 404..=407 | 411 | 413..=415 | 417 | 421 | 426 | 428 | 431)
}

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

fn challenge(answer: &Response) -> Option<String> {
    let value = answer.headers().get(WWW_AUTHENTICATE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The type of an answer, without its parameters.
fn kind(answer: &Response) -> String {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn unreached(error: reqwest::Error) -> ClientError {
    if error.is_connect() || error.is_builder() {
        ClientError::NotSent(explain(error))
    } else {
        ClientError::Lost(explain(error))
    }
}

fn broken(error: BodyError) -> ClientError {
    match error {
        BodyError::TooLarge => ClientError::Invalid("it is longer than it may be".to_owned()),
        BodyError::Broken(error) => ClientError::Lost(explain(error)),
    }
}

/// The protocol's error in the body of a refusal, and the request that it answers. What could not be read names none; many servers
/// derive the status of any other from its code, so that it says no more than the code does.
fn error_in(body: Vec<u8>) -> Option<(Option<RequestId>, RpcError)> {
    let limits = lockgate_contract::document::Limits { max_bytes: LONGEST_REFUSAL, max_depth: 64 };
    match Message::read(String::from_utf8(body).ok()?, limits).ok()? {
        Message::Response(response) => response.outcome.err().map(|error| (response.id, error)),
        Message::Request(_) | Message::Notification(_) => None,
    }
}
