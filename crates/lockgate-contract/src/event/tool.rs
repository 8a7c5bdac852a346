//! A call on its way through the gate, until it settles.

use serde::{Deserialize, Serialize};

use crate::call::ActionLanguage;
use crate::digest::Digest;
use crate::effect::{Effect, Permission};
use crate::ids::CallId;

/// A call reached the gate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolRequested {
    /// The name as written.
    pub tool_name: String,
    /// The call inside which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
    /// The raw argument text, or the code, scrubbed, for runs without a model turn to read it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_text: Option<String>,
    /// What the text is.
    #[serde(default, skip_serializing_if = "ActionLanguage::is_call")]
    pub language: ActionLanguage,
}

/// A proved-harmless call was relaxed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolRelaxed {
    /// The tool.
    pub tool_name: String,
    /// What was declared.
    pub from: Permission,
    /// What it became.
    pub to: Permission,
}

/// The intent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolStarted {
    /// The tool.
    pub tool_name: String,
    /// Its version.
    pub tool_version: String,
    /// Its effect.
    pub effect: Effect,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Its definition digest.
    pub definition: Digest,
    /// The digest of the arguments.
    pub arguments_digest: Digest,
    /// The policies that let it pass.
    pub policies: Vec<String>,
    /// The key that is handed to the tool, where something is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}
