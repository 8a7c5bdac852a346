//! The neutral history as Gemini wants it.

use std::borrow::Cow;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Kind};
use lockgate_contract::ports::{Message, MessageCall, ModelError, ProviderItem};
use serde::Serialize;

use super::NAME;
use crate::chat::response::present;
use crate::names::WireNames;
use crate::pairing::{Pairing, object_text};
use crate::told::Told;
use crate::wire::limits;

/// Stands for the signature of a turn that another model made: newer models refuse a call without any, and take this word
/// (Base64, as every signature) for "there is none".
const OF_ANOTHER_MODEL: &str = "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv";

/// One message.
#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

/// A part of a message.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Part<'a> {
    /// A text.
    Text {
        /// It.
        text: &'a str,
        /// As it came.
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Document>,
    },
    /// A call of the history.
    Call {
        /// It.
        function_call: FunctionCall<'a>,
        /// As it came.
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Document>,
    },
    /// The result of one.
    Result {
        /// It.
        function_response: FunctionResponse<'a>,
    },
    /// An image of a result.
    Image {
        /// Its bytes.
        inline_data: Blob<'a>,
    },
    /// A part that goes back as it came.
    Kept(Document),
}

impl<'a> Part<'a> {
    /// A text without a signature.
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text { text, thought_signature: None }
    }
}

/// A call.
#[derive(Debug, Serialize)]
pub(super) struct FunctionCall<'a> {
    id: Cow<'a, str>,
    name: &'a str,
    args: Args<'a>,
}

/// The arguments: an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Object(Document),
    Code { code: &'a str },
}

/// The result of a call.
#[derive(Debug, Serialize)]
pub(super) struct FunctionResponse<'a> {
    id: Cow<'a, str>,
    name: &'a str,
    response: Response,
}

/// A result is an object. Where it has neither of the two members, all of it counts as the output.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Response {
    Whole(Document),
    Output { output: Document },
    Error { error: Document },
}

/// Bytes in Base64.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    mime_type: Cow<'a, str>,
    data: Cow<'a, str>,
}

/// Builds the contents; standing instructions have a place of their own.
pub(super) fn contents<'a>(messages: &'a [Message], names: &'a WireNames) -> Result<Vec<Content<'a>>, ModelError> {
    let mut pairing = Pairing::of(messages);
    let mut contents = Vec::with_capacity(messages.len());
    let mut results = Results::default();
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
            contents.extend(results.take());
        }
        match message {
            Message::System { .. } => {}
            Message::User { text } => contents.push(Content { role: "user", parts: vec![Part::text(text)] }),
            Message::Assistant { text, calls, items } => {
                let parts = turn_parts(text.as_deref().unwrap_or_default(), calls, items, &mut pairing, names);
                contents.push(Content { role: "model", parts });
            }
            Message::Tool { call_id, ok, content } => {
                let call = pairing.result(call_id)?;
                let Told { text, images } = Told::of(content);
                let name = names.as_sent(call.name);
                let response = response(*ok, &text);
                results
                    .parts
                    .push(Part::Result { function_response: FunctionResponse { id: call.id, name, response } });
                results
                    .images
                    .extend(images.into_iter().map(|image| Blob { mime_type: image.mime_type, data: image.data }));
            }
        }
    }
    pairing.end()?;
    contents.extend(results.take());
    // The first word is the user's, or the whole request is refused.
    if contents.first().is_none_or(|first| first.role != "user") {
        contents.insert(0, Content { role: "user", parts: vec![Part::text("")] });
    }
    Ok(contents)
}

/// The results of a turn, which go back in one message: images behind all of them.
#[derive(Default)]
struct Results<'a> {
    parts: Vec<Part<'a>>,
    images: Vec<Blob<'a>>,
}

impl<'a> Results<'a> {
    fn take(&mut self) -> Option<Content<'a>> {
        let Self { mut parts, images } = std::mem::take(self);
        parts.extend(images.into_iter().map(|inline_data| Part::Image { inline_data }));
        (!parts.is_empty()).then_some(Content { role: "user", parts })
    }
}

fn response(ok: bool, text: &str) -> Response {
    let content = Document::parse(text, limits(text.len())).unwrap_or_else(|_| Document::string(text));
    let root = content.root();
    let has_meaning = root.get("output").is_some() || root.get("error").is_some();
    match ok {
        false => Response::Error { error: content },
        true if root.kind() == Kind::Object && !has_meaning => Response::Whole(content),
        true => Response::Output { output: content },
    }
}

/// One earlier turn of the model: every part where it stood, with what was given with it.
fn turn_parts<'a>(
    text: &'a str,
    calls: &'a [MessageCall],
    items: &[ProviderItem],
    pairing: &mut Pairing<'a>,
    names: &'a WireNames,
) -> Vec<Part<'a>> {
    let items: Vec<&ProviderItem> = items.iter().filter(|item| item.adapter == NAME).collect();
    let mut texts = Texts::of(text, &items);
    let mut parts = Vec::new();
    if texts.places == 0 && !text.is_empty() {
        parts.push(Part::text(text));
    }
    let mut is_signed = false;
    for index in 0..=calls.len() {
        let mut signature = None;
        let is_here =
            |item: &&&ProviderItem| usize::try_from(item.before).unwrap_or(calls.len()).min(calls.len()) == index;
        for item in items.iter().filter(is_here) {
            let root = item.item.root();
            let given = present(root, "thoughtSignature").map(|signature| signature.to_document());
            if let Some(part) = present(root, "part") {
                parts.push(Part::Kept(part.to_document()));
            } else if let Some(length) = text_length(item) {
                let text = texts.next(length);
                if given.is_some() || !text.is_empty() {
                    parts.push(Part::Text { text, thought_signature: given });
                }
            } else {
                signature = given;
            }
        }
        if let Some(call) = calls.get(index) {
            is_signed |= signature.is_some();
            parts.push(Part::Call { function_call: function_call(call, pairing, names), thought_signature: signature });
        }
    }
    let first = parts.iter_mut().find_map(|part| match part {
        Part::Call { thought_signature, .. } => Some(thought_signature),
        _ => None,
    });
    if let (false, Some(first)) = (is_signed, first) {
        *first = Some(Document::string(OF_ANOTHER_MODEL));
    }
    if parts.is_empty() {
        parts.push(Part::text(""));
    }
    parts
}

fn function_call<'a>(call: &'a MessageCall, pairing: &mut Pairing<'a>, names: &'a WireNames) -> FunctionCall<'a> {
    let args = match call.language {
        ActionLanguage::Call => {
            let text = object_text(&call.arguments_text);
            Args::Object(Document::parse(text, limits(text.len())).unwrap_or_else(|_| Document::empty_object()))
        }
        ActionLanguage::Code => Args::Code { code: &call.arguments_text },
    };
    FunctionCall { id: pairing.call(call), name: names.as_sent(&call.name), args }
}

/// The text of a turn, cut into the pieces that it came in.
struct Texts<'a> {
    rest: &'a str,
    /// How many places there are for it.
    places: usize,
    /// Whether it still is as long as it was: secrets may have been taken out of it since.
    fits: bool,
}

impl<'a> Texts<'a> {
    fn of(text: &'a str, items: &[&ProviderItem]) -> Self {
        let lengths: Vec<usize> = items.iter().filter_map(|item| text_length(item)).collect();
        let sum = lengths.iter().fold(0, |sum: usize, length| sum.saturating_add(*length));
        Self { rest: text, places: lengths.len(), fits: sum == text.len() }
    }

    /// The piece of this length; where they do not fit any more, all of the text stands in the first place.
    fn next(&mut self, length: usize) -> &'a str {
        let length = if self.fits && self.rest.is_char_boundary(length) { length } else { self.rest.len() };
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        piece
    }
}

/// How much of the text stands where this item does.
fn text_length(item: &ProviderItem) -> Option<usize> {
    item.item.root().get("text")?.raw().parse().ok()
}

#[cfg(test)]
mod tests;
