//! What a call would meet where it runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What a call would meet where it runs, beside its arguments. An approval is bound to it: a yes for one environment, or for
/// files as they were, is none for another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The environment that calls act on, as its operator calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The files that the call would use, by the names that it has for them, and what is in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Digest>,
}

impl Circumstances {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.environment.is_none() && self.files.is_empty()
    }
}
