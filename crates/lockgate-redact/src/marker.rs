//! The text that stands where a secret stood: `[redacted:github_token#a1b2]`.
//!
//! The four digits are the start of a keyed hash of the secret, so that a reader can see that two places held the same
//! secret and cannot find out which.

use std::collections::HashSet;
use std::ops::Range;

use sha2::{Digest, Sha256};

/// What every marker begins with.
pub(crate) const OPENING: &str = "[redacted:";

/// Makes the comparable part of markers.
#[derive(Clone)]
pub(crate) struct Tagger(Box<[u8]>);

impl Tagger {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(key.into())
    }

    /// Appends the marker for one secret.
    pub(crate) fn write(&self, out: &mut String, label: &str, value: &str) {
        out.push_str(OPENING);
        out.push_str(label);
        out.push('#');
        // The key's length is hashed too: no key and value can be cut at another place and give the same tag.
        let hash = Sha256::new()
            .chain_update((self.0.len() as u64).to_be_bytes())
            .chain_update(&self.0)
            .chain_update(value.as_bytes())
            .finalize();
        for byte in hash.iter().take(2) {
            for digit in [byte >> 4, byte & 0xf] {
                out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
        out.push(']');
    }
}

/// The places of the markers that this scrubber makes, in order. Only its own labels count: otherwise a tool could
/// hide a secret inside something that merely looks like a marker.
pub(crate) fn positions(text: &str, labels: &HashSet<Box<str>>) -> Vec<Range<usize>> {
    memchr::memmem::find_iter(text.as_bytes(), OPENING)
        .filter_map(|start| {
            let label_start = start + OPENING.len();
            let label_length = text.as_bytes()[label_start..].iter().take(65).position(|&byte| byte == b'#')?;
            let label_end = label_start + label_length;
            let label = text.get(label_start..label_end)?;
            let tag = text.as_bytes().get(label_end + 1..label_end + 6)?;
            let complete = tag[..4].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) && tag[4] == b']';
            (complete && labels.contains(label)).then_some(start..label_end + 6)
        })
        .collect()
}
