//! The body of one Chat Completions response, read from exact text.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Kind, Node};
use lockgate_contract::ports::{ModelError, ModelResponse, ProposedCall};

use super::kept::Kept;
use crate::failure::from_error_member;
use crate::names::WireNames;
use crate::usage::usage_of;
use crate::wire::{invalid, parsed};

/// Reads the first choice. Argument texts come out as they went in, byte for byte; nothing is repaired.
pub(super) fn read(body: String, names: &WireNames) -> Result<ModelResponse, ModelError> {
    let document = parsed(body)?;
    let root = document.root();
    let choices = present(root, "choices");
    let Some(choice) = choices.and_then(first_choice) else {
        return Err(match present(root, "error") {
            Some(error) => from_error_member(error),
            None => invalid("there is no choice in it"),
        });
    };
    if let Some(error) = present(choice, "error").or_else(|| present(root, "error")) {
        return Err(from_error_member(error));
    }
    let Some(message) = present(choice, "message") else {
        return Err(invalid("its choice has no message"));
    };
    let mut kept = Kept::default();
    let text = text_of(message, &mut kept)?;
    let calls = calls_of(message, names, &mut kept)?;
    kept.message(message, &|_| {});
    let finish = present(choice, "finish_reason").and_then(|finish| finish.as_str());
    check_finish(finish.map(|finish| Finish::of(&finish)), text.as_deref(), &calls)?;
    let usage = present(root, "usage").map(usage_of).unwrap_or_default();
    Ok(ModelResponse { text, calls, items: kept.items(super::NAME), usage })
}

/// The choice that counts, where a server gives more than it was asked for: the first by its own number.
pub(super) fn first_choice(choices: Node<'_>) -> Option<Node<'_>> {
    choices
        .elements()
        .find(|choice| choice.get("index").is_none_or(|index| index.decode::<u64>() == Ok(0) || index.is_null()))
}

/// Why a turn ended, where that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    /// The provider held it back.
    Filtered,
    /// The provider broke off.
    Failed,
    /// At the token limit.
    Cut,
    /// It is whole.
    Whole,
}

impl Finish {
    pub(super) fn of(word: &str) -> Self {
        match word {
            "content_filter" => Self::Filtered,
            "error" | "insufficient_system_resource" => Self::Failed,
            "length" | "model_length" | "max_tokens" => Self::Cut,
            _ => Self::Whole,
        }
    }
}

/// A response that ended early must not pass for one that is whole.
pub(crate) fn check_finish(
    finish: Option<Finish>,
    text: Option<&str>,
    calls: &[ProposedCall],
) -> Result<(), ModelError> {
    match finish {
        Some(Finish::Failed) => Err(ModelError::Overloaded {
            detail: "the provider broke off in the middle of its answer".to_owned(),
            retry_after: None,
        }),
        Some(Finish::Filtered) if text.is_none() && calls.is_empty() => {
            Err(ModelError::Refused { detail: "the provider's content filter held the answer back".to_owned() })
        }
        // A cut argument text is passed on and refused by the gate as broken JSON. An empty one means `{}` there, so a call
        // that was cut before its first argument would run with none.
        Some(Finish::Cut | Finish::Filtered)
            if calls.last().is_some_and(|call| call.language.is_call() && call.arguments_text.trim().is_empty()) =>
        {
            Err(invalid("it was cut before the arguments of its last call"))
        }
        // Without a call a text ends the run: half an answer is none.
        Some(Finish::Cut) if calls.is_empty() => Err(invalid("it was cut at the token limit")),
        Some(Finish::Cut) => {
            tracing::warn!("the model's response was cut at the token limit");
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The text: a string, or the text parts of a list. A refusal is the model's text too, where there is no other.
fn text_of(message: Node<'_>, kept: &mut Kept) -> Result<Option<String>, ModelError> {
    let mut text = String::new();
    if let Some(content) = present(message, "content") {
        if content.as_str().is_none() && content.kind() != Kind::Array {
            return Err(invalid("the content of its message is neither a text nor a list"));
        }
        text.push_str(&kept.content(content, &|_| {}));
    }
    if text.is_empty()
        && let Some(refusal) = present(message, "refusal").and_then(|refusal| refusal.as_str())
    {
        text.push_str(&refusal);
    }
    Ok((!text.is_empty()).then_some(text))
}

fn calls_of(message: Node<'_>, names: &WireNames, kept: &mut Kept) -> Result<Vec<ProposedCall>, ModelError> {
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
            kept.call(index, call);
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

/// A member that is there and not null: providers write null and leave out as they like.
pub(crate) fn present<'a>(node: Node<'a>, key: &str) -> Option<Node<'a>> {
    node.get(key).filter(|value| !value.is_null())
}

/// A string bare, anything else as its JSON text.
pub(crate) fn plain_text(node: Node<'_>) -> String {
    node.as_str().map_or_else(|| node.raw().to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests;
