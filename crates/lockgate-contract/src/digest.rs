//! SHA-256 digests of texts and documents.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::document::Document;
use crate::hexadecimal;

/// A SHA-256 digest, written as `sha256:` and 64 lower-case hexadecimal digits.
///
/// Every digest is over a framed text: the length of a tag (8 bytes, big-endian), the tag, the
/// text. The tag says what is digested, and in which version of its encoding, so that texts of two
/// kinds never have one digest (architecture rule 3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a text under a tag.
    pub fn of_text(tag: &str, text: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update((tag.len() as u64).to_be_bytes());
        hasher.update(tag);
        hasher.update(text);
        Self(hasher.finalize().into())
    }

    /// The digest of a document's value (its canonical form, [`Document::canonical`]) under a tag.
    pub fn of(tag: &str, document: &Document) -> Self {
        Self::of_text(tag, &document.canonical())
    }

    /// A digest from its 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first `digits` hexadecimal digits, for ids and displays; all 64 if there are no more.
    pub fn short(&self, digits: usize) -> String {
        let mut text = self.to_string().split_off(PREFIX.len());
        text.truncate(digits);
        text
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

const PREFIX: &str = "sha256:";

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        }
        formatter.write_str(PREFIX)?;
        formatter.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct DigestError {
    text: String,
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let bytes = text.strip_prefix(PREFIX).and_then(hexadecimal::bytes);
        bytes.map(Self).ok_or_else(|| DigestError { text: text.to_owned() })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
