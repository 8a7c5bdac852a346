//! On whose behalf a run acts. Comes from configuration or authentication, never from a model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

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
    /// Data domains that the subject may see; `None` means every one.
    pub domains: Option<BTreeSet<String>>,
    /// The strongest effect that the subject may cause.
    pub level: Effect,
}

impl Default for Subject {
    fn default() -> Self {
        Self {
            tenant: "default".to_owned(),
            user: "local".to_owned(),
            agent: "agent".to_owned(),
            scopes: BTreeSet::new(),
            domains: None,
            level: Effect::External,
        }
    }
}

impl Subject {
    /// The subject in one line, as [`crate::allowed::AllowedTools`] names its source: `subject:demo/alice/helper`.
    pub fn source(&self) -> String {
        format!("subject:{}/{}/{}", self.tenant, self.user, self.agent)
    }
}
