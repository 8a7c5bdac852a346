//! A turn of Chat Completions that comes in pieces.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Node;
use lockgate_contract::ports::{Heard, ModelError, ModelResponse, Usage};

use super::kept::Kept;
use super::response::{Finish, check_finish, first_choice, plain_text, present};
use crate::failure::from_error_member;
use crate::turn::Turn;
use crate::usage::usage_of;
use crate::wire::{Sent, TurnReader, ended_early, parsed};

/// Reads the pieces.
pub(super) struct Reader {
    sent: Sent,
    turn: Turn,
    kept: Kept,
    /// What the model would rather not say.
    refusal: String,
    finish: Option<Finish>,
    is_done: bool,
    usage: Usage,
}

impl Reader {
    pub(super) fn new(sent: Sent) -> Self {
        Self {
            sent,
            turn: Turn::default(),
            kept: Kept::default(),
            refusal: String::new(),
            finish: None,
            is_done: false,
            usage: Usage::default(),
        }
    }
}

impl TurnReader for Reader {
    fn event(&mut self, _kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let document = parsed(data)?;
        let root = document.root();
        if let Some(error) = present(root, "error") {
            return Err(from_error_member(error));
        }
        // Groq's older place for it, and everyone's.
        let usage = present(root, "usage").or_else(|| present(present(root, "x_groq")?, "usage"));
        if let Some(usage) = usage {
            self.usage = usage_of(usage);
        }
        let Some(choice) = present(root, "choices").and_then(first_choice) else {
            return Ok(());
        };
        if let Some(error) = present(choice, "error") {
            return Err(from_error_member(error));
        }
        // Some servers send a whole message where a piece of one is meant.
        if let Some(delta) = present(choice, "delta").or_else(|| present(choice, "message")) {
            self.delta(delta, heard);
        }
        if let Some(finish) = present(choice, "finish_reason").and_then(|finish| finish.as_str()) {
            self.finish = Some(Finish::of(&finish));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError> {
        let Self { sent, turn, kept, refusal, finish, is_done, usage } = *self;
        // Some servers end with one of the two only.
        if finish.is_none() && !is_done {
            return Err(ended_early());
        }
        let (mut text, calls) = turn.finish(&sent.names)?;
        if text.is_none() && !refusal.is_empty() {
            text = Some(refusal);
        }
        check_finish(finish, text.as_deref(), &calls)?;
        Ok(ModelResponse { text, calls, items: kept.items(super::NAME), usage })
    }
}

impl Reader {
    fn delta(&mut self, delta: Node<'_>, heard: &Heard) {
        self.kept.message(delta, heard);
        if let Some(content) = present(delta, "content") {
            let text = self.kept.content(content, heard);
            self.turn.text(&text, heard);
        }
        if let Some(refusal) = present(delta, "refusal").and_then(|refusal| refusal.as_str()) {
            self.refusal.push_str(&refusal);
        }
        let calls = present(delta, "tool_calls");
        for call in calls.iter().flat_map(lockgate_contract::document::Node::elements) {
            let index = call.get("index").and_then(|index| index.decode().ok());
            let id = present(call, "id").map(plain_text).unwrap_or_default();
            let (action, language, text) = match (present(call, "function"), present(call, "custom")) {
                (None, Some(custom)) => (Some(custom), ActionLanguage::Code, "input"),
                (function, _) => (function, ActionLanguage::Call, "arguments"),
            };
            let at = self.piece(index, &id, language, action, text);
            self.kept.call(at, call);
        }
        // The form before tool calls: one call, no id.
        if calls.is_none_or(|calls| calls.is_empty())
            && let Some(function) = present(delta, "function_call")
        {
            self.piece(None, "", ActionLanguage::Call, Some(function), "arguments");
        }
    }

    fn piece(
        &mut self,
        index: Option<u64>,
        id: &str,
        language: ActionLanguage,
        action: Option<Node<'_>>,
        text: &str,
    ) -> usize {
        let member = |key| action.and_then(|action| present(action, key)).map(plain_text).unwrap_or_default();
        self.turn.piece(index, id, language, &member("name"), &member(text))
    }
}

#[cfg(test)]
mod tests;
