//! The type that tokens, codes and client secrets live in.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// A text that `Debug` does not show. It cannot be serialized by accident: see `exposed`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// For the one file that secrets are written to: `#[serde(serialize_with = …)]`.
pub(super) mod exposed {
    use serde::{Serialize as _, Serializer};

    use super::Secret;

    pub(in crate::oauth) fn secret<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    #[expect(clippy::ref_option, reason = "serde hands the field over like this")]
    pub(in crate::oauth) fn option<S: Serializer>(secret: &Option<Secret>, serializer: S) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(serializer)
    }
}
