//! What went wrong on the way to an answer, as a typed error. Nothing here retries (S-27): the harness decides.

use std::time::Duration;

use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::ModelError;
use lockgate_host::http::{BodyError, explain};
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The most characters that are kept of a provider's message.
const MAX_MESSAGE: usize = 500;

/// The longest wait that is believed: whoever adds it to a time must not overflow.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// The error behind an HTTP status that is not a success.
pub(super) fn from_status(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let said = message(body).unwrap_or_else(|| "no message".to_owned());
    let detail = format!("status {status}: {said}");
    let retry_after = retry_after(headers).map(|wait| wait.min(MAX_RETRY_AFTER));
    match status {
        300..=399 => ModelError::Configuration {
            detail: format!("the base URL answers with a redirect (status {status}), and redirects are not followed"),
        },
        401 | 403 => ModelError::Unauthorized { detail },
        402 => ModelError::Refused { detail },
        408 => ModelError::TimedOut,
        429 => ModelError::RateLimited { detail, retry_after },
        // 501 and 505 say that it is not supported at all: waiting does not help.
        400..=499 | 501 | 505 => ModelError::InvalidRequest { detail },
        500..=599 => ModelError::Overloaded { detail, retry_after },
        _ => ModelError::InvalidResponse { detail },
    }
}

/// The error in a body that came with a success status, as routers send it when the provider behind them fails.
pub(super) fn from_error_member(error: Node<'_>) -> ModelError {
    let said = error_message(error).unwrap_or_else(|| "no message".to_owned());
    let status = error.get("code").and_then(|code| code.raw().trim_matches('"').parse::<u16>().ok());
    match status {
        Some(status @ 400..=599) => {
            let mut failure = from_status(status, &HeaderMap::new(), "");
            if let Some(detail) = detail_mut(&mut failure) {
                *detail = format!("error {status} inside the answer: {said}");
            }
            failure
        }
        _ => ModelError::InvalidResponse { detail: format!("an error inside the answer: {said}") },
    }
}

/// The error of a request that got no complete answer.
pub(super) fn from_transport(error: reqwest::Error) -> ModelError {
    if error.is_timeout() {
        return ModelError::TimedOut;
    }
    ModelError::Unreachable { detail: cut(&explain(error)) }
}

/// The error of a body that cannot be had.
pub(super) fn from_body(error: BodyError, limit: usize) -> ModelError {
    match error {
        BodyError::TooLarge => ModelError::InvalidResponse { detail: format!("the body is larger than {limit} bytes") },
        BodyError::Broken(error) => from_transport(error),
    }
}

/// The text for people inside an error, where it has one.
pub(super) fn detail_mut(error: &mut ModelError) -> Option<&mut String> {
    match error {
        ModelError::ScriptExhausted | ModelError::TimedOut => None,
        ModelError::Overloaded { detail, .. }
        | ModelError::RateLimited { detail, .. }
        | ModelError::Refused { detail }
        | ModelError::Unauthorized { detail }
        | ModelError::InvalidRequest { detail }
        | ModelError::InvalidResponse { detail }
        | ModelError::Unreachable { detail }
        | ModelError::Configuration { detail } => Some(detail),
    }
}

/// A text of at most [`MAX_MESSAGE`] characters, in one line and without control characters.
pub(super) fn cut(text: &str) -> String {
    let mut characters = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut kept: String = characters.by_ref().take(MAX_MESSAGE).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// When the provider wants to be asked again: `retry-after-ms`, else `retry-after` in seconds or as a date, which counts
/// from the answer's own `date` (RFC 9110 section 10.2.3), so that no clock of ours is needed.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text(HeaderName::from_static("retry-after-ms")).and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    let answered = httpdate::parse_http_date(text(DATE)?).ok()?;
    Some(at.duration_since(answered).unwrap_or_default())
}

/// What an error body says: the forms of `OpenAI`, Ollama, Mistral, `FastAPI` and Gemini, else a plain text as it stands.
fn message(body: &str) -> Option<String> {
    let body = body.trim();
    let Ok(document) = Document::parse(body, super::limits(body.len())) else {
        // A page of markup helps nobody in an error message.
        return (!body.is_empty() && !body.starts_with('<')).then(|| cut(body));
    };
    let root = document.root();
    let first = root.elements().next();
    error_message(first.unwrap_or(root))
}

fn error_message(node: Node<'_>) -> Option<String> {
    if let Some(text) = node.as_str() {
        return Some(cut(&text));
    }
    let member = |key| node.get(key).filter(|inner| !inner.is_null());
    let inner = ["error", "message", "detail"].into_iter().find_map(member)?;
    if inner.as_str().is_some() || inner.get("message").is_some() {
        error_message(inner)
    } else {
        Some(cut(inner.raw()))
    }
}

#[cfg(test)]
mod tests;
