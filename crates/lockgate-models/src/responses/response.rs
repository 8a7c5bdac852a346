//! One response, read from exact text.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{ModelError, ModelResponse, ProposedCall, ProviderItem};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::history::BYTES;
use crate::chat::{Finish, check_finish, plain_text, present};
use crate::failure::from_error_member;
use crate::names::WireNames;
use crate::usage::usage_of;
use crate::wire::{invalid, parsed};

/// Reads a whole body.
pub(super) fn read(body: String, names: &WireNames) -> Result<ModelResponse, ModelError> {
    let document = parsed(body)?;
    let root = document.root();
    let output: Vec<Node<'_>> =
        present(root, "output").iter().flat_map(lockgate_contract::document::Node::elements).collect();
    turn(root, &output, names)
}

/// Reads a response with these output items.
pub(super) fn turn(response: Node<'_>, output: &[Node<'_>], names: &WireNames) -> Result<ModelResponse, ModelError> {
    let finish = finish(response)?;
    let mut turn = Output::default();
    for item in output {
        turn.item(*item, names)?;
    }
    let Output { text, refusal, calls, items } = turn;
    let text = if text.is_empty() { refusal } else { text };
    let text = (!text.is_empty()).then_some(text);
    check_finish(Some(finish), text.as_deref(), &calls)?;
    let usage = present(response, "usage").map(usage_of).unwrap_or_default();
    Ok(ModelResponse { text, calls, items, usage })
}

/// How a response ended, where it did.
fn finish(response: Node<'_>) -> Result<Finish, ModelError> {
    if let Some(error) = present(response, "error") {
        return Err(from_error_member(error));
    }
    let status = present(response, "status").map(plain_text);
    match status.as_deref() {
        Some("completed") => Ok(Finish::Whole),
        // Not everyone says so.
        None if present(response, "output").is_some() => Ok(Finish::Whole),
        None => Err(invalid("there is no output in it")),
        Some("incomplete") => {
            let reason = present(response, "incomplete_details").and_then(|details| present(details, "reason"));
            Ok(match reason.map(plain_text).as_deref() {
                Some("content_filter") => Finish::Filtered,
                _ => Finish::Cut,
            })
        }
        Some("failed") => Ok(Finish::Failed),
        Some(other) => Err(invalid(format!("the response is `{}`, not completed", crate::failure::cut(other)))),
    }
}

/// What is in the output so far.
#[derive(Debug, Default)]
struct Output {
    text: String,
    refusal: String,
    calls: Vec<ProposedCall>,
    items: Vec<ProviderItem>,
}

impl Output {
    fn item(&mut self, item: Node<'_>, names: &WireNames) -> Result<(), ModelError> {
        let kind = present(item, "type").map(plain_text).unwrap_or_default();
        match kind.as_str() {
            "message" => {
                let before = self.text.len();
                for part in present(item, "content").iter().flat_map(lockgate_contract::document::Node::elements) {
                    let of = |key| present(part, key).and_then(|text| text.as_str());
                    self.text.push_str(&of("text").unwrap_or_default());
                    self.refusal.push_str(&of("refusal").unwrap_or_default());
                }
                // A refusal is the turn's text where there is no other, so it is measured when all of the message is known.
                let bytes = match self.text.len() - before {
                    0 if self.text.is_empty() => self.refusal.len(),
                    bytes => bytes,
                };
                self.keep(&Rest { of: item, left_out: &["role", "status", "content"], bytes: Some(bytes) });
            }
            "function_call" | "custom_tool_call" => {
                let index = self.calls.len();
                let name = present(item, "name").and_then(|name| name.as_str());
                let name = name.ok_or_else(|| invalid(format!("call {index} of its output has no name")))?;
                let (language, text) = call_form(&kind);
                self.keep(&Rest { of: item, left_out: &["call_id", "name", "status", text], bytes: None });
                self.calls.push(ProposedCall {
                    provider_call_id: present(item, "call_id").map(plain_text).unwrap_or_default(),
                    name: names.original(&name).to_owned(),
                    arguments_text: present(item, text).map(plain_text).unwrap_or_default(),
                    language,
                });
            }
            // Reasoning, and whatever the provider did by itself: none of it is a call of ours.
            _ => self.push(item.to_document()),
        }
        Ok(())
    }

    fn keep(&mut self, rest: &Rest<'_, '_>) {
        if let Ok(item) = Document::from_serialize(rest) {
            self.push(item);
        } else {
            tracing::warn!("a part of the model's turn cannot be kept");
        }
    }

    fn push(&mut self, item: Document) {
        let before = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        self.items.push(ProviderItem { adapter: super::NAME.to_owned(), before, item });
    }
}

/// The language of a call of this type, and the member with its text.
pub(super) fn call_form(kind: &str) -> (ActionLanguage, &'static str) {
    match kind {
        "custom_tool_call" => (ActionLanguage::Code, "input"),
        _ => (ActionLanguage::Call, "arguments"),
    }
}

/// An item without what the turn itself says of it.
struct Rest<'a, 'n> {
    of: Node<'a>,
    left_out: &'n [&'n str],
    bytes: Option<usize>,
}

impl Serialize for Rest<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.of.members() {
            if !self.left_out.contains(&name.as_ref()) && !value.is_null() && name != BYTES {
                map.serialize_entry(&name, &value)?;
            }
        }
        if let Some(bytes) = self.bytes {
            map.serialize_entry(BYTES, &bytes)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
