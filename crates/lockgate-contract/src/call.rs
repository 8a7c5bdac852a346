//! A call as it reaches the gate.

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
    /// The raw argument text as the model wrote it.
    pub arguments_text: String,
}
