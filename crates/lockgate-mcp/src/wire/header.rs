//! Any text as the value of a header (MCP 2026-07-28, Streamable HTTP): as it is where it can be, else as `=?base64?…?=`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// A text as a header may carry it.
pub(crate) fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && value.trim_matches(' ') == value;
    let looks_encoded = value.starts_with(SENTINEL.0) && value.ends_with(SENTINEL.1);
    if is_plain && !looks_encoded {
        return value.to_owned();
    }
    format!("{}{}{}", SENTINEL.0, STANDARD.encode(value), SENTINEL.1)
}

/// What a header says: white space around it is none of it. Nothing where it says no text.
pub(crate) fn decoded(value: &http::HeaderValue) -> Option<String> {
    let value = value.to_str().ok()?.trim_matches([' ', '\t']);
    let Some(encoded) = value.strip_prefix(SENTINEL.0).and_then(|rest| rest.strip_suffix(SENTINEL.1)) else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

#[cfg(test)]
mod tests;
