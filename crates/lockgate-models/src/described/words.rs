//! Tools, calls and results in words.

use std::fmt::Write as _;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ports::{Message, MessageCall, ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use crate::pairing::{Pairing, object_text};
use crate::told::Told;
use crate::wire::{unwritable, written};

/// How an answer is to be written.
const HOW: &str = "Answer with exactly one JSON object and nothing else: either {\"call\": {\"name\": NAME, \"arguments\": {…}}} to \
                   call one of these tools, with arguments that fit its schema, or {\"say\": TEXT} when you need no tool. The result of \
                   a call comes back in the next message.";

/// The schema of an answer: a text, or one call of one of these tools.
pub(super) fn schema(tools: &[ToolDefinition]) -> Result<Document, ModelError> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let names = written(&names)?;
    let text = format!(
        concat!(
            r#"{{"anyOf":[{{"type":"object","properties":{{"say":{{"type":"string"}}}},"required":["say"],"#,
            r#""additionalProperties":false}},{{"type":"object","properties":{{"call":{{"type":"object","properties":"#,
            r#"{{"name":{{"type":"string","enum":{}}},"arguments":{{"type":"object"}}}},"required":["name","arguments"],"#,
            r#""additionalProperties":false}}}},"required":["call"],"additionalProperties":false}}]}}"#
        ),
        names
    );
    Document::parse(text, Limits::OWN).map_err(|error| unwritable(&error.to_string()))
}

/// The same request without tools, calls and results: all of them are told.
pub(super) fn told(request: &ModelRequest) -> Result<ModelRequest, ModelError> {
    let mut pairing = Pairing::of(&request.messages);
    let mut messages: Vec<Message> = Vec::with_capacity(request.messages.len());
    let tools = described(&request.tools)?;
    // The instructions stand first, and the tools at their end.
    let has_instructions = matches!(request.messages.first(), Some(Message::System { .. }));
    if !has_instructions && let Some(tools) = &tools {
        messages.push(Message::System { text: tools.clone() });
    }
    for (index, message) in request.messages.iter().enumerate() {
        if !matches!(message, Message::Tool { .. }) {
            pairing.nothing_open()?;
        }
        match message {
            Message::System { text } => {
                let tools = tools.as_ref().filter(|_| index == 0);
                let text = tools.map_or_else(|| text.clone(), |tools| format!("{text}\n\n{tools}"));
                messages.push(Message::System { text });
            }
            Message::User { text } => from_user(&mut messages, text.clone()),
            Message::Assistant { text, calls, items } => {
                for call in calls {
                    pairing.call(call);
                }
                let text = Some(answered(text.as_deref(), calls)?);
                messages.push(Message::Assistant { text, calls: Vec::new(), items: items.clone() });
            }
            Message::Tool { call_id, ok, content } => {
                let call = pairing.result(call_id)?;
                let what = if *ok { "Result of" } else { "Failed:" };
                let text = Told::of(content).text;
                from_user(&mut messages, format!("{what} the call of {}: {text}", call.name));
            }
        }
    }
    pairing.end()?;
    Ok(ModelRequest { step: request.step, messages, tools: Vec::new() })
}

/// Adds what comes from the user's side. Many templates want the two sides in turn, so that it goes on with what stands there.
fn from_user(messages: &mut Vec<Message>, more: String) {
    match messages.last_mut() {
        Some(Message::User { text }) => {
            text.push_str("\n\n");
            text.push_str(&more);
        }
        _ => messages.push(Message::User { text: more }),
    }
}

/// What the tools are, where there are any.
fn described(tools: &[ToolDefinition]) -> Result<Option<String>, ModelError> {
    if tools.is_empty() {
        return Ok(None);
    }
    let mut text = "You can call these tools:\n".to_owned();
    for tool in tools {
        let described = Tool { name: &tool.name, description: &tool.description, arguments: &tool.input_schema };
        let _ = writeln!(text, "{}", written(&described)?);
    }
    text.push_str(HOW);
    Ok(Some(text))
}

/// A tool.
#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    /// The schema of the arguments.
    arguments: &'a Document,
}

/// An answer, as the model is to write it.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer<'a> {
    Say(&'a str),
    Call { name: &'a str, arguments: &'a Document },
}

/// An earlier turn, as if it had been answered so: a line for the text and for each call.
fn answered(text: Option<&str>, calls: &[MessageCall]) -> Result<String, ModelError> {
    let mut lines = Vec::new();
    if let Some(text) = text.or(calls.is_empty().then_some("")) {
        lines.push(written(&Answer::Say(text))?);
    }
    for call in calls {
        let arguments = match call.language {
            ActionLanguage::Call => object_text(&call.arguments_text).to_owned(),
            ActionLanguage::Code => format!(r#"{{"code":{}}}"#, Document::string(&call.arguments_text).text()),
        };
        let arguments = Document::parse(arguments, Limits::OWN).map_err(|error| unwritable(&error.to_string()))?;
        lines.push(written(&Answer::Call { name: &call.name, arguments: &arguments })?);
    }
    Ok(lines.join("\n"))
}
