//! What comes back from a call: the wire shape, and what the run's loop reads from it.

use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::effect::EffectState;
use crate::ids::{ArtifactId, CallId, ErrorId};
use crate::outcome::{Outcome, Status};

/// The one result of one call. On success `error` is null, on failure `data` is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that this answers.
    pub call_id: CallId,
    /// The name as it was called, also when no such tool exists.
    pub tool_name: String,
    /// The tool's version; null when the call cannot be tied to a tool that this caller may see (R-086, C-10).
    pub tool_version: Option<String>,
    /// Whether it succeeded.
    pub ok: bool,
    /// The output.
    pub data: Option<Document>,
    /// Why there is none.
    pub error: Option<ToolError>,
    /// What is not the tool's answer.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// Why a call has no data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolError {
    /// The stable code.
    pub code: Outcome,
    /// A stable word that says more, where the code's row has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence for the model.
    pub message: String,
    /// Advice.
    pub retryable: bool,
    /// What more the tool says of its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Document>,
}

/// What is not the tool's answer. Absent keys mean nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// The call whose stored result this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deduplicated: Option<CallId>,
    /// Bytes of the output's text that were left out of `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_bytes: Option<u64>,
    /// Where the whole scrubbed output can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// Leads to the protected log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_id: Option<ErrorId>,
    /// What is known about the world, where it is not what the code says anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect_state: Option<EffectState>,
    /// What a stopped call had printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_output: Option<String>,
    /// Characters that the handler left out itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_chars: Option<u64>,
    /// Bytes that were not UTF-8 stand as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The question that is open, with `approval_required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<crate::ids::ApprovalId>,
    /// Who found out what became of the call, after its result was lost: `tool`, `late_result`, or a person's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconciled_by: Option<String>,
    /// A person put other arguments in place of the model's, and this is the result of those.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub arguments_edited: bool,
}

impl Meta {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ToolResult {
    /// The code of the failure, `None` on success.
    pub fn code(&self) -> Option<&Outcome> {
        self.error.as_ref().map(|error| &error.code)
    }
}

/// What the loop sees of a call: five fields.
#[derive(Debug, Clone)]
pub struct ActionOutcome {
    /// What the call counts as.
    pub status: Status,
    /// What happened, for the event stream and for people. The model's history takes
    /// [`Settled::model_content`](crate::event::Settled::model_content) instead.
    pub observation: Document,
    /// Whether this library made the observation, not the tool.
    pub observation_is_synthetic: bool,
    /// The environment itself reported completion. Only a project's own action executor can set it (R-102, C-18).
    pub env_reported_completion: bool,
    /// Characters that were left out of the observation; 0 is a true value.
    pub observation_truncated_chars: u64,
}

#[cfg(test)]
mod tests;
