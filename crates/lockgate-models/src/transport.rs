//! How a request reaches a provider, and how its answer comes back: over HTTP, or from a recording.

use std::fmt;

use bytes::Bytes;
use lockgate_contract::ports::{BoxFuture, ModelError};
use lockgate_host::http::client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};

use crate::error::OptionsError;
use crate::failure;
use crate::options::Resolved;

/// Sends requests.
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// Sends one, and waits for the head of its answer.
    fn send<'a>(&'a self, post: Post<'a>) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Post<'a> {
    /// The whole URL.
    pub(crate) url: &'a Url,
    /// All headers; the key's is marked as sensitive.
    pub(crate) headers: &'a HeaderMap,
    /// The body.
    pub(crate) body: &'a str,
}

/// The head of an answer, with its body behind it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body, a piece at a time.
    pub(crate) body: Box<dyn Pieces>,
}

/// A body that comes in pieces.
pub(crate) trait Pieces: fmt::Debug + Send {
    /// The next piece; nothing at the end.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, ModelError>>;
}

/// Over HTTP.
#[derive(Debug)]
pub(crate) struct Http(Client);

impl Http {
    /// For one server.
    pub(crate) fn new(options: &Resolved) -> Result<Self, OptionsError> {
        client(&options.base_url, options.timeout)
            .map(Self)
            .map_err(|error| OptionsError::Client { detail: error.to_string() })
    }
}

impl Transport for Http {
    fn send<'a>(&'a self, post: Post<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let request = self.0.post(post.url.clone()).headers(post.headers.clone()).body(post.body.to_owned());
            let answer = request.send().await.map_err(failure::from_transport)?;
            Ok(Answer {
                status: answer.status().as_u16(),
                headers: answer.headers().clone(),
                body: Box::new(Body(answer)),
            })
        })
    }
}

#[derive(Debug)]
struct Body(reqwest::Response);

impl Pieces for Body {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, ModelError>> {
        Box::pin(async move { self.0.chunk().await.map_err(failure::from_transport) })
    }
}

impl Answer {
    /// Whether the body is a stream of pieces, as it was asked for. Some servers answer whole all the same.
    pub(crate) fn is_json(&self) -> bool {
        let kind = self.headers.get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.trim_start().starts_with("application/json"))
    }

    /// The whole body, of so many bytes at most.
    pub(crate) async fn text(mut self, most: usize) -> Result<String, ModelError> {
        let mut body = Vec::new();
        while let Some(piece) = self.body.next().await? {
            if body.len() + piece.len() > most {
                return Err(failure::too_large(most));
            }
            body.extend_from_slice(&piece);
        }
        String::from_utf8(body).map_err(|_| crate::wire::invalid("the body is not UTF-8"))
    }

    /// The beginning of the body, of so many bytes at most, whatever comes of the rest.
    pub(crate) async fn beginning(mut self, most: usize) -> String {
        let mut body = Vec::new();
        while body.len() <= most
            && let Ok(Some(piece)) = self.body.next().await
        {
            body.extend_from_slice(&piece);
        }
        body.truncate(most);
        String::from_utf8_lossy(&body).into_owned()
    }
}

/// A header that was made of checked parts.
pub(crate) fn header(name: &'static str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
}
