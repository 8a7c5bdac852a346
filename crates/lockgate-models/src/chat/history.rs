//! The neutral history as a Chat Completions server wants it.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::ports::{Message, MessageCall, ModelError};
use serde::Serialize;

use super::kept::{Back, BackPart, Extra};
use crate::names::WireNames;
use crate::pairing::{Open, Pairing, object_text};
use crate::told::{DataUrl, Image, Told};

/// One message of the request.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    /// Standing instructions.
    System {
        /// Their text.
        content: &'a str,
    },
    /// What the user said, or images that came of calls.
    User {
        /// Its text, or its parts.
        content: UserContent<'a>,
    },
    /// One earlier turn of the model.
    Assistant {
        /// Its text; null beside calls without one.
        content: Option<TurnContent<'a>>,
        /// Its calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
        /// What the server wants back.
        #[serde(flatten)]
        kept: Extra<'a>,
    },
    /// The result of one call.
    Tool {
        /// The wire id of the call.
        tool_call_id: Cow<'a, str>,
        /// The JSON text of the result.
        content: Cow<'a, str>,
    },
}

/// What a user's message holds.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum UserContent<'a> {
    /// A text.
    Text(&'a str),
    /// Texts and images.
    Parts(Vec<UserPart<'a>>),
}

/// A part of a user's message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum UserPart<'a> {
    /// A text.
    Text {
        /// What it says.
        text: String,
    },
    /// An image.
    ImageUrl {
        /// Where it is.
        image_url: ImageUrl<'a>,
    },
}

/// An image as a `data:` URL.
#[derive(Debug, Serialize)]
pub(super) struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

/// What a turn's message holds.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TurnContent<'a> {
    /// A text.
    Text(&'a str),
    /// A list, as it came.
    Parts(Vec<BackPart<'a>>),
}

/// A call of the history.
#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    #[serde(flatten)]
    action: WireAction<'a>,
    #[serde(flatten)]
    kept: Extra<'a>,
}

/// What was asked for, under a member that is named like the type of the call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum WireAction<'a> {
    /// A tool call.
    Function { name: &'a str, arguments: &'a str },
    /// Code: a free text.
    Custom { name: &'a str, input: &'a str },
}

/// Builds the messages.
pub(super) fn wire_messages<'a>(
    messages: &'a [Message],
    names: &'a WireNames,
) -> Result<Vec<WireMessage<'a>>, ModelError> {
    let mut pairing = Pairing::of(messages);
    let mut wire = Vec::with_capacity(messages.len());
    let mut images = Vec::new();
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
            wire.extend(shown(&mut images));
        }
        wire.push(match message {
            Message::System { text } => WireMessage::System { content: text },
            Message::User { text } => WireMessage::User { content: UserContent::Text(text) },
            Message::Assistant { text, calls, items } => {
                let back = Back::of(items, super::NAME);
                let tool_calls = calls.iter().enumerate();
                let tool_calls: Vec<_> = tool_calls
                    .map(|(index, call)| wire_call(call, pairing.call(call), names, back.call(index)))
                    .collect();
                let content = match (back.content(text.as_deref().unwrap_or_default()), text.as_deref()) {
                    (Some(parts), _) => Some(TurnContent::Parts(parts)),
                    // A turn without text and calls is only accepted with a text.
                    (None, None) if tool_calls.is_empty() => Some(TurnContent::Text("")),
                    (None, text) => text.map(TurnContent::Text),
                };
                WireMessage::Assistant { content, tool_calls, kept: back.message() }
            }
            Message::Tool { call_id, content, .. } => {
                let Open { id, name, .. } = pairing.result(call_id)?;
                let told = Told::of(content);
                images.push((id.clone(), names.as_sent(name), told.images));
                WireMessage::Tool { tool_call_id: id, content: told.text }
            }
        });
    }
    pairing.end()?;
    wire.extend(shown(&mut images));
    Ok(wire)
}

/// The wire id of a call, the wire name of its tool, and the images of its result.
type Shown<'a> = (Cow<'a, str>, &'a str, Vec<Image<'a>>);

/// The images of a turn's results, which only a user's message may hold, behind all of the results.
fn shown<'a>(images: &mut Vec<Shown<'a>>) -> Option<WireMessage<'a>> {
    let mut parts = Vec::new();
    for (id, name, images) in images.drain(..).filter(|(_, _, images)| !images.is_empty()) {
        parts.push(UserPart::Text { text: format!("Images in the result of call `{id}` of the tool `{name}`:") });
        parts
            .extend(images.into_iter().map(|image| UserPart::ImageUrl { image_url: ImageUrl { url: DataUrl(image) } }));
    }
    (!parts.is_empty()).then_some(WireMessage::User { content: UserContent::Parts(parts) })
}

fn wire_call<'a>(call: &'a MessageCall, id: Cow<'a, str>, names: &'a WireNames, kept: Extra<'a>) -> WireCall<'a> {
    let name = names.as_sent(&call.name);
    let (r#type, action) = match call.language {
        ActionLanguage::Call => {
            ("function", WireAction::Function { name, arguments: object_text(&call.arguments_text) })
        }
        ActionLanguage::Code => ("custom", WireAction::Custom { name, input: &call.arguments_text }),
    };
    WireCall { id, r#type, action, kept }
}

#[cfg(test)]
mod tests;
