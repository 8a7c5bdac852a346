//! What whoever is not let in is told: enough to come back with the right credential, and nothing of why this one is wrong.

use std::collections::BTreeSet;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

use super::metadata::Metadata;

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is no credential.
    NoCredential,
    /// The header is none of a bearer token.
    Malformed,
    /// A token stands in the URL.
    InQuery,
    /// The credential is not known here, or good no more.
    Unknown,
    /// Scopes are missing.
    Scopes,
    /// A person's credential, where agents call.
    Person,
    /// An agent's credential, where people decide.
    Agent,
    /// The credential of another run, or of none where one is needed.
    OtherRun,
    /// It cannot be known now who is calling.
    Unavailable,
}

/// A request that is not let in.
#[derive(Debug, Clone)]
pub struct Refusal {
    why: Why,
    challenge: Option<String>,
}

impl Refusal {
    pub(super) fn new(why: Why, metadata: Option<&Metadata>, scopes: &BTreeSet<String>) -> Self {
        let error = match why {
            Why::NoCredential => None,
            Why::Malformed | Why::InQuery => Some("invalid_request"),
            Why::Unknown => Some("invalid_token"),
            Why::Scopes => Some("insufficient_scope"),
            Why::Person | Why::Agent | Why::OtherRun | Why::Unavailable => return Self { why, challenge: None },
        };
        let mut parts: Vec<String> = error.map(|error| format!("error=\"{error}\"")).into_iter().collect();
        parts.extend(metadata.map(|metadata| format!("resource_metadata=\"{}\"", metadata.url())));
        if !scopes.is_empty() {
            // All of them, so that one step is enough.
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            parts.push(format!("scope=\"{}\"", scopes.join(" ")));
        }
        if parts.is_empty() {
            parts.push("realm=\"lockgate\"".to_owned());
        }
        Self { why, challenge: Some(format!("Bearer {}", parts.join(", "))) }
    }

    /// Why, for whoever answers in a form of its own.
    pub fn why(&self) -> Why {
        self.why
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        match self.why {
            Why::NoCredential | Why::Unknown => StatusCode::UNAUTHORIZED,
            Why::Malformed | Why::InQuery => StatusCode::BAD_REQUEST,
            Why::Scopes | Why::Person | Why::Agent | Why::OtherRun => StatusCode::FORBIDDEN,
            Why::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The words of the answer. They are the same whatever is wrong with a credential.
    pub fn words(&self) -> &'static str {
        match self.why {
            Why::NoCredential => "a credential is needed here",
            Why::Malformed => "the header `Authorization` is that of one bearer token",
            Why::InQuery => "a token does not belong in a URL: send it in the header `Authorization`",
            Why::Unknown => "this credential is not good here",
            Why::Scopes => "this credential lacks scopes that are needed here",
            Why::Person => "this credential decides: it calls nothing",
            Why::Agent => "this credential calls: it decides nothing",
            Why::OtherRun => "this credential is not for this run",
            Why::Unavailable => "it cannot be known now who is calling",
        }
    }

    /// What names the way to a good credential (`WWW-Authenticate`).
    pub(crate) fn challenge(&self) -> Option<HeaderValue> {
        self.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok())
    }

    /// The whole answer.
    pub fn answer(&self) -> Response<String> {
        let mut answer = Response::new(format!("{}\n", self.words()));
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.extend(self.challenge().map(|challenge| (WWW_AUTHENTICATE, challenge)));
        answer
    }
}
