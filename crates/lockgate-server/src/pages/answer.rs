//! Answers, with everything that a browser has to be told besides.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{Response, StatusCode};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::html::Html;

/// What is said of a question that is not there, and of one that is somebody else's.
pub(super) const NO_SUCH: &str = "there is no such question, or it is not yours";

/// How the pages look. It is the only thing that a browser may use besides the page.
pub(super) const STYLE: &str = include_str!("style.css");

/// No script, no picture, no frame, nothing of anybody else's.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
});

/// A page.
pub(super) fn page(status: StatusCode, html: &Html) -> Response<String> {
    with_headers(status, "text/html; charset=utf-8", html.as_str().to_owned())
}

/// A value for a program.
pub(super) fn json_answer(status: StatusCode, value: &impl Serialize) -> Response<String> {
    match serde_json::to_string(value) {
        Ok(text) => with_headers(status, "application/json", format!("{text}\n")),
        Err(error) => {
            tracing::error!(%error, "an answer cannot be written");
            with_headers(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}\n".to_owned())
        }
    }
}

/// To another page.
pub(super) fn see_other(path: &str, cookie: Option<&str>) -> Response<String> {
    let mut answer = with_headers(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new());
    answer.headers_mut().extend(HeaderValue::from_str(path).ok().map(|path| (LOCATION, path)));
    if let Some(cookie) = cookie {
        set_cookie(&mut answer, cookie);
    }
    answer
}

/// Another way of asking is meant.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<String> {
    let mut answer =
        with_headers(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", format!("ask by {allowed}\n"));
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// Lets the browser keep a cookie.
pub(super) fn set_cookie(answer: &mut Response<String>, cookie: &str) {
    // INVARIANT: cookies are made of words and base64, which are the text of a header.
    if let Ok(value) = HeaderValue::from_str(cookie) {
        answer.headers_mut().append(SET_COOKIE, value);
    }
}

fn with_headers(status: StatusCode, content_type: &'static str, body: String) -> Response<String> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    // INVARIANT: base64 and words are the text of a header.
    headers.extend(HeaderValue::from_str(&POLICY).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
    for (name, value) in [
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}
