//! HTTP with server-sent events (2024-11-05): one stream brings everything, and says where messages are sent to.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_host::http::patient_client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use tokio::time::timeout;

use super::GIVEN_UP;
use super::events::{Event, EventReader, TooLong};
use super::http::unreached;
use crate::client::core::Core;
use crate::client::flights::Life;
use crate::client::{ClientError, Endpoint, Tokens};

/// A stream, and where messages are sent to.
pub(in crate::client) struct Events {
    client: Client,
    address: Url,
    headers: HeaderMap,
    tokens: Option<Arc<dyn Tokens>>,
    stream: Mutex<Option<Stream>>,
}

struct Stream {
    answer: Response,
    reader: EventReader,
    /// What came together with the address.
    early: Vec<Event>,
}

/// How long the server may take to say where messages are sent to.
const FOR_ADDRESS: Duration = Duration::from_secs(10);

impl Events {
    pub(super) async fn open(endpoint: &Endpoint, longest: usize) -> Result<Self, ClientError> {
        let not_sent = |what: &str| ClientError::NotSent(what.to_owned());
        let url = Url::parse(&endpoint.url).map_err(|_| not_sent("it is no URL"))?;
        let headers: HeaderMap = endpoint
            .headers
            .iter()
            .filter_map(|(name, value)| HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok()))
            .collect();
        let client = patient_client(&url).map_err(|error| not_sent(&lockgate_host::http::explain(error)))?;
        let tokens = endpoint.tokens.clone();
        let request = with_token(client.get(url.clone()), tokens.as_ref()).headers(headers.clone());
        let open = async {
            let mut answer = request.header(ACCEPT, "text/event-stream").send().await.map_err(unreached)?;
            let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            if !answer.status().is_success() || !kind.starts_with("text/event-stream") {
                return Err(not_sent("it has no stream of events"));
            }
            let mut reader = EventReader::new(longest);
            loop {
                let piece = answer.chunk().await.map_err(unreached)?;
                let piece = piece.ok_or_else(|| not_sent("the stream ended before it said where to send"))?;
                let mut came = reader.feed(&piece).map_err(|TooLong| not_sent("an event is too long"))?;
                if came.is_empty() {
                    continue;
                }
                let first = came.remove(0);
                if first.kind != "endpoint" {
                    return Err(not_sent("the stream does not begin with where to send"));
                }
                let address = url.join(&first.data).map_err(|_| not_sent("what it names is no address"))?;
                // Anything else could be made to take messages, and tokens, to somebody else's machine.
                if address.origin() != url.origin() {
                    return Err(not_sent("it names an address of another origin, where we do not go"));
                }
                return Ok((address, Stream { answer, reader, early: came }));
            }
        };
        let opened = timeout(FOR_ADDRESS, open).await.map_err(|_| not_sent("it does not say in time where to send"))?;
        let (address, stream) = opened?;
        Ok(Self { client, address, headers, tokens, stream: Mutex::new(Some(stream)) })
    }

    /// Begins to hear the stream. Its end is the end of the connection.
    pub(super) fn begin(&self, core: &Arc<Core>) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Stream { mut answer, mut reader, early }) = stream else { return };
        let weak = Arc::downgrade(core);
        core.spawn(async move {
            let mut came = early;
            let why = loop {
                let Some(core) = weak.upgrade() else { return };
                for event in came.into_iter().filter(|event| event.kind == "message") {
                    core.heard_text(event.data, None);
                }
                drop(core);
                came = match answer.chunk().await {
                    Ok(Some(piece)) => match reader.feed(&piece) {
                        Ok(came) => came,
                        Err(TooLong) => break "an event is longer than it may be".to_owned(),
                    },
                    Ok(None) => break "the stream ended".to_owned(),
                    Err(error) => break lockgate_host::http::explain(error),
                };
            };
            if let Some(core) = weak.upgrade() {
                core.lose(&why);
            }
        });
    }

    pub(super) async fn send(&self, text: String, life: &Arc<Life>) -> Result<(), ClientError> {
        let request = with_token(self.client.post(self.address.clone()), self.tokens.as_ref());
        let request = request.headers(self.headers.clone()).header(CONTENT_TYPE, "application/json").body(text);
        if !life.may_be_sent() {
            return Err(ClientError::NotSent(GIVEN_UP.to_owned()));
        }
        let status = request.send().await.map_err(unreached)?.status();
        match status.as_u16() {
            200..300 => Ok(()),
            401 => Err(ClientError::Unauthorized { challenge: None }),
            408 | 500.. => Err(ClientError::Lost(format!("HTTP {}", status.as_u16()))),
            _ => Err(ClientError::NotSent(format!("HTTP {}", status.as_u16()))),
        }
    }
}

fn with_token(request: RequestBuilder, tokens: Option<&Arc<dyn Tokens>>) -> RequestBuilder {
    match tokens.and_then(|tokens| tokens.token()) {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}
