//! The port to a model: one request, one response (R-191…R-196).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::call::ActionLanguage;
use crate::document::Document;
use crate::ids::CallId;
use crate::ports::BoxFuture;

/// Turns a vendor's wire into the words of this crate. Knows nothing about tools being run.
pub trait ModelAdapter: Send + Sync {
    /// The adapter's name for events and errors, such as `scripted`.
    fn name(&self) -> &str;

    /// Asks the model for its next turn. One attempt: whoever calls decides about retries.
    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>>;

    /// The same, with what the model says handed on while it says it, where the provider streams. What is heard is shown to people and
    /// nothing else: only a turn that ended well is a turn.
    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a Heard,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let response = self.respond(request).await?;
            if let Some(text) = &response.text {
                heard(Delta::Text(text));
            }
            Ok(response)
        })
    }
}

/// Hears a model speak.
pub type Heard = dyn Fn(Delta<'_>) + Send + Sync;

/// A piece of a turn that is not over. Untrusted, and not scrubbed yet: a secret may stand across two pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of the text.
    Text(&'a str),
    /// More of what the model thinks aloud, where the provider shows it.
    Reasoning(&'a str),
}

/// What the model is asked: the whole history and the tools it may see.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Zero-based number of this model turn within the run.
    pub step: u32,
    /// The history, oldest first; every assistant call is followed by exactly one result.
    pub messages: Vec<Message>,
    /// The tools of the run's allowed set, sorted by name.
    pub tools: Vec<ToolDefinition>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// The registered name; adapters project it where a provider is stricter.
    pub name: String,
    /// What the tool does, in the author's words.
    pub description: String,
    /// The original input schema.
    pub input_schema: Document,
}

/// One message of the neutral history.
#[derive(Debug, Clone)]
pub enum Message {
    /// Standing instructions.
    System {
        /// Their text.
        text: String,
    },
    /// What the user asked.
    User {
        /// Its text.
        text: String,
    },
    /// One model turn.
    Assistant {
        /// What the model said beside its calls.
        text: Option<String>,
        /// The calls it asked for, in its order.
        calls: Vec<MessageCall>,
        /// What its provider wants back unchanged.
        items: Vec<ProviderItem>,
    },
    /// The one result of one call.
    Tool {
        /// The call that this answers.
        call_id: CallId,
        /// Whether the call succeeded.
        ok: bool,
        /// What the model is told: the data, or code, reason and message.
        content: Document,
    },
}

/// A call as it stands in the history.
#[derive(Debug, Clone)]
pub struct MessageCall {
    /// The harness's own id.
    pub call_id: CallId,
    /// The provider's id as it came: possibly empty, possibly doubled. Never an identity (S-03).
    pub provider_call_id: String,
    /// The name as the model wrote it.
    pub name: String,
    /// The raw argument text, or the code, scrubbed of secrets. Arguments may be broken JSON: an adapter sends `{}` then.
    pub arguments_text: String,
    /// What the text is.
    pub language: ActionLanguage,
}

/// Part of a turn that only its provider understands and wants back unchanged: reasoning with its signature, encrypted state, the id of
/// an item. Nothing here reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProviderItem {
    /// The adapter that made it, by [`ModelAdapter::name`]. Every other one leaves it out.
    pub adapter: String,
    /// How many of the turn's calls stand before it.
    pub before: u32,
    /// The item, in the adapter's own form.
    pub item: Document,
}

/// Two are equal with the same text.
impl PartialEq for ProviderItem {
    fn eq(&self, other: &Self) -> bool {
        (&self.adapter, self.before, self.item.text()) == (&other.adapter, other.before, other.item.text())
    }
}

impl Eq for ProviderItem {}

/// One model turn, as the provider gave it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelResponse {
    /// Text beside the calls; `None` when there was none.
    pub text: Option<String>,
    /// The calls it asks for, in its order; empty ends the run.
    pub calls: Vec<ProposedCall>,
    /// What the provider wants back unchanged with the next request.
    pub items: Vec<ProviderItem>,
    /// Tokens, where the provider counts them.
    pub usage: Usage,
}

/// An action that a model proposes: untrusted text, nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCall {
    /// The provider's id, kept for the wire only.
    pub provider_call_id: String,
    /// The tool's name as written.
    pub name: String,
    /// The raw argument text, or the code, byte for byte.
    pub arguments_text: String,
    /// What the text is.
    pub language: ActionLanguage,
}

/// What one model turn used. Each is there where the provider counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those from a cache among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, those of reasoning among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Of the tokens read, those that came from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Of the tokens written, those that only the model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// What it costs, in millionths of a US dollar: by the provider's word, or by the prices that were configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_microusd: Option<u64>,
}

/// Why there is no response. `detail` is for people; it may quote the provider and is scrubbed before it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// A scripted model has no turn left.
    #[error("the script has no turn left")]
    ScriptExhausted,
    /// The provider is overloaded or failed on its side.
    #[error("the model is overloaded: {detail}")]
    Overloaded {
        /// What the provider said.
        detail: String,
        /// When it said to come back.
        retry_after: Option<Duration>,
    },
    /// Too many requests or tokens.
    #[error("the model's rate limit is reached: {detail}")]
    RateLimited {
        /// What the provider said.
        detail: String,
        /// When it said to come back.
        retry_after: Option<Duration>,
    },
    /// The provider refused to answer.
    #[error("the model refused: {detail}")]
    Refused {
        /// What the provider said.
        detail: String,
    },
    /// The key is missing, wrong or not entitled.
    #[error("the model does not accept the credentials: {detail}")]
    Unauthorized {
        /// What the provider said.
        detail: String,
    },
    /// The provider does not accept the request.
    #[error("the model does not accept the request: {detail}")]
    InvalidRequest {
        /// What the provider said.
        detail: String,
    },
    /// The response cannot be read.
    #[error("the model's response cannot be read: {detail}")]
    InvalidResponse {
        /// What is wrong with it, and where.
        detail: String,
    },
    /// There is no way to the provider.
    #[error("the model cannot be reached: {detail}")]
    Unreachable {
        /// What failed.
        detail: String,
    },
    /// No response in time.
    #[error("the model gave no response in time")]
    TimedOut,
    /// The adapter is not set up.
    #[error("the model is not configured: {detail}")]
    Configuration {
        /// What is missing and how to give it.
        detail: String,
    },
}

impl ModelError {
    /// The stable word for this kind of error: what a run's `reason` shows.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ScriptExhausted => "script_exhausted",
            Self::Overloaded { .. } => "model_overloaded",
            Self::RateLimited { .. } => "model_rate_limited",
            Self::Refused { .. } => "model_refused",
            Self::Unauthorized { .. } => "model_unauthorized",
            Self::InvalidRequest { .. } => "model_invalid_request",
            Self::InvalidResponse { .. } => "model_invalid_response",
            Self::Unreachable { .. } => "model_unreachable",
            Self::TimedOut => "model_timed_out",
            Self::Configuration { .. } => "model_not_configured",
        }
    }
}
