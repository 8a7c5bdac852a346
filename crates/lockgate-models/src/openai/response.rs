//! The body of one Chat Completions response, read from exact text.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::ports::{ModelError, ModelResponse, ProposedCall, Usage};

use super::failure::from_error_member;
use crate::names::WireNames;

/// Reads the first choice. Argument texts come out as they went in, byte for byte; nothing is repaired.
pub(super) fn read(body: String, names: &WireNames) -> Result<ModelResponse, ModelError> {
    let limits = super::limits(body.len());
    let document =
        Document::parse(body, limits).map_err(|error| invalid(format!("the body is not acceptable JSON: {error}")))?;
    let root = document.root();
    let Some(choice) = present(root, "choices").and_then(|choices| choices.elements().next()) else {
        return Err(match present(root, "error") {
            Some(error) => from_error_member(error),
            None => invalid("there is no choice in it"),
        });
    };
    let Some(message) = present(choice, "message") else {
        return Err(match present(choice, "error") {
            Some(error) => from_error_member(error),
            None => invalid("its choice has no message"),
        });
    };
    let text = text_of(message)?;
    let calls = calls_of(message, names)?;
    check_finish(choice, text.as_deref(), &calls)?;
    Ok(ModelResponse { text, calls, usage: usage_of(root) })
}

/// A response that ended early must not pass for one that is whole.
fn check_finish(choice: Node<'_>, text: Option<&str>, calls: &[ProposedCall]) -> Result<(), ModelError> {
    let finish = present(choice, "finish_reason").and_then(|finish| finish.as_str());
    match finish.as_deref() {
        Some("content_filter") if text.is_none() && calls.is_empty() => {
            Err(ModelError::Refused { detail: "the provider's content filter held the answer back".to_owned() })
        }
        // A cut argument text is passed on and refused by the gate as broken JSON. An empty one means `{}` there, so a call
        // that was cut before its first argument would run with none.
        Some("length")
            if calls.last().is_some_and(|call| call.language.is_call() && call.arguments_text.trim().is_empty()) =>
        {
            Err(invalid("it was cut at the token limit before the arguments of its last call"))
        }
        // Without a call a text ends the run: half an answer is none.
        Some("length") if calls.is_empty() => Err(invalid("it was cut at the token limit")),
        Some("length") => {
            tracing::warn!("the model's response was cut at the token limit");
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The text: a string, or the text parts of a list. A refusal is the model's text too, where there is no other.
fn text_of(message: Node<'_>) -> Result<Option<String>, ModelError> {
    let mut text = String::new();
    if let Some(content) = present(message, "content") {
        if let Some(whole) = content.as_str() {
            text.push_str(&whole);
        } else if content.kind() == Kind::Array {
            for part in content.elements() {
                let said = part.get("text").or_else(|| part.get("refusal"));
                if let Some(said) = said.and_then(|said| said.as_str()) {
                    text.push_str(&said);
                }
            }
        } else {
            return Err(invalid("the content of its message is neither a text nor a list"));
        }
    }
    if text.is_empty()
        && let Some(refusal) = present(message, "refusal").and_then(|refusal| refusal.as_str())
    {
        text.push_str(&refusal);
    }
    Ok((!text.is_empty()).then_some(text))
}

fn calls_of(message: Node<'_>, names: &WireNames) -> Result<Vec<ProposedCall>, ModelError> {
    let mut calls = Vec::new();
    if let Some(list) = present(message, "tool_calls") {
        if list.kind() != Kind::Array {
            return Err(invalid("the calls of its message are not a list"));
        }
        for (index, call) in list.elements().enumerate() {
            // The member says what a call is: servers leave its type out, or write another.
            let (action, language) = match (present(call, "function"), present(call, "custom")) {
                (Some(function), _) => (function, ActionLanguage::Call),
                (None, Some(custom)) => (custom, ActionLanguage::Code),
                (None, None) => return Err(invalid(format!("call {index} of its message has no function"))),
            };
            let id = present(call, "id").map(plain_text).unwrap_or_default();
            calls.push(proposed(action, language, id, names, index)?);
        }
    }
    // The form before tool calls, which some servers still send: one call, no id.
    if calls.is_empty()
        && let Some(function) = present(message, "function_call")
    {
        calls.push(proposed(function, ActionLanguage::Call, String::new(), names, 0)?);
    }
    Ok(calls)
}

fn proposed(
    action: Node<'_>,
    language: ActionLanguage,
    provider_call_id: String,
    names: &WireNames,
    index: usize,
) -> Result<ProposedCall, ModelError> {
    let name = present(action, "name").and_then(|name| name.as_str());
    let name = name.ok_or_else(|| invalid(format!("call {index} of its message has no name")))?;
    let text = match language {
        ActionLanguage::Call => "arguments",
        // A free text, which is no JSON.
        ActionLanguage::Code => "input",
    };
    Ok(ProposedCall {
        provider_call_id,
        name: names.original(&name).to_owned(),
        // Absent happens for tools without parameters; a value that is no string is kept as its own JSON text.
        arguments_text: present(action, text).map(plain_text).unwrap_or_default(),
        language,
    })
}

fn usage_of(root: Node<'_>) -> Usage {
    let count = |key| present(root, "usage")?.get(key)?.raw().parse().ok();
    Usage { input_tokens: count("prompt_tokens"), output_tokens: count("completion_tokens") }
}

/// A member that is there and not null: providers write null and leave out as they like.
fn present<'a>(node: Node<'a>, key: &str) -> Option<Node<'a>> {
    node.get(key).filter(|value| !value.is_null())
}

/// A string bare, anything else as its JSON text.
fn plain_text(node: Node<'_>) -> String {
    node.as_str().map_or_else(|| node.raw().to_owned(), Cow::into_owned)
}

fn invalid(detail: impl Into<String>) -> ModelError {
    ModelError::InvalidResponse { detail: detail.into() }
}

#[cfg(test)]
mod tests;
