//! What went wrong on the way to an answer, as a typed error. Nothing here retries (S-27): the harness decides.

use std::time::Duration;

use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::ModelError;
use lockgate_host::http::explain;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The most characters that are kept of a provider's message.
const MAX_MESSAGE: usize = 500;

/// The longest wait that is believed: whoever adds it to a time must not overflow.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// The error behind an HTTP status that is not a success.
pub(crate) fn from_status(status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let said = message(body).unwrap_or_else(|| "no message".to_owned());
    let detail = format!("status {status}: {said}");
    let details = Details::in_body(body);
    let retry_after = retry_after(headers).or(details.retry_after).map(|wait| wait.min(MAX_RETRY_AFTER));
    match status {
        400 if details.is_about_the_key => ModelError::Unauthorized { detail },
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

/// The error in a body that came with a success status, as routers send it when the provider behind them fails, or in a stream.
pub(crate) fn from_error_member(error: Node<'_>) -> ModelError {
    let said = error_message(error).unwrap_or_else(|| "no message".to_owned());
    let number = |key| error.get(key)?.raw().trim_matches('"').parse::<u16>().ok();
    if let Some(status @ 400..=599) = ["code", "status", "status_code"].into_iter().find_map(number) {
        inside(status, error)
    } else {
        let word = |key| error.get(key)?.as_str().and_then(|word| from_word(&word));
        let failure = ["code", "type"].into_iter().find_map(word);
        let failure = failure.unwrap_or_else(|| crate::wire::invalid(""));
        said_inside(failure, error, format!("an error inside the answer: {said}"))
    }
}

/// The kind of error that a word stands for, where it says one. There is no list of these words anywhere; the parts of them are stable.
fn from_word(word: &str) -> Option<ModelError> {
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    let detail = String::new();
    Some(if has(&["rate_limit", "quota", "too_many"]) {
        ModelError::RateLimited { detail, retry_after: None }
    } else if has(&["overload", "server_error", "unavailable", "internal", "api_error", "timeout"]) {
        ModelError::Overloaded { detail, retry_after: None }
    } else if has(&["auth", "api_key", "permission"]) {
        ModelError::Unauthorized { detail }
    } else if has(&["policy", "content_filter"]) {
        ModelError::Refused { detail }
    } else if has(&["invalid", "not_found", "context_length", "unsupported", "tool_use_failed"]) {
        ModelError::InvalidRequest { detail }
    } else {
        return None;
    })
}

/// When a message says to come back: a stream has no header left to say it in.
fn said_wait(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("try again in ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(end);
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let seconds = match unit {
        _ if unit.starts_with("ms") => number / 1000.0,
        _ if unit.starts_with('s') => number,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// The error inside an answer that would have had this status, had the answer not begun already.
pub(crate) fn inside(status: u16, error: Node<'_>) -> ModelError {
    let said = error_message(error).unwrap_or_else(|| "no message".to_owned());
    let failure = from_status(status, &HeaderMap::new(), "");
    said_inside(failure, error, format!("error {status} inside the answer: {said}"))
}

/// A failure with what the error inside the answer says: a stream has no header left to say when to come back.
fn said_inside(mut failure: ModelError, error: Node<'_>, detail: String) -> ModelError {
    if let ModelError::RateLimited { retry_after, .. } | ModelError::Overloaded { retry_after, .. } = &mut failure {
        let wait = Details::of(Some(error)).retry_after.or_else(|| said_wait(&detail));
        *retry_after = wait.map(|wait| wait.min(MAX_RETRY_AFTER));
    }
    if let Some(of_failure) = detail_mut(&mut failure) {
        *of_failure = detail;
    }
    failure
}

/// The error of a request that got no complete answer.
pub(crate) fn from_transport(error: reqwest::Error) -> ModelError {
    if error.is_timeout() {
        return ModelError::TimedOut;
    }
    ModelError::Unreachable { detail: cut(&explain(error)) }
}

/// The error of an answer that is longer than it may be.
pub(crate) fn too_large(limit: usize) -> ModelError {
    ModelError::InvalidResponse { detail: format!("the body is larger than {limit} bytes") }
}

/// The text for people inside an error, where it has one.
pub(crate) fn detail_mut(error: &mut ModelError) -> Option<&mut String> {
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
pub(crate) fn cut(text: &str) -> String {
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

/// What Google says beside the message of an error (google.rpc.RetryInfo, google.rpc.ErrorInfo).
#[derive(Debug, Default)]
struct Details {
    retry_after: Option<Duration>,
    /// The key is refused, though the status says that the request is.
    is_about_the_key: bool,
}

impl Details {
    fn in_body(body: &str) -> Self {
        let Ok(document) = Document::parse(body, crate::wire::limits(body.len())) else { return Self::default() };
        let root = document.root();
        Self::of(root.elements().next().unwrap_or(root).get("error"))
    }

    fn of(error: Option<Node<'_>>) -> Self {
        let mut details = Self::default();
        for detail in error.and_then(|error| error.get("details")).iter().flat_map(Node::elements) {
            let text = |key| detail.get(key).and_then(|text| text.as_str());
            if let Some(seconds) = text("retryDelay").as_deref().and_then(|delay| delay.strip_suffix('s')) {
                let seconds = seconds.parse().ok();
                details.retry_after = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            }
            details.is_about_the_key |= text("reason").as_deref() == Some("API_KEY_INVALID");
        }
        details
    }
}

/// What an error body says: the forms of `OpenAI`, Ollama, Mistral, `FastAPI` and Gemini.
fn message(body: &str) -> Option<String> {
    let body = body.trim();
    let Ok(document) = Document::parse(body, crate::wire::limits(body.len())) else {
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
