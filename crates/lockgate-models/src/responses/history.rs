//! The neutral history as input items of the Responses.
//!
//! A turn was a list of items: messages, calls, and others, which go back as they came. What is kept of a message or of a call is what
//! the history does not hold, under the same `type`:
//!
//! ```text
//! {"type": "message", "id": …, "phase": …, "bytes": 5}     its text is the next five bytes of the turn's
//! {"type": "function_call", "id": …, "caller": …}          before n: more members of call n
//! {"type": "reasoning", …}, …                              goes back as it stands
//! ```

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{Message, MessageCall, ModelError, ProviderItem};
use serde::Serialize;
use serde::ser::Serializer;

use crate::names::WireNames;
use crate::pairing::{Pairing, object_text};
use crate::said;
use crate::told::{DataUrl, Told};

/// The member that says how long the text of a kept message is.
pub(super) const BYTES: &str = "bytes";

/// One item of the request.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum InputItem<'a> {
    /// Something that was said.
    Said {
        /// By whom.
        role: &'static str,
        /// What.
        content: &'a str,
    },
    /// A message of the model with the provider's own members.
    Message {
        /// Its type, role and state.
        #[serde(flatten)]
        head: MessageHead,
        /// Its text.
        content: [OutputText<'a>; 1],
        /// The provider's own members.
        #[serde(flatten)]
        more: More<'a>,
    },
    /// A call.
    Call {
        /// `function_call` or `custom_tool_call`.
        r#type: &'static str,
        /// What it is paired by.
        call_id: Cow<'a, str>,
        /// The tool.
        name: &'a str,
        /// The arguments, or the code.
        #[serde(flatten)]
        text: CallText<'a>,
        /// The provider's own members.
        #[serde(flatten)]
        more: More<'a>,
    },
    /// The result of a call.
    Output {
        /// The type of the call, and `_output`.
        r#type: &'static str,
        /// What it is paired by.
        call_id: Cow<'a, str>,
        /// What the model is told.
        output: Output<'a>,
    },
    /// Whatever else came, as it came.
    #[serde(serialize_with = "as_it_is")]
    Kept(&'a Document),
}

/// What every message of the model says of itself.
#[derive(Debug, Serialize)]
pub(super) struct MessageHead {
    r#type: &'static str,
    role: &'static str,
    status: &'static str,
}

/// A text of the model.
#[derive(Debug, Serialize)]
pub(super) struct OutputText<'a> {
    r#type: &'static str,
    text: &'a str,
    annotations: [(); 0],
}

/// What was asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CallText<'a> {
    /// Of a tool call.
    Arguments(&'a str),
    /// Of code.
    Input(&'a str),
}

/// What the model is told of a call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A text with images.
    Parts(Vec<OutputPart<'a>>),
}

/// A part of it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputPart<'a> {
    /// The text.
    InputText {
        /// JSON.
        text: Cow<'a, str>,
    },
    /// An image.
    InputImage {
        /// Where it is.
        image_url: DataUrl<'a>,
    },
}

/// Builds the items.
pub(super) fn input_items<'a>(messages: &'a [Message], names: &'a WireNames) -> Result<Vec<InputItem<'a>>, ModelError> {
    let mut pairing = Pairing::of(messages);
    let mut languages = Vec::new();
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
        }
        match message {
            Message::System { text } => items.push(InputItem::Said { role: "system", content: text }),
            Message::User { text } => items.push(InputItem::Said { role: "user", content: text }),
            Message::Assistant { text, calls, items: kept } => {
                languages.extend(calls.iter().map(|call| (&call.call_id, call.language)));
                let kept: Vec<&ProviderItem> = kept.iter().filter(|item| item.adapter == super::NAME).collect();
                turn(text.as_deref(), calls, &kept, names, &mut pairing, &mut items);
            }
            Message::Tool { call_id, content, .. } => {
                let open = pairing.result(call_id)?;
                let language = languages.iter().rev().find(|(of, _)| *of == call_id).map(|(_, language)| *language);
                let r#type = match language {
                    Some(ActionLanguage::Code) => "custom_tool_call_output",
                    _ => "function_call_output",
                };
                let told = Told::of(content);
                let output = if told.images.is_empty() {
                    Output::Text(told.text)
                } else {
                    let text = OutputPart::InputText { text: told.text };
                    let images = told.images.into_iter();
                    let images = images.map(|image| OutputPart::InputImage { image_url: DataUrl(image) });
                    Output::Parts(std::iter::once(text).chain(images).collect())
                };
                items.push(InputItem::Output { r#type, call_id: open.id, output });
            }
        }
    }
    pairing.end()?;
    Ok(items)
}

/// The items of one turn, in the order in which they came.
fn turn<'a>(
    text: Option<&'a str>,
    calls: &'a [MessageCall],
    kept: &[&'a ProviderItem],
    names: &'a WireNames,
    pairing: &mut Pairing<'a>,
    items: &mut Vec<InputItem<'a>>,
) {
    let of = |kind: &str, item: &ProviderItem| is(item.item.root(), kind);
    let lengths = kept.iter().filter(|item| of("message", item)).map(|item| length(item.item.root()));
    let lengths: Vec<usize> = lengths.collect();
    let text = text.unwrap_or_default();
    if lengths.is_empty() && (!text.is_empty() || (calls.is_empty() && kept.is_empty())) {
        items.push(InputItem::Said { role: "assistant", content: text });
    }
    let mut texts = said::cut(text, &lengths).into_iter();
    let mut kept = kept.iter().peekable();
    for position in 0..=calls.len() {
        let mut more = More::default();
        // What stands behind the last call stands at the end.
        let stands_here = |item: &ProviderItem| position == calls.len() || reaches(item.before, position);
        while let Some(item) = kept.next_if(|item| stands_here(item)) {
            let root = item.item.root();
            if is(root, "message") {
                let text = texts.next().unwrap_or_default();
                if !text.is_empty() {
                    let head = MessageHead { r#type: "message", role: "assistant", status: "completed" };
                    let content = [OutputText { r#type: "output_text", text, annotations: [] }];
                    items.push(InputItem::Message { head, content, more: More::of(root) });
                }
            } else if is(root, "function_call") || is(root, "custom_tool_call") {
                more = More::of(root);
            } else {
                items.push(InputItem::Kept(&item.item));
            }
        }
        if let Some(call) = calls.get(position) {
            let call_id = pairing.call(call);
            let name = names.as_sent(&call.name);
            let (r#type, text) = match call.language {
                ActionLanguage::Call => ("function_call", CallText::Arguments(object_text(&call.arguments_text))),
                ActionLanguage::Code => ("custom_tool_call", CallText::Input(&call.arguments_text)),
            };
            items.push(InputItem::Call { r#type, call_id, name, text, more });
        }
    }
}

/// Whether what stands behind so many calls stands before the call at this position.
fn reaches(before: u32, position: usize) -> bool {
    usize::try_from(before).is_ok_and(|before| before <= position)
}

/// Whether an item is of this type.
pub(super) fn is(item: Node<'_>, kind: &str) -> bool {
    item.get("type").and_then(|of| of.as_str()).is_some_and(|of| of == kind)
}

fn length(message: Node<'_>) -> usize {
    message.get(BYTES).and_then(|bytes| bytes.decode().ok()).unwrap_or_default()
}

/// The members of a kept message or call that are the provider's own.
#[derive(Debug, Default)]
pub(super) struct More<'a>(Vec<(Cow<'a, str>, Node<'a>)>);

impl<'a> More<'a> {
    fn of(item: Node<'a>) -> Self {
        Self(item.members().filter(|(name, _)| !matches!(name.as_ref(), "type" | BYTES)).collect())
    }
}

impl Serialize for More<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value.to_document())))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn as_it_is<S: Serializer>(item: &&Document, serializer: S) -> Result<S::Ok, S::Error> {
    item.serialize(serializer)
}

#[cfg(test)]
mod tests;
