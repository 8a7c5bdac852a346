//! The credential of a request: in its one header, and nowhere else.

use http::header::AUTHORIZATION;
use http::request::Parts;

use super::refusal::Why;
use crate::form::decoded;

/// The longest credential. Access tokens with many claims are long.
const MOST_BYTES: usize = 16 << 10;

/// What a client may be tempted to write into a URL, where every log would have it.
const IN_A_URL: [&str; 4] = ["access_token", "token", "bearer", "api_key"];

/// The token of the header `Authorization`; nothing where there is no such header.
///
/// # Errors
///
/// There are several, it is of another kind, or a token stands in the URL.
pub(super) fn token(request: &Parts) -> Result<Option<&str>, Why> {
    if has_token_in_url(request) {
        return Err(Why::InQuery);
    }
    let mut headers = request.headers.get_all(AUTHORIZATION).iter();
    let Some(header) = headers.next() else { return Ok(None) };
    if headers.next().is_some() {
        return Err(Why::Malformed);
    }
    let text = header.to_str().map_err(|_| Why::Malformed)?;
    let (scheme, token) = text.split_once(' ').ok_or(Why::Malformed)?;
    let token = token.trim_start_matches(' ');
    if !scheme.eq_ignore_ascii_case("bearer") || !is_token(token) {
        return Err(Why::Malformed);
    }
    Ok(Some(token))
}

/// Whether a URL has a parameter for a token, however its name is written.
pub(crate) fn has_token_in_url(request: &Parts) -> bool {
    let query = request.uri.query().unwrap_or_default();
    let names = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
    names.map(decoded).any(|name| IN_A_URL.contains(&name.to_ascii_lowercase().as_str()))
}

/// `token68` of RFC 9110, and not too long.
pub(crate) fn is_token(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
    let text = text.trim_end_matches('=');
    !text.is_empty() && text.len() <= MOST_BYTES && text.bytes().all(is_plain)
}
