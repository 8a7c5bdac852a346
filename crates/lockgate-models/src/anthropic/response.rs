//! What an answer says beside its blocks: whether it is whole, what it used, what failed.

use lockgate_contract::document::Node;
use lockgate_contract::ports::{ModelError, ModelResponse, ProposedCall, Usage};

use super::blocks::Blocks;
use crate::chat::present;
use crate::failure;
use crate::names::WireNames;
use crate::wire::{invalid, parsed};

/// Reads a whole answer.
pub(super) fn read(body: String, names: &WireNames) -> Result<ModelResponse, ModelError> {
    let document = parsed(body)?;
    let root = document.root();
    if let Some(error) = present(root, "error") {
        return Err(failed(error));
    }
    let content = present(root, "content").ok_or_else(|| invalid("there is no content in it"))?;
    let mut blocks = Blocks::default();
    for block in content.elements() {
        blocks.begin(None, block);
    }
    let mut used = Used::default();
    used.absorb(root);
    blocks.turn(Finish::of(root), names, used.usage())
}

/// Why a turn ended, where that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finish {
    /// The provider stopped it, with what it says about that.
    Refused(Option<String>),
    /// At the token limit.
    Cut,
    /// Stopped half way, to be asked again.
    Paused,
    /// It is whole.
    Whole,
}

impl Finish {
    /// What the message, or what changes of it, says.
    pub(super) fn of(message: Node<'_>) -> Self {
        let word = present(message, "stop_reason").and_then(|word| word.as_str());
        match word.as_deref() {
            Some("refusal") => {
                let said = present(message, "stop_details").and_then(|details| present(details, "explanation"));
                Self::Refused(said.and_then(|said| said.as_str()).map(|said| failure::cut(&said)))
            }
            Some("max_tokens" | "model_context_window_exceeded") => Self::Cut,
            Some("pause_turn") => Self::Paused,
            _ => Self::Whole,
        }
    }

    /// A turn that ended early must not pass for one that is whole.
    pub(super) fn check(self, calls: &[ProposedCall]) -> Result<(), ModelError> {
        match self {
            // What was said before it is not to be used.
            Self::Refused(said) => Err(ModelError::Refused {
                detail: said.unwrap_or_else(|| "the provider stopped the answer".to_owned()),
            }),
            // Without a call a text ends the run: half an answer is none.
            Self::Cut if calls.is_empty() => Err(invalid("it was cut at the token limit")),
            Self::Paused if calls.is_empty() => Err(invalid("the provider paused it before it was whole")),
            Self::Cut => {
                tracing::warn!("the model's response was cut at the token limit");
                Ok(())
            }
            Self::Paused | Self::Whole => Ok(()),
        }
    }
}

/// The counts of a message. Those of a stream come twice, the later ones in place of the earlier.
#[derive(Debug, Default)]
pub(super) struct Used {
    input: Option<u64>,
    read: Option<u64>,
    created: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Used {
    /// What the member `usage` says.
    pub(super) fn absorb(&mut self, of: Node<'_>) {
        let Some(usage) = present(of, "usage") else { return };
        let count = |of: Node<'_>, key| present(of, key).and_then(|count| count.raw().parse().ok());
        self.input = count(usage, "input_tokens").or(self.input);
        self.read = count(usage, "cache_read_input_tokens").or(self.read);
        self.created = count(usage, "cache_creation_input_tokens").or(self.created);
        self.output = count(usage, "output_tokens").or(self.output);
        let thinking = present(usage, "output_tokens_details").and_then(|details| count(details, "thinking_tokens"));
        self.thinking = thinking.or(self.thinking);
    }

    /// In neutral words: what came from the cache and what went into it was read as well.
    pub(super) fn usage(&self) -> Usage {
        let cached = self.read.unwrap_or_default().saturating_add(self.created.unwrap_or_default());
        Usage {
            input_tokens: self.input.map(|input| input.saturating_add(cached)),
            output_tokens: self.output,
            cached_input_tokens: self.read,
            reasoning_tokens: self.thinking,
            cost_microusd: None,
        }
    }
}

/// An error inside an answer, by its type.
pub(super) fn failed(error: Node<'_>) -> ModelError {
    let kind = present(error, "type").and_then(|kind| kind.as_str());
    let status = match kind.as_deref() {
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        Some("billing_error") => 402,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("api_error") => 500,
        Some("timeout_error") => 504,
        Some("overloaded_error") => 529,
        _ => return failure::from_error_member(error),
    };
    failure::inside(status, error)
}

#[cfg(test)]
mod tests;
