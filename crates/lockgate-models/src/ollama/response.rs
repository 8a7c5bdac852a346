//! A turn of Ollama, whole or in pieces: both are read here, since a piece has the form of a whole answer.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Delta, Heard, ModelError, ModelResponse, ProposedCall, ProviderItem, Usage};
use serde::Serialize;

use super::NAME;
use crate::chat::response::{Finish, check_finish, plain_text, present};
use crate::failure::{cut, from_error_member};
use crate::names::WireNames;
use crate::wire::invalid;

/// What came of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    thinking: String,
    calls: Vec<ProposedCall>,
    is_done: bool,
    done_reason: String,
    usage: Usage,
}

/// What a model thought, which it is told again with its turn.
#[derive(Serialize)]
struct Thinking<'a> {
    thinking: &'a str,
}

impl crate::wire::Answer for Answer {
    fn piece(&mut self, root: Node<'_>, heard: &Heard) -> Result<(), ModelError> {
        if let Some(error) = present(root, "error") {
            return Err(failure(error));
        }
        if self.is_done {
            return Err(invalid("it goes on behind its end"));
        }
        if let Some(message) = present(root, "message") {
            let text = |key| present(message, key).and_then(|text| text.as_str()).filter(|text| !text.is_empty());
            if let Some(thinking) = text("thinking") {
                heard(Delta::Reasoning(&thinking));
                self.thinking.push_str(&thinking);
            }
            if let Some(text) = text("content") {
                heard(Delta::Text(&text));
                self.text.push_str(&text);
            }
            for call in present(message, "tool_calls").iter().flat_map(Node::elements) {
                self.calls.push(proposed(call, self.calls.len())?);
            }
        }
        self.is_done = present(root, "done").and_then(|done| done.as_bool()).unwrap_or(false);
        if self.is_done {
            self.done_reason = present(root, "done_reason").map(plain_text).unwrap_or_default();
            self.usage = usage_of(root);
        }
        Ok(())
    }

    fn finish(self, names: &WireNames) -> Result<Option<ModelResponse>, ModelError> {
        if !self.is_done {
            return Ok(None);
        }
        let finish = match self.done_reason.as_str() {
            "length" => Finish::Cut,
            // Older servers say no reason.
            "stop" | "tool_calls" | "" => Finish::Whole,
            other => return Err(invalid(format!("it ended with `{}`", cut(other)))),
        };
        let mut calls = self.calls;
        for call in &mut calls {
            call.name = names.original(&call.name).to_owned();
        }
        let text = (!self.text.is_empty()).then_some(self.text);
        check_finish(Some(finish), text.as_deref(), &calls)?;
        let thinking = (!self.thinking.is_empty()).then_some(Thinking { thinking: &self.thinking });
        let item = thinking.and_then(|thinking| Document::from_serialize(&thinking).ok());
        let items = item.map(|item| ProviderItem { adapter: NAME.to_owned(), before: 0, item });
        Ok(Some(ModelResponse { text, calls, items: items.into_iter().collect(), usage: self.usage }))
    }
}

/// An error that comes with a status of success: the server began to answer, and failed.
fn failure(error: Node<'_>) -> ModelError {
    match error.as_str() {
        Some(said) => {
            ModelError::Overloaded { detail: format!("an error inside the answer: {}", cut(&said)), retry_after: None }
        }
        None => from_error_member(error),
    }
}

fn proposed(call: Node<'_>, index: usize) -> Result<ProposedCall, ModelError> {
    let function = present(call, "function");
    let name = function.and_then(|function| present(function, "name")).and_then(|name| name.as_str());
    let name = name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| invalid(format!("call {index} of its message has no name")))?;
    Ok(ProposedCall {
        provider_call_id: present(call, "id").map(plain_text).unwrap_or_default(),
        name: name.into_owned(),
        arguments_text: function
            .and_then(|function| present(function, "arguments"))
            .map(plain_text)
            .unwrap_or_default(),
        language: ActionLanguage::Call,
    })
}

pub(super) fn usage_of(root: Node<'_>) -> Usage {
    let count = |key| present(root, key)?.raw().parse().ok();
    Usage { input_tokens: count("prompt_eval_count"), output_tokens: count("eval_count"), ..Usage::default() }
}

#[cfg(test)]
mod tests;
