//! The tools that one run may call, frozen (R-143…R-148).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Names with the definition digests they had when the run was bound, and where the set came from.
///
/// Bound to one run and never changed: a revocation or a refreshed policy makes a new set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedTools {
    source: String,
    tools: BTreeMap<String, Digest>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    versions: BTreeMap<String, String>,
}

impl AllowedTools {
    /// Freezes a set.
    pub fn new(source: impl Into<String>, tools: impl IntoIterator<Item = (String, Digest)>) -> Self {
        Self { source: source.into(), tools: tools.into_iter().collect(), versions: BTreeMap::new() }
    }

    /// The same set, in which these names keep their version for the whole run, whatever replaces them.
    #[must_use]
    pub fn pinned(self, versions: impl IntoIterator<Item = (String, String)>) -> Self {
        let versions = versions.into_iter().filter(|(name, _)| self.tools.contains_key(name)).collect();
        Self { versions, ..self }
    }

    /// Where the set came from, such as `subject:demo/alice/helper`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether this run may call a tool of this name. Exact: no pattern, case folding or trimming.
    pub fn permits(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// The definition digest that the name had when the run was bound.
    pub fn definition(&self, name: &str) -> Option<Digest> {
        self.tools.get(name).copied()
    }

    /// The version that the name is pinned to, if it is.
    pub fn version(&self, name: &str) -> Option<&str> {
        self.versions.get(name).map(String::as_str)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// What both sets allow, with the digests that they share and the pins of either: a child never has more than its
    /// parent.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(
            format!("{} ∩ {}", self.source, other.source),
            self.tools
                .iter()
                .filter(|(name, digest)| other.definition(name) == Some(**digest))
                .map(|(name, digest)| (name.clone(), *digest)),
        )
        .pinned(other.versions.clone().into_iter().chain(self.versions.clone()))
    }
}

#[cfg(test)]
mod tests;
