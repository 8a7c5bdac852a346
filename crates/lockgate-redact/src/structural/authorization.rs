//! HTTP credentials (RFC 9110 §11.4): the scheme stays, what follows it goes.

use std::ops::Range;

use base64::engine::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::boundary::starts_word;
use crate::finding::{Finding, Rank};
use crate::key_names::KeyKind;
use crate::placeholder::is_placeholder;

/// Schemes whose credential is one token.
const TOKEN_SCHEMES: &[&str] = &[
    "apikey",
    "api-key",
    "basic",
    "bearer",
    "bot",
    "dpop",
    "genie-key",
    "key",
    "negotiate",
    "ntlm",
    "sharedkey",
    "sharedkeylite",
    "sso-key",
    "token",
];
/// Schemes whose credential is a list of parameters.
const LIST_SCHEMES: &[&str] =
    &["aws4-hmac-sha256", "credential", "digest", "hawk", "hmac", "mac", "oauth", "signature"];

/// Where the credential stands in an `Authorization` header's value. `certain` says that the value is a whole string of
/// structured data, where even an unknown form is a credential.
pub(crate) fn credential(value: &str, certain: bool) -> Option<Range<usize>> {
    let start = value.len() - value.trim_start().len();
    let trimmed = value.trim();
    let end = start + trimmed.len();
    let range = match trimmed.split_once([' ', '\t']) {
        None => {
            let token = certain || (trimmed.len() >= 8 && has_digit(trimmed) && !trimmed.contains("::"));
            token.then_some(start..end)?
        }
        Some((scheme, rest)) => {
            let rest_start = end - rest.trim_start().len();
            let rest = &value[rest_start..end];
            if is_one_of(scheme, LIST_SCHEMES) {
                rest_start..end
            } else if is_one_of(scheme, TOKEN_SCHEMES) {
                let token_length = rest.find([' ', '\t', ',']).unwrap_or(rest.len());
                let alone = token_length == rest.len();
                let token = &rest[..token_length];
                let convincing = alone || has_digit(token) || token.len() >= 24;
                convincing.then_some(rest_start..rest_start + token_length)?
            } else {
                certain.then_some(start..end)?
            }
        }
    };
    (!is_placeholder(&value[range.clone()])).then_some(range)
}

/// `Bearer <token>` in running text; `at` is where `earer ` stands.
pub(crate) fn bearer(text: &str, at: usize) -> Option<Finding<'_>> {
    let range =
        token_after(text, at, b'b', "earer ", |byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))?;
    let token = &text[range.clone()];
    // `Bearer realm="…"` is a challenge, not a credential.
    let parameter = token.trim_end_matches('=').contains('=');
    let varied =
        token.bytes().any(|byte| byte.is_ascii_uppercase()) && token.bytes().any(|byte| byte.is_ascii_lowercase());
    let convincing = token.len() >= 8 && (has_digit(token) || (token.len() >= 20 && varied));
    (convincing && !parameter).then(|| Finding::part(text, range, KeyKind::Authorization.label(), Rank::Context))
}

/// `Basic <credentials>` in running text: only when they decode to a name and a password (RFC 7617).
pub(crate) fn basic(text: &str, at: usize) -> Option<Finding<'_>> {
    let range = token_after(text, at, b'b', "asic ", |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))?;
    let token = &text[range.clone()];
    let decoded = STANDARD.decode(token).or_else(|_| STANDARD_NO_PAD.decode(token)).ok()?;
    let decoded = std::str::from_utf8(&decoded).ok()?;
    let pair = token.len() >= 8 && decoded.contains(':') && !decoded.chars().any(char::is_control);
    pair.then(|| Finding::part(text, range, KeyKind::Authorization.label(), Rank::Context))
}

/// The token behind a scheme's name whose first letter, in either case, stands before `at`.
fn token_after(
    text: &str,
    at: usize,
    first: u8,
    rest_of_name: &str,
    part: impl Fn(u8) -> bool,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name_start = at.checked_sub(1)?;
    if bytes[name_start].to_ascii_lowercase() != first || !starts_word(bytes, name_start) {
        return None;
    }
    let after_name = at + rest_of_name.len();
    let start = after_name + bytes[after_name..].iter().take_while(|&&byte| byte == b' ').count();
    let length = bytes[start..].iter().take_while(|&&byte| part(byte)).count();
    // A full stop ends a sentence, not a token.
    let length = length - bytes[start..start + length].iter().rev().take_while(|&&byte| byte == b'.').count();
    (length > 0).then_some(start..start + length)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_one_of(scheme: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
