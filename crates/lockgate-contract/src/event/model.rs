//! What the model was asked and what it answered.

use serde::{Deserialize, Serialize};

use crate::call::ActionLanguage;
use crate::ids::CallId;
use crate::ports::{ProviderItem, Usage};

/// The model is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelRequested {
    /// Messages in the history.
    pub messages: u64,
    /// Tools that the model is shown.
    pub tools: u64,
}

/// The whole assistant message, so that calls and results can be paired and the run replayed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelResponded {
    /// Text beside the calls.
    pub text: Option<String>,
    /// The calls, under the ids that the harness made in this very commit.
    pub calls: Vec<RespondedCall>,
    /// What the provider wants back unchanged; without those in which a secret stood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ProviderItem>,
    /// Tokens and cost, where counted.
    #[serde(flatten)]
    pub usage: Usage,
}

/// The model gave no usable answer. One attempt, one event; nobody retries behind it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelFailed {
    /// The stable word of [`ModelError::code`](crate::ports::ModelError::code).
    pub reason: String,
    /// For people, scrubbed.
    pub detail: String,
}

/// One call of a model turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RespondedCall {
    /// The harness's id.
    pub call_id: CallId,
    /// The provider's id, as it came.
    pub provider_call_id: String,
    /// The name as written.
    pub tool_name: String,
    /// The raw argument text, or the code, scrubbed of secrets.
    pub arguments_text: String,
    /// What the text is.
    #[serde(default, skip_serializing_if = "ActionLanguage::is_call")]
    pub language: ActionLanguage,
    /// A secret was taken out of the argument text: it is not what the model sent, and is never run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}
