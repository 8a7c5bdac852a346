//! The neutral history as Ollama wants it: calls without ids, paired with their results by their order.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Document;
use lockgate_contract::ports::{Message, MessageCall, ModelError, ProviderItem};
use serde::Serialize;

use super::NAME;
use crate::names::WireNames;
use crate::pairing::{Pairing, object_text};
use crate::told::Told;
use crate::wire::limits;

/// One message of the request.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    /// Standing instructions.
    System {
        /// Their text.
        content: &'a str,
    },
    /// What the user said.
    User {
        /// Its text.
        content: &'a str,
    },
    /// One earlier turn of the model.
    Assistant {
        /// Its text.
        content: &'a str,
        /// What it thought.
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking: Option<Cow<'a, str>>,
        /// Its calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    /// The result of one call.
    Tool {
        /// The JSON text of the result.
        content: Cow<'a, str>,
        /// The tool.
        tool_name: &'a str,
        /// Images of the result, in Base64.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<Cow<'a, str>>,
    },
}

/// A call of the history.
#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

/// The arguments: an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Object(Document),
    Code { code: &'a str },
}

/// Builds the messages.
pub(super) fn wire_messages<'a>(
    messages: &'a [Message],
    names: &'a WireNames,
) -> Result<Vec<WireMessage<'a>>, ModelError> {
    let mut pairing = Pairing::of(messages);
    let mut wire = Vec::with_capacity(messages.len());
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
        }
        wire.push(match message {
            Message::System { text } => WireMessage::System { content: text },
            Message::User { text } => WireMessage::User { content: text },
            Message::Assistant { text, calls, items } => {
                for call in calls {
                    pairing.call(call);
                }
                WireMessage::Assistant {
                    content: text.as_deref().unwrap_or_default(),
                    thinking: items.iter().find_map(thinking),
                    tool_calls: calls.iter().map(|call| wire_call(call, names)).collect(),
                }
            }
            Message::Tool { call_id, content, .. } => {
                let call = pairing.result(call_id)?;
                let Told { text, images } = Told::of(content);
                WireMessage::Tool {
                    content: text,
                    tool_name: names.as_sent(call.name),
                    images: images.into_iter().map(|image| image.data).collect(),
                }
            }
        });
    }
    pairing.end()?;
    Ok(wire)
}

fn thinking(item: &ProviderItem) -> Option<Cow<'_, str>> {
    if item.adapter == NAME { item.item.root().get("thinking")?.as_str() } else { None }
}

fn wire_call<'a>(call: &'a MessageCall, names: &'a WireNames) -> WireCall<'a> {
    let arguments = match call.language {
        ActionLanguage::Call => {
            let text = object_text(&call.arguments_text);
            Arguments::Object(Document::parse(text, limits(text.len())).unwrap_or_else(|_| Document::empty_object()))
        }
        ActionLanguage::Code => Arguments::Code { code: &call.arguments_text },
    };
    WireCall { function: Function { name: names.as_sent(&call.name), arguments } }
}
