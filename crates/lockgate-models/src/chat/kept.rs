//! What Chat Completions servers want back of a turn beside its text and its calls: reasoning and its signatures, as members of the
//! message (`DeepSeek`, `OpenRouter`, xAI, Groq, Ollama), as parts of its content (Mistral), or as members of a call (Gemini).
//!
//! ```text
//! {"reasoning_content": …}                          before 0    a member of the message
//! {"content": [{"type":"thinking",…}, {"bytes":5}]} before 0    the content as a list, its texts by their lengths
//! {"call": {"extra_content": …}}                    before n    members of call n
//! ```

use std::borrow::Cow;

use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::ports::{Delta, Heard, ProviderItem};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::flow::Flow;
use super::response::present;
use crate::said;

/// Members of a call that are what it is; any other goes back with it.
const OF_A_CALL: [&str; 5] = ["id", "type", "index", "function", "custom"];

/// What is wanted back of a turn so far.
#[derive(Debug, Default)]
pub(super) struct Kept {
    members: Vec<(String, Flow)>,
    content: Vec<Part>,
    calls: Vec<(usize, Flow)>,
}

/// A part of a content that is a list.
#[derive(Debug)]
enum Part {
    /// A text of so many bytes.
    Text(usize),
    /// Anything else.
    Other(Flow),
}

/// Whether a server wants a member of a message back.
fn is_kept(name: &str) -> bool {
    let is_reasoning = name.starts_with("reasoning") || name.starts_with("thinking");
    is_reasoning || matches!(name, "encrypted_content" | "extra_content" | "signature" | "thought_signature")
}

impl Kept {
    /// Takes what is kept of a message, or of a piece of one.
    pub(super) fn message(&mut self, message: Node<'_>, heard: &Heard) {
        let mut is_heard = false;
        for (name, value) in message.members().filter(|(name, value)| is_kept(name) && !value.is_null()) {
            let value = Flow::of(value);
            if let Some(thought) = value.text().filter(|thought| !thought.is_empty() && !is_heard) {
                // Some send one thought under two names.
                is_heard = true;
                heard(Delta::Reasoning(thought));
            }
            match self.members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.go_on(value),
                None => self.members.push((name.into_owned(), value)),
            }
        }
    }

    /// Takes a content. What it says comes out as its text.
    pub(super) fn content<'a>(&mut self, content: Node<'a>, heard: &Heard) -> Cow<'a, str> {
        if let Some(text) = content.as_str() {
            self.said(text.len());
            return text;
        }
        let mut said = String::new();
        for part in content.elements() {
            if let Some(text) = part.get("text").or_else(|| part.get("refusal")).and_then(|text| text.as_str()) {
                self.said(text.len());
                said.push_str(&text);
            } else if part.kind() == Kind::Object {
                for thought in present(part, "thinking").iter().flat_map(lockgate_contract::document::Node::elements) {
                    if let Some(thought) = thought.get("text").and_then(|text| text.as_str()) {
                        heard(Delta::Reasoning(&thought));
                    }
                }
                self.other(Flow::of(part));
            }
        }
        Cow::Owned(said)
    }

    fn said(&mut self, more: usize) {
        match self.content.last_mut() {
            _ if more == 0 => {}
            Some(Part::Text(bytes)) => *bytes += more,
            _ => self.content.push(Part::Text(more)),
        }
    }

    fn other(&mut self, part: Flow) {
        let known = match self.content.last_mut() {
            Some(Part::Other(known)) => Some(known),
            _ => None,
        };
        let Some(known) = known else {
            self.content.push(Part::Other(part));
            return;
        };
        // The list of one that is there and the list of one that comes.
        let mut list = Flow::List(vec![std::mem::replace(known, Flow::List(Vec::new()))]);
        list.go_on(Flow::List(vec![part]));
        self.content.pop();
        if let Flow::List(parts) = list {
            self.content.extend(parts.into_iter().map(Part::Other));
        }
    }

    /// Takes what is kept of call number `index`.
    pub(super) fn call(&mut self, index: usize, call: Node<'_>) {
        let others = call.members().filter(|(name, value)| !OF_A_CALL.contains(&name.as_ref()) && !value.is_null());
        let others: Vec<(String, Flow)> = others.map(|(name, value)| (name.into_owned(), Flow::of(value))).collect();
        if others.is_empty() {
            return;
        }
        let others = Flow::Object(others);
        match self.calls.iter_mut().find(|(known, _)| *known == index) {
            Some((_, known)) => known.go_on(others),
            None => self.calls.push((index, others)),
        }
    }

    /// The items of the turn.
    pub(super) fn items(mut self, adapter: &str) -> Vec<ProviderItem> {
        let mut items = Vec::new();
        let mut keep = |before: usize, name: &str, value: &dyn Fn() -> Result<Document, ()>| {
            if let (Ok(before), Ok(item)) = (u32::try_from(before), value()) {
                items.push(ProviderItem { adapter: adapter.to_owned(), before, item });
            } else {
                tracing::warn!("`{name}` of the model's message cannot be kept");
            }
        };
        // The details say all that the text does.
        let has_details = self.members.iter().any(|(name, value)| {
            name == "reasoning_details" && matches!(value, Flow::List(details) if !details.is_empty())
        });
        self.members.retain(|(name, _)| !(has_details && name == "reasoning"));
        for (name, value) in &self.members {
            keep(0, name, &|| one(name, value));
        }
        if self.content.iter().any(|part| matches!(part, Part::Other(_))) {
            keep(0, "content", &|| one("content", &self.content));
        }
        self.calls.sort_by_key(|(index, _)| *index);
        for (index, others) in &self.calls {
            keep(*index, "tool_calls", &|| one("call", others));
        }
        items
    }
}

/// An object with one member.
fn one(name: &str, value: &impl Serialize) -> Result<Document, ()> {
    Document::from_serialize(&One(name, value)).map_err(drop)
}

struct One<'a, T>(&'a str, &'a T);

impl<T: Serialize> Serialize for One<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(bytes) => serializer.collect_map([("bytes", bytes)]),
            Self::Other(part) => part.serialize(serializer),
        }
    }
}

/// What goes back with an earlier turn.
#[derive(Debug, Default)]
pub(super) struct Back<'a>(Vec<(Option<u32>, Node<'a>)>);

impl<'a> Back<'a> {
    /// Of the items of a turn: those of this adapter.
    pub(super) fn of(items: &'a [ProviderItem], adapter: &str) -> Self {
        let own = items.iter().filter(|item| item.adapter == adapter);
        let taken = own.map(|item| match item.item.root().get("call") {
            Some(call) => (Some(item.before), call),
            None => (None, item.item.root()),
        });
        Self(taken.collect())
    }

    /// Members of call number `index`.
    pub(super) fn call(&self, index: usize) -> Extra<'a> {
        let of = self.0.iter().filter(|(before, _)| before.is_some_and(|before| usize::try_from(before) == Ok(index)));
        Extra(of.flat_map(|(_, members)| members.members()).collect())
    }

    /// Members of the message.
    pub(super) fn message(&self) -> Extra<'a> {
        let of = self.0.iter().filter(|(before, _)| before.is_none());
        Extra(of.flat_map(|(_, members)| members.members()).filter(|(name, _)| name != "content").collect())
    }

    /// The content as a list, where it was one.
    pub(super) fn content(&self, text: &'a str) -> Option<Vec<BackPart<'a>>> {
        let of = self.0.iter().filter(|(before, _)| before.is_none());
        let parts: Vec<Node<'a>> =
            of.filter_map(|(_, members)| members.get("content")).flat_map(|list| list.elements()).collect();
        if parts.is_empty() {
            return None;
        }
        let length = |part: &Node<'a>| part.get("bytes").and_then(|bytes| bytes.decode::<usize>().ok());
        let lengths: Vec<usize> = parts.iter().filter_map(length).collect();
        let mut texts = said::cut(text, &lengths).into_iter();
        let mut list: Vec<BackPart<'a>> = parts
            .iter()
            .map(|part| match length(part) {
                Some(_) => BackPart::text(texts.next().unwrap_or_default()),
                None => BackPart::Kept(*part),
            })
            .collect();
        if lengths.is_empty() && !text.is_empty() {
            list.push(BackPart::text(text));
        }
        Some(list)
    }
}

/// A part of a content that goes back.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum BackPart<'a> {
    /// A text.
    Text {
        /// `text`.
        r#type: &'static str,
        /// What it says.
        text: &'a str,
    },
    /// What was kept.
    #[serde(serialize_with = "node")]
    Kept(Node<'a>),
}

impl<'a> BackPart<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text { r#type: "text", text }
    }
}

fn node<S: Serializer>(node: &Node<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    node.to_document().serialize(serializer)
}

/// Members that are added to an object as they stood.
#[derive(Debug, Default)]
pub(super) struct Extra<'a>(Vec<(Cow<'a, str>, Node<'a>)>);

impl Serialize for Extra<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, &value.to_document())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
