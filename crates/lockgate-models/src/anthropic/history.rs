//! The neutral history as Messages wants it: user and assistant in turn, and all results of a turn first in one user message.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Node;
use lockgate_contract::ports::{Message, MessageCall, ModelError};
use serde::Serialize;
use serde_json::value::RawValue;

use super::kept::{Items, Kept};
use crate::names::WireNames;
use crate::pairing::{Pairing, object_text};
use crate::told::{Image, Told};

/// The types of image that are taken; another one would fail the whole request.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// One message of the request.
#[derive(Debug, Serialize)]
pub(super) struct WireMessage<'a> {
    role: Role,
    content: Vec<WireBlock<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// One block of a message.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireBlock<'a> {
    /// One that the adapter writes.
    Own(Own<'a>),
    /// One that came from the provider and goes back as it is.
    Kept(Node<'a>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Own<'a> {
    Text {
        text: Cow<'a, str>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Box<RawValue>,
        /// Which of the provider's own tools called it, where one did.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<Node<'a>>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        is_error: bool,
        content: Content<'a>,
    },
}

/// What a result says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    Image { source: Source<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct Source<'a> {
    r#type: &'static str,
    media_type: Cow<'a, str>,
    data: Cow<'a, str>,
}

impl<'a> WireBlock<'a> {
    /// A text, where there is one: a blank one is refused.
    pub(super) fn text(text: &'a str) -> Option<Self> {
        (!text.trim().is_empty()).then_some(Self::Own(Own::Text { text: Cow::Borrowed(text) }))
    }
}

/// Builds the messages.
pub(super) fn wire_messages<'a>(
    messages: &'a [Message],
    names: &'a WireNames,
) -> Result<Vec<WireMessage<'a>>, ModelError> {
    let mut pairing = Pairing::with_ids(messages, is_id);
    let kept = Kept::of(messages);
    let mut wire: Vec<WireMessage<'a>> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
        }
        let (role, content) = match message {
            Message::System { .. } => continue,
            Message::User { text } => (Role::User, WireBlock::text(text).into_iter().collect()),
            Message::Assistant { text, calls, .. } => {
                (Role::Assistant, turn(text.as_deref(), calls, kept.items(at), &mut pairing, names)?)
            }
            Message::Tool { call_id, ok, content } => {
                let tool_use_id = pairing.result(call_id)?.id;
                let content = result(Told::of(content));
                (Role::User, vec![WireBlock::Own(Own::ToolResult { tool_use_id, is_error: !ok, content })])
            }
        };
        match wire.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => wire.push(WireMessage { role, content }),
        }
    }
    pairing.end()?;
    Ok(wire)
}

/// The blocks of one turn: what the provider wants back at its place, the text behind what was thought first, the calls.
fn turn<'a>(
    text: Option<&'a str>,
    calls: &'a [MessageCall],
    items: Items<'a>,
    pairing: &mut Pairing<'a>,
    names: &'a WireNames,
) -> Result<Vec<WireBlock<'a>>, ModelError> {
    let items_say_it = text.is_some_and(|text| items.say(text));
    let text = text.filter(|_| !items_say_it).and_then(WireBlock::text);
    let mut blocks = Vec::new();
    if text.is_none() && calls.is_empty() && items.are_thoughts() {
        // No turn may end with a thought.
        return Ok(blocks);
    }
    let mut items = items.blocks(items_say_it).peekable();
    while let Some((_, thought)) = items.next_if(|(before, item)| *before == 0 && item.is_thought()) {
        blocks.push(WireBlock::Kept(thought.node()));
    }
    blocks.extend(text);
    for (index, call) in calls.iter().enumerate() {
        let mut caller = None;
        while let Some((_, item)) = items.next_if(|(before, _)| *before <= index) {
            match item.caller() {
                Some(of_call) => caller = Some(of_call),
                None => blocks.push(WireBlock::Kept(item.node())),
            }
        }
        blocks.push(WireBlock::Own(Own::ToolUse {
            id: pairing.call(call),
            name: names.as_sent(&call.name),
            input: input(call)?,
            caller,
        }));
    }
    blocks.extend(items.filter(|(_, item)| item.caller().is_none()).map(|(_, item)| WireBlock::Kept(item.node())));
    Ok(blocks)
}

/// The arguments as they were written. Code is none: this wire has no free text to call with.
fn input(call: &MessageCall) -> Result<Box<RawValue>, ModelError> {
    let text = match call.language {
        ActionLanguage::Call => object_text(&call.arguments_text),
        ActionLanguage::Code => "{}",
    };
    RawValue::from_string(text.trim().to_owned())
        .map_err(|error| ModelError::InvalidRequest { detail: format!("call `{}`: {error}", call.call_id) })
}

fn result(told: Told<'_>) -> Content<'_> {
    let images: Vec<Part<'_>> = told.images.into_iter().filter_map(image).collect();
    if images.is_empty() {
        return Content::Text(told.text);
    }
    Content::Parts(std::iter::once(Part::Text { text: told.text }).chain(images).collect())
}

fn image(Image { mime_type: media_type, data }: Image<'_>) -> Option<Part<'_>> {
    let is_taken = IMAGES.contains(&media_type.as_ref());
    is_taken.then_some(Part::Image { source: Source { r#type: "base64", media_type, data } })
}

/// Whether the provider takes an id as it is: those of other providers may be refused.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests;
