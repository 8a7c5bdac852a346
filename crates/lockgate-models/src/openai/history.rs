//! The neutral history as a Chat Completions server wants it.

use std::borrow::Cow;
use std::collections::HashSet;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Kind};
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{Message, MessageCall, ModelError};
use serde::Serialize;

use crate::names::WireNames;

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
        /// Its text; null beside calls without one.
        content: Option<&'a str>,
        /// Its calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    /// The result of one call.
    Tool {
        /// The wire id of the call.
        tool_call_id: Cow<'a, str>,
        /// The JSON text of the result.
        content: &'a str,
    },
}

/// A call of the history.
#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    #[serde(flatten)]
    action: WireAction<'a>,
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

/// Builds the messages. Every call of the history must be followed by its one result before anything else is said; a
/// provider refuses the whole request otherwise, so such a history is an error here.
pub(super) fn wire_messages<'a>(
    messages: &'a [Message],
    names: &'a WireNames,
) -> Result<Vec<WireMessage<'a>>, ModelError> {
    let mut ids = WireIds::claim(messages);
    let mut open: Vec<(&CallId, Cow<'a, str>)> = Vec::new();
    let mut wire = Vec::with_capacity(messages.len());
    for message in messages {
        if let (Some((call_id, _)), false) = (open.first(), matches!(message, Message::Tool { .. })) {
            return Err(unpaired(call_id, "has no result right after its turn"));
        }
        wire.push(match message {
            Message::System { text } => WireMessage::System { content: text },
            Message::User { text } => WireMessage::User { content: text },
            Message::Assistant { text, calls } => {
                let tool_calls = calls.iter().map(|call| {
                    let id = ids.next(&call.provider_call_id);
                    open.push((&call.call_id, id.clone()));
                    wire_call(call, id, names)
                });
                let tool_calls: Vec<_> = tool_calls.collect();
                let content = match text.as_deref() {
                    // A turn without text and calls is only accepted with a text.
                    None if tool_calls.is_empty() => Some(""),
                    text => text,
                };
                WireMessage::Assistant { content, tool_calls }
            }
            Message::Tool { call_id, content } => {
                let position = open.iter().position(|(open, _)| *open == call_id);
                let position = position.ok_or_else(|| unpaired(call_id, "has a result but no call before it"))?;
                let (_, tool_call_id) = open.remove(position);
                WireMessage::Tool { tool_call_id, content: content.text() }
            }
        });
    }
    match open.first() {
        Some((call_id, _)) => Err(unpaired(call_id, "has no result")),
        None => Ok(wire),
    }
}

fn unpaired(call_id: &CallId, what: &str) -> ModelError {
    ModelError::InvalidRequest { detail: format!("call `{call_id}` of the history {what}") }
}

fn wire_call<'a>(call: &'a MessageCall, id: Cow<'a, str>, names: &'a WireNames) -> WireCall<'a> {
    // INVARIANT: whoever builds a request adds every name of its history to `names` first.
    let name = names.wire(&call.name).unwrap_or(&call.name);
    let (r#type, action) = match call.language {
        ActionLanguage::Call => {
            ("function", WireAction::Function { name, arguments: object_text(&call.arguments_text) })
        }
        ActionLanguage::Code => ("custom", WireAction::Custom { name, input: &call.arguments_text }),
    };
    WireCall { id, r#type, action }
}

/// The raw text if it is a JSON object, else `{}`: a history with broken arguments fails the whole request, and the broken
/// text is in the journal (providers.md, Argument text).
fn object_text(text: &str) -> &str {
    match Document::parse(text, super::limits(text.len())) {
        Ok(document) if document.root().kind() == Kind::Object => text,
        _ => "{}",
    }
}

/// Gives each call of the history an id that no other call of the request has: the provider's own where that works, for
/// calls and results are paired by it on the wire. The same history always gets the same ids.
struct WireIds<'a> {
    /// Every id that a provider gave somewhere in this history.
    given: HashSet<&'a str>,
    /// The ids used so far.
    used: HashSet<&'a str>,
    /// How many ids were made.
    made: u32,
}

impl<'a> WireIds<'a> {
    fn claim(messages: &'a [Message]) -> Self {
        let calls = messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let given = calls.map(|call| call.provider_call_id.as_str()).collect();
        Self { given, used: HashSet::new(), made: 0 }
    }

    fn next(&mut self, provider_call_id: &'a str) -> Cow<'a, str> {
        if !provider_call_id.is_empty() && self.used.insert(provider_call_id) {
            return Cow::Borrowed(provider_call_id);
        }
        loop {
            // Nine letters and digits: the one form that even the pickiest provider takes.
            let id = format!("call{:05}", self.made);
            self.made += 1;
            if !self.given.contains(id.as_str()) {
                return Cow::Owned(id);
            }
        }
    }
}

#[cfg(test)]
mod tests;
