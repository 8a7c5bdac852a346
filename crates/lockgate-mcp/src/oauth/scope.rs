//! Which scopes are asked for.

use std::collections::BTreeSet;

use super::OAuthError;
use super::challenge::Challenge;
use super::metadata::{AuthorityMetadata, ResourceMetadata};

/// The scope that asks for a token with which others are got (`OpenID` Connect Core section 11).
const OFFLINE_ACCESS: &str = "offline_access";
/// More are asked for at no server: it would ask for another one each time.
const MOST: usize = 64;

/// Scopes from a list with spaces.
pub(super) fn read(text: &str) -> BTreeSet<String> {
    text.split(' ').filter(|scope| is_scope(scope)).map(str::to_owned).collect()
}

/// Scopes as a list with spaces; nothing for none, which is not sent at all.
pub(super) fn written(scopes: &BTreeSet<String>) -> Option<String> {
    let all: Vec<_> = scopes.iter().map(String::as_str).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Those that the challenge names; else those that the server knows; else none. What was asked for before stays, for a token that
/// reaches something else would not do for what the last one did.
pub(super) fn wanted(
    challenge: &Challenge,
    resource: &ResourceMetadata,
    authority: &AuthorityMetadata,
    before: &BTreeSet<String>,
    is_interactive: bool,
) -> Result<BTreeSet<String>, OAuthError> {
    let named = challenge.scopes.clone();
    let mut scopes =
        named.unwrap_or_else(|| resource.scopes_supported.iter().filter(|scope| is_scope(scope)).cloned().collect());
    scopes.extend(before.iter().cloned());
    let knows_offline = authority.scopes_supported.iter().any(|scope| scope == OFFLINE_ACCESS);
    if !knows_offline {
        scopes.remove(OFFLINE_ACCESS);
    } else if is_interactive && !scopes.is_empty() {
        scopes.insert(OFFLINE_ACCESS.to_owned());
    }
    if scopes.len() > MOST {
        return Err(OAuthError::Lacking {
            issuer: authority.issuer.clone(),
            lacks: format!("is to be asked for more than {MOST} scopes, which nobody can look through"),
        });
    }
    Ok(scopes)
}

/// RFC 6749 section 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}
