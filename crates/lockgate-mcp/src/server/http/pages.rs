//! What browsers are told about pages that may send requests (cross-origin resource sharing, Fetch standard).

use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};

/// How long a browser need not ask again, in seconds.
const KEPT: HeaderValue = HeaderValue::from_static("600");

/// The page may read the response, and the headers that its client needs.
pub(super) fn may_read(page: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page.clone());
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let read = HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, read);
}

/// The page may send what the protocol has, with the headers that it asks for: tools name headers of their own.
pub(super) fn may_send(parts: &Parts, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(asked) = parts.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, KEPT);
}
