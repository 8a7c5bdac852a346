//! What a server that refuses a request wants (`WWW-Authenticate`, RFC 9110 section 11, RFC 6750, RFC 9728).

use std::collections::{BTreeMap, BTreeSet};

use super::scope;

/// The `Bearer` challenge of a server, as far as it is of use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Where the resource's metadata are.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that are needed; nothing where it does not say.
    pub(super) scopes: Option<BTreeSet<String>>,
    /// What was wrong with the token.
    pub(super) error: Option<String>,
}

/// A longer header is not read.
const LONGEST: usize = 16 << 10;

impl Challenge {
    /// Reads a header's value. Whatever cannot be read says nothing.
    pub(super) fn read(header: Option<&str>) -> Self {
        let header = header.filter(|header| header.len() <= LONGEST).unwrap_or_default();
        let mut parameters = bearer(header);
        Self {
            resource_metadata: parameters.remove("resource_metadata"),
            scopes: parameters.remove("scope").map(|scopes| scope::read(&scopes)).filter(|scopes| !scopes.is_empty()),
            error: parameters.remove("error"),
        }
    }

    /// Whether the token is good, and reaches too little.
    pub(super) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The parameters of the first `Bearer` challenge; a name that stands twice has its first value.
fn bearer(header: &str) -> BTreeMap<String, String> {
    let mut parameters = BTreeMap::new();
    let mut rest = header;
    let (mut is_bearer, mut was_bearer) = (false, false);
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let length = rest.find(|one: char| !is_token(one)).unwrap_or(rest.len());
        if length == 0 {
            return parameters;
        }
        let (name, after) = rest.split_at(length);
        let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') else {
            was_bearer |= is_bearer;
            is_bearer = !was_bearer && name.eq_ignore_ascii_case("bearer");
            rest = after;
            continue;
        };
        let (value, after) = value_of(value.trim_start_matches([' ', '\t']));
        if is_bearer {
            parameters.entry(name.to_ascii_lowercase()).or_insert(value);
        }
        rest = after;
    }
}

/// A token or a quoted text, and what stands behind it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((place, one)) = characters.next() {
        match one {
            '"' => return (value, &quoted[place + 1..]),
            '\\' => value.extend(characters.next().map(|(_, one)| one)),
            _ => value.push(one),
        }
    }
    (value, "")
}

fn is_token(one: char) -> bool {
    one.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(one)
}

#[cfg(test)]
mod tests;
