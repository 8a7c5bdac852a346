//! Tool names as a provider accepts them, and the way back.
//!
//! One bad name fails a provider's whole request, and registries hold names with dots, spaces and other scripts. So names are
//! projected to the pattern that every provider takes, `[a-zA-Z_][a-zA-Z0-9_-]{0,63}`. A name that fits stays as it is; any
//! other is made to fit and gets eight hex digits of its own hash, because replacing characters alone lets names collide.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

/// The longest name on the wire, in bytes (all of them ASCII).
const MAX_WIRE_NAME: usize = 64;
/// Hex digits of the hash behind a changed name.
const HASH_DIGITS: usize = 8;

/// The wire names of one request. Two different names never share a wire name.
#[derive(Debug, Clone, Default)]
pub struct WireNames {
    to_wire: BTreeMap<String, String>,
    to_original: BTreeMap<String, String>,
}

impl WireNames {
    /// Projects a set of tool names. The outcome depends on the set only, not on the order or on repetitions.
    pub fn for_tools<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut wire = Self::default();
        // Names that fit come first, so that a changed name can never take a fitting tool's own name.
        let (fitting, others): (BTreeSet<&str>, BTreeSet<&str>) = names.into_iter().partition(|name| fits(name));
        for name in fitting.into_iter().chain(others) {
            wire.add(name);
        }
        wire
    }

    /// Adds one more name, such as one that the model invented earlier and that stands in the history now.
    /// Names that were added before keep their wire names.
    pub fn add(&mut self, name: &str) {
        if self.to_wire.contains_key(name) {
            return;
        }
        let wire = self.free_wire_name(name);
        self.to_original.insert(wire.clone(), name.to_owned());
        self.to_wire.insert(name.to_owned(), wire);
    }

    /// The wire name of an added name.
    pub fn wire(&self, name: &str) -> Option<&str> {
        self.to_wire.get(name).map(String::as_str)
    }

    /// The name that is sent for one of a request.
    pub(crate) fn as_sent<'a>(&'a self, name: &'a str) -> &'a str {
        // INVARIANT: `Sent::of` adds every name of a request and of its history.
        self.wire(name).unwrap_or(name)
    }

    /// The name behind a wire name; a name that is none of ours comes back as it is.
    pub fn original<'a>(&'a self, wire: &'a str) -> &'a str {
        self.to_original.get(wire).map_or(wire, String::as_str)
    }

    fn free_wire_name(&self, name: &str) -> String {
        if fits(name) && !self.to_original.contains_key(name) {
            return name.to_owned();
        }
        // A set of names is finite, so one of the attempts is free.
        let mut attempt = 0;
        loop {
            let wire = hashed(name, attempt);
            if !self.to_original.contains_key(&wire) {
                return wire;
            }
            attempt += 1;
        }
    }
}

/// Whether every provider takes this name as it is.
fn fits(name: &str) -> bool {
    let mut characters = name.bytes();
    name.len() <= MAX_WIRE_NAME
        && characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && characters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn hashed(name: &str, attempt: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    if attempt > 0 {
        hash.update([0]);
        hash.update(attempt.to_be_bytes());
    }
    let digest = hash.finalize();

    let mut wire = String::with_capacity(MAX_WIRE_NAME);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        wire.push('_');
    }
    for character in name.chars() {
        if wire.len() == MAX_WIRE_NAME - HASH_DIGITS - 1 {
            break;
        }
        let kept = character.is_ascii_alphanumeric() || character == '-';
        wire.push(if kept { character } else { '_' });
    }
    wire.push('_');
    for byte in &digest[..HASH_DIGITS / 2] {
        for digit in [byte >> 4, byte & 0xf] {
            wire.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    wire
}

#[cfg(test)]
mod tests;
