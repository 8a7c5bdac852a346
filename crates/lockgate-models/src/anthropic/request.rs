//! The body of one request.

use lockgate_contract::ports::{Message, ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{WireBlock, WireMessage, wire_messages};
use crate::chat::Parameters;
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::{Members, written};

/// The protocol demands a number.
const MAX_TOKENS: u32 = 8192;

/// The body as JSON text. The same request gives the same bytes, so that the provider's prompt cache holds.
pub(super) fn body(
    options: &Resolved,
    request: &ModelRequest,
    names: &WireNames,
    stream: bool,
) -> Result<String, ModelError> {
    let body = Body {
        model: &options.model,
        max_tokens: options.max_output_tokens.unwrap_or(MAX_TOKENS),
        system: request.messages.iter().filter_map(system).collect(),
        messages: wire_messages(&request.messages, names)?,
        tools: request.tools.iter().map(|tool| wire_tool(tool, names)).collect(),
        temperature: options.temperature,
        stream,
        extra: Members(&options.extra_body),
    };
    written(&body)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<WireBlock<'a>>,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(flatten)]
    extra: Members<'a>,
}

/// A tool as the model sees it. It never says `strict`: the schema is not brought into the strict dialect.
#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Parameters<'a>,
}

fn wire_tool<'a>(tool: &'a ToolDefinition, names: &'a WireNames) -> WireTool<'a> {
    WireTool {
        name: names.as_sent(&tool.name),
        description: &tool.description,
        input_schema: Parameters(&tool.input_schema),
    }
}

/// Standing instructions stand beside the messages, wherever in the history they were given.
fn system(message: &Message) -> Option<WireBlock<'_>> {
    match message {
        Message::System { text } => WireBlock::text(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
