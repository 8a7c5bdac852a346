//! A call as it reaches the gate.

use serde::{Deserialize, Serialize};

use crate::ids::CallId;

/// One requested call: untrusted text under an id that the harness made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The harness's id.
    pub call_id: CallId,
    /// The model turn that asked for it, from zero.
    pub step: u32,
    /// The call inside which this one was made.
    pub parent: Option<CallId>,
    /// The provider's id, for the wire only.
    pub provider_call_id: String,
    /// The tool's name as the model wrote it.
    pub tool_name: String,
    /// The raw argument text as the model wrote it, or its code.
    pub arguments_text: String,
    /// What the text is.
    pub language: ActionLanguage,
}

/// What a model writes an action in.
///
/// Where it is stored, only [`Code`](Self::Code) is written down: what says nothing is a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionLanguage {
    /// One tool call: a name, and a text of JSON arguments.
    #[default]
    Call,
    /// One piece of code for an environment. The gate takes calls only, and ends it as `wrong_action_language`.
    Code,
}

impl ActionLanguage {
    /// Whether it is a tool call.
    pub const fn is_call(&self) -> bool {
        matches!(self, Self::Call)
    }
}
