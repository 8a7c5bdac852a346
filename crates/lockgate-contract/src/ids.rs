//! Names of runs, calls, approvals and artifacts. Text outside, types inside, so that none stands in for another.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Takes the text as it stands.
            pub fn new(text: impl Into<std::sync::Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

id! {
    /// One agent run: `run-` and twelve hex digits. Made by the harness.
    RunId
}
id! {
    /// One call: `<run id>:step-<n>:call-<m>`, and `….<k>` for calls inside it. Made by the harness, never by a
    /// model; the foreign key of request, result, events and idempotency.
    CallId
}
id! {
    /// One question put to a person: `apr-` and sixteen hex digits of the bound digest. Not a credential.
    ApprovalId
}
id! {
    /// A stored output: `art-` and sixteen hex digits of its content's digest.
    ArtifactId
}
id! {
    /// An unexpected failure, as the model may name it and the protected log explains it: `err-` and twelve hex digits.
    ErrorId
}

impl RunId {
    /// A run id from random bits.
    pub fn from_random(random: u64) -> Self {
        Self::new(format!("run-{:012x}", random & 0xffff_ffff_ffff))
    }

    /// The id of a call of this run.
    pub fn call(&self, step: u32, index: u32) -> CallId {
        CallId::new(format!("{self}:step-{step}:call-{index}"))
    }
}

impl CallId {
    /// The id of the `index`th call made inside this one.
    pub fn inner(&self, index: u32) -> Self {
        Self::new(format!("{self}.{index}"))
    }
}

impl ApprovalId {
    /// The id of the question that is bound to this digest.
    pub fn from_digest(bound: Digest) -> Self {
        Self::new(format!("apr-{}", bound.short(16)))
    }
}

#[cfg(test)]
mod tests;
