//! The body of one Chat Completions request.

use lockgate_contract::ports::{ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{WireMessage, wire_messages};
use super::schema::Parameters;
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::{Members, written};

/// The body as JSON text. The same request gives the same bytes, so that providers' prompt caches hold.
pub(super) fn body(
    options: &Resolved,
    request: &ModelRequest,
    names: &WireNames,
    stream: bool,
) -> Result<String, ModelError> {
    let body = Body {
        model: &options.model,
        messages: wire_messages(&request.messages, names)?,
        tools: request.tools.iter().map(|tool| wire_tool(tool, names, Parameters(&tool.input_schema))).collect(),
        temperature: options.temperature,
        stream,
        stream_options: stream.then_some(StreamOptions { include_usage: true }),
        max_completion_tokens: options.max_output_tokens,
        extra: Members(&options.extra_body),
    };
    written(&body)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    // Absent rather than empty: an empty list is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a, Parameters<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(flatten)]
    extra: Members<'a>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// A tool with its parameters, in whichever form they are.
#[derive(Serialize)]
pub(crate) struct WireTool<'a, P> {
    r#type: &'static str,
    function: WireDeclaration<'a, P>,
}

/// A tool as the model sees it. It never says `strict`: the schema is not brought into the strict dialect.
#[derive(Serialize)]
struct WireDeclaration<'a, P> {
    name: &'a str,
    description: &'a str,
    parameters: P,
}

/// How a tool is declared, as Ollama takes it too.
pub(crate) fn wire_tool<'a, P>(tool: &'a ToolDefinition, names: &'a WireNames, parameters: P) -> WireTool<'a, P> {
    WireTool {
        r#type: "function",
        function: WireDeclaration { name: names.as_sent(&tool.name), description: &tool.description, parameters },
    }
}

#[cfg(test)]
mod tests;
