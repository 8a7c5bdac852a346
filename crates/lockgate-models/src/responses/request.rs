//! The body of one Responses request.

use lockgate_contract::ports::{Message, ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{InputItem, input_items};
use crate::chat::Parameters;
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::{Members, written};

/// What is asked for beside the items themselves: without it what the model thought cannot go back, as nothing of it is stored.
const INCLUDE: [&str; 1] = ["reasoning.encrypted_content"];

/// The body as JSON text. The same request gives the same bytes, so that providers' prompt caches hold.
pub(super) fn body(
    options: &Resolved,
    request: &ModelRequest,
    names: &WireNames,
    stream: bool,
) -> Result<String, ModelError> {
    let (instructions, messages) = match request.messages.split_first() {
        Some((Message::System { text }, rest)) => (Some(text.as_str()), rest),
        _ => (None, request.messages.as_slice()),
    };
    let body = Body {
        model: &options.model,
        instructions,
        input: input_items(messages, names)?,
        tools: request.tools.iter().map(|tool| declared(tool, names)).collect(),
        temperature: options.temperature,
        max_output_tokens: options.max_output_tokens,
        store: false,
        include: INCLUDE,
        stream,
        extra: Members(&options.extra_body),
    };
    written(&body)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<InputItem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Declared<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    store: bool,
    include: [&'static str; 1],
    stream: bool,
    #[serde(flatten)]
    extra: Members<'a>,
}

/// A tool as the model sees it. The provider claims `strict` where nothing is said, so it is always said.
#[derive(Serialize)]
struct Declared<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Parameters<'a>,
    strict: bool,
}

fn declared<'a>(tool: &'a ToolDefinition, names: &'a WireNames) -> Declared<'a> {
    Declared {
        r#type: "function",
        name: names.as_sent(&tool.name),
        description: &tool.description,
        parameters: Parameters(&tool.input_schema),
        strict: false,
    }
}

#[cfg(test)]
mod tests;
