//! On whose behalf a run acts. Comes from configuration or authentication, never from a model.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize};

use crate::effect::Effect;

/// The agent, the person and the tenant of a run, and what they may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Subject {
    /// The tenant that owns run, approvals and journal rows.
    pub tenant: String,
    /// The person for whom the agent works.
    pub user: String,
    /// The agent.
    pub agent: String,
    /// What the subject may reach; a tool is visible only if all its scopes are here.
    pub scopes: BTreeSet<String>,
    /// The data domains that the subject may see; a tool that reaches one is visible only if it is here.
    #[serde(deserialize_with = "null_is_none_of_them")]
    pub domains: BTreeSet<String>,
    /// The strongest effect that the subject may cause.
    pub level: Effect,
    /// Pins, by tool name: a tool listed here is visible only in exactly this version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

impl Default for Subject {
    fn default() -> Self {
        Self {
            tenant: "default".to_owned(),
            user: "local".to_owned(),
            agent: "agent".to_owned(),
            scopes: BTreeSet::new(),
            domains: BTreeSet::new(),
            level: Effect::External,
            versions: BTreeMap::new(),
        }
    }
}

impl Subject {
    /// The subject in one line, as [`crate::allowed::AllowedTools`] names its source: `subject:demo/alice/helper`.
    pub fn source(&self) -> String {
        format!("subject:{}/{}/{}", self.tenant, self.user, self.agent)
    }
}

/// Runs stored before 0.1 hold `null`, which stood for every domain. What nobody listed is no longer granted.
fn null_is_none_of_them<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
