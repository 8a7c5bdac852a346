//! The blocks of one turn. A whole answer and one that comes in pieces become a turn in this one place.

use std::collections::BTreeMap;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Delta, Heard, ModelError, ModelResponse, ProposedCall, ProviderItem, Usage};
use serde::Serialize;

use super::NAME;
use super::response::Finish;
use crate::chat::present;
use crate::names::WireNames;
use crate::wire::{invalid, parsed};

/// What came of a turn so far.
#[derive(Debug, Default)]
pub(super) struct Blocks(Vec<Block>);

/// What came of a block so far.
#[derive(Debug)]
struct Block {
    index: Option<u64>,
    members: BTreeMap<String, Value>,
    /// The input, where it comes in pieces.
    input: String,
    citations: Vec<Document>,
}

/// The value of a member.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value {
    /// One that may grow.
    Text(String),
    Other(Document),
    List(Vec<Document>),
}

impl Blocks {
    /// A block begins, or is there as a whole.
    pub(super) fn begin(&mut self, index: Option<u64>, block: Node<'_>) {
        let mut members = BTreeMap::new();
        let mut citations = Vec::new();
        for (key, value) in block.members() {
            match value.as_str() {
                _ if key == "citations" => citations.extend(value.elements().map(|citation| citation.to_document())),
                Some(text) => drop(members.insert(key.into_owned(), Value::Text(text.into_owned()))),
                None => drop(members.insert(key.into_owned(), Value::Other(value.to_document()))),
            }
        }
        self.0.push(Block { index, members, input: String::new(), citations });
    }

    /// The text with which a block begins is heard too.
    pub(super) fn hear(&self, heard: &Heard) {
        if let Some(block) = self.0.last() {
            match block.kind() {
                "text" => speak(block.text("text"), Delta::Text, heard),
                "thinking" => speak(block.text("thinking"), Delta::Reasoning, heard),
                _ => {}
            }
        }
    }

    /// More of a block. Whatever is a text goes on with the member of that name: the thought, its signature, and what may come later.
    pub(super) fn more(&mut self, index: Option<u64>, delta: Node<'_>, heard: &Heard) -> Result<(), ModelError> {
        let block = self.0.iter_mut().rev().find(|block| index.is_none() || block.index == index);
        let block = block.ok_or_else(|| invalid("it has a piece of a block that did not begin"))?;
        for (key, value) in delta.members().filter(|(key, _)| key != "type") {
            if key == "citation" {
                block.citations.push(value.to_document());
                continue;
            }
            let Some(text) = value.as_str() else { continue };
            if key == "partial_json" {
                block.input.push_str(&text);
                continue;
            }
            match (block.kind(), key.as_ref()) {
                ("text", "text") => speak(&text, Delta::Text, heard),
                ("thinking", "thinking") => speak(&text, Delta::Reasoning, heard),
                _ => {}
            }
            match block.members.entry(key.into_owned()).or_insert_with(|| Value::Text(String::new())) {
                Value::Text(so_far) => so_far.push_str(&text),
                other => *other = Value::Text(text.into_owned()),
            }
        }
        Ok(())
    }

    /// The turn.
    pub(super) fn turn(self, finish: Finish, names: &WireNames, usage: Usage) -> Result<ModelResponse, ModelError> {
        let Self(blocks) = self;
        // Cut in its last call: what is there of the input tells whether it is whole, where it came as text. A whole answer holds it as
        // JSON, be it whole or not.
        if finish == Finish::Cut
            && blocks.last().is_some_and(|block| block.kind() == "tool_use" && block.input.trim().is_empty())
        {
            return Err(invalid("it was cut at the token limit in its last call"));
        }
        let keeps_texts = keeps_texts(&blocks);
        let (mut text, mut calls, mut items) = (String::new(), Vec::new(), Vec::new());
        for (at, block) in blocks.into_iter().enumerate() {
            let before = u32::try_from(calls.len()).unwrap_or(u32::MAX);
            match block.kind() {
                "text" => {
                    text.push_str(block.text("text"));
                    if keeps_texts && !block.text("text").is_empty() {
                        items.push(kept(&block.whole()?, before)?);
                    }
                }
                "tool_use" => {
                    if let Some(caller) = block.caller() {
                        let kind = ("type".to_owned(), Value::Text("tool_use".to_owned()));
                        let caller = ("caller".to_owned(), Value::Other(caller));
                        items.push(kept(&[kind, caller].into_iter().collect(), before)?);
                    }
                    calls.push(block.call(at, names)?);
                }
                "" => return Err(invalid(format!("block {at} of its content has no type"))),
                _ => items.push(kept(&block.whole()?, before)?),
            }
        }
        finish.check(&calls)?;
        Ok(ModelResponse { text: (!text.is_empty()).then_some(text), calls, items, usage })
    }
}

impl Block {
    fn kind(&self) -> &str {
        self.text("type")
    }

    fn text(&self, key: &str) -> &str {
        match self.members.get(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    fn is_thought(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    /// Who made this call, where that was not the model itself.
    fn caller(&self) -> Option<Document> {
        match self.members.get("caller") {
            Some(Value::Other(caller)) => {
                let kind = present(caller.root(), "type")?.as_str()?;
                (kind != "direct").then(|| caller.clone())
            }
            _ => None,
        }
    }

    fn call(self, at: usize, names: &WireNames) -> Result<ProposedCall, ModelError> {
        let name = self.text("name");
        if name.is_empty() {
            return Err(invalid(format!("the call in block {at} of its content has no name")));
        }
        let arguments_text = match self.members.get("input") {
            _ if !self.input.trim().is_empty() => self.input.clone(),
            // What is no JSON value is no object either: the gate says so.
            Some(Value::Text(text)) => text.clone(),
            Some(Value::Other(input)) if !input.root().is_null() => input.text().to_owned(),
            _ => "{}".to_owned(),
        };
        Ok(ProposedCall {
            provider_call_id: self.text("id").to_owned(),
            name: names.original(name).to_owned(),
            arguments_text,
            language: ActionLanguage::Call,
        })
    }

    /// All of its members, those that came in pieces among them.
    fn whole(self) -> Result<BTreeMap<String, Value>, ModelError> {
        let mut members = self.members;
        if !self.input.trim().is_empty() {
            members.insert("input".to_owned(), Value::Other(parsed(self.input)?));
        }
        if !self.citations.is_empty() {
            members.insert("citations".to_owned(), Value::List(self.citations));
        }
        Ok(members)
    }
}

/// An item of these members. They are in the order of their names, so that it is the same however it came.
fn kept(members: &BTreeMap<String, Value>, before: u32) -> Result<ProviderItem, ModelError> {
    let item = serde_json::to_string(members).map_err(|error| invalid(error.to_string()))?;
    Ok(ProviderItem { adapter: NAME.to_owned(), before, item: parsed(item)? })
}

/// Whether the texts of a turn have to be kept with their places: they are cited, or they do not stand together behind the first
/// thoughts, where they would be put.
fn keeps_texts(blocks: &[Block]) -> bool {
    let is_text = |block: &&Block| block.kind() == "text";
    let thoughts = blocks.iter().take_while(|block| block.is_thought()).count();
    let together = blocks[thoughts..].iter().take_while(is_text).count();
    let behind = &blocks[thoughts + together..];
    let is_thought_of_first = behind.first().is_some_and(Block::is_thought) && together > 0;
    behind.iter().any(|block| is_text(&block))
        || is_thought_of_first
        || blocks.iter().any(|block| is_text(&block) && !block.citations.is_empty())
}

fn speak<'a>(text: &'a str, delta: impl Fn(&'a str) -> Delta<'a>, heard: &Heard) {
    if !text.is_empty() {
        heard(delta(text));
    }
}
