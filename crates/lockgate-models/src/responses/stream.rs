//! A response that comes in pieces. The response that stands in the last event is the turn; what came before it is heard, and must agree
//! with it about every call.

use std::collections::BTreeMap;

use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Delta, Heard, ModelError, ModelResponse};

use super::history::is;
use super::response::{call_form, turn};
use crate::chat::{plain_text, present};
use crate::failure::from_error_member;
use crate::wire::{Sent, TurnReader, ended_early, invalid, parsed};

/// Reads the pieces.
pub(super) struct Reader {
    sent: Sent,
    /// What was said of the items before the end, by their place in the output.
    items: BTreeMap<u64, Announced>,
    /// The ids of items that have no place, in the order in which they came: that is their place.
    ids: Vec<String>,
    response: Option<ModelResponse>,
}

/// What was said of one item.
#[derive(Debug, Default)]
struct Announced {
    /// Its id; empty where it has none.
    id: String,
    /// The argument text of a call, in pieces.
    pieces: Option<String>,
    /// The argument text of a call, whole.
    whole: Option<String>,
    /// The item, once it is done.
    done: Option<Document>,
}

impl Reader {
    pub(super) fn new(sent: Sent) -> Self {
        Self { sent, items: BTreeMap::new(), ids: Vec::new(), response: None }
    }

    fn announced(&mut self, event: Node<'_>) -> &mut Announced {
        let id = present(event, "item_id").or_else(|| present(present(event, "item")?, "id"));
        let id = id.map(plain_text).unwrap_or_default();
        let place = event.get("output_index").and_then(|index| index.decode().ok()).unwrap_or_else(|| {
            let known = self.ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                self.ids.push(id.clone());
                self.ids.len() - 1
            });
            u64::try_from(known).unwrap_or(u64::MAX)
        });
        let announced = self.items.entry(place).or_default();
        if announced.id.is_empty() {
            announced.id = id;
        }
        announced
    }

    /// The last event: its response is the turn.
    fn end(&mut self, event: Node<'_>) -> Result<(), ModelError> {
        let response = present(event, "response").ok_or_else(|| invalid("its last event has no response"))?;
        let output: Vec<Node<'_>> =
            present(response, "output").iter().flat_map(lockgate_contract::document::Node::elements).collect();
        // Some servers leave the output out at the end. What was done is all of it then.
        let output =
            if output.is_empty() { self.items.values().map(Announced::end).collect::<Result<_, _>>()? } else { output };
        let turn = turn(response, &output, &self.sent.names)?;
        // By place; else by what the item is called, as some servers number only some of their items.
        for (place, announced) in &self.items {
            let at = usize::try_from(*place).ok().and_then(|place| output.get(place)).copied();
            let is_it = |item: &Node<'_>| present(*item, "id").map(plain_text).as_ref() == Some(&announced.id);
            let of_id = || output.iter().copied().find(is_it).filter(|_| !announced.id.is_empty());
            if !announced.agrees(at) && !announced.agrees(of_id()) {
                return Err(invalid(format!("what came of item {place} of its output is not what it is in the end")));
            }
        }
        self.response = Some(turn);
        Ok(())
    }
}

impl Announced {
    /// The item at the end of a response that does not repeat it.
    fn end(&self) -> Result<Node<'_>, ModelError> {
        let done = self.done.as_ref().ok_or_else(|| invalid("an item of its output was begun and not ended"))?;
        Ok(done.root())
    }

    /// Whether everything that came of a call is what it is in the end.
    fn agrees(&self, item: Option<Node<'_>>) -> bool {
        let done = self.done.as_ref().map(Document::root).filter(|done| is_call(*done));
        let texts = [self.pieces.clone(), self.whole.clone(), done.map(call_text)];
        let mut texts = texts.into_iter().flatten().peekable();
        if texts.peek().is_none() {
            return true;
        }
        let Some(item) = item.filter(|item| is_call(*item)) else { return false };
        let same = |key| done.is_none_or(|done| done.get(key).map(plain_text) == item.get(key).map(plain_text));
        let in_the_end = call_text(item);
        same("type") && same("name") && same("call_id") && texts.all(|text| text == in_the_end)
    }
}

fn is_call(item: Node<'_>) -> bool {
    is(item, "function_call") || is(item, "custom_tool_call")
}

fn call_text(call: Node<'_>) -> String {
    let kind = present(call, "type").map(plain_text).unwrap_or_default();
    present(call, call_form(&kind).1).map(plain_text).unwrap_or_default()
}

impl TurnReader for Reader {
    fn event(&mut self, kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError> {
        // Nothing counts behind the end.
        if self.response.is_some() || data.trim() == "[DONE]" {
            return Ok(());
        }
        let document = parsed(data)?;
        let event = document.root();
        let kind = present(event, "type").map_or_else(|| kind.to_owned(), plain_text);
        let delta = || present(event, "delta").and_then(|delta| delta.as_str()).unwrap_or_default();
        match kind.as_str() {
            "response.output_text.delta" => heard_text(&delta(), heard),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                heard(Delta::Reasoning(&delta()));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.announced(event).pieces.get_or_insert_default().push_str(&delta());
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let key = if kind.contains("custom") { "input" } else { "arguments" };
                self.announced(event).whole = present(event, key).map(plain_text);
            }
            "response.output_item.done" => {
                if let Some(item) = present(event, "item") {
                    self.announced(event).done = Some(item.to_document());
                }
            }
            // An item that was begun has an end.
            "response.output_item.added" => drop(self.announced(event)),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.end(event)?;
            }
            "error" => return Err(from_error_member(present(event, "error").unwrap_or(event))),
            // An error without a type, as routers send it.
            "" if present(event, "error").is_some() => {
                return Err(present(event, "error").map_or_else(ended_early, from_error_member));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError> {
        self.response.ok_or_else(ended_early)
    }
}

fn heard_text(text: &str, heard: &Heard) {
    if !text.is_empty() {
        heard(Delta::Text(text));
    }
}

#[cfg(test)]
mod tests;
