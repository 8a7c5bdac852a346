//! The body of one Chat Completions request.

use lockgate_contract::ports::{ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{WireMessage, wire_messages};
use super::schema::Parameters;
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::Members;

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
        tools: request.tools.iter().map(|tool| wire_tool(tool, names)).collect(),
        temperature: options.temperature,
        stream,
        stream_options: stream.then_some(StreamOptions { include_usage: true }),
        max_completion_tokens: options.max_output_tokens,
        extra: Members(&options.extra_body),
    };
    serde_json::to_string(&body)
        .map_err(|error| ModelError::InvalidRequest { detail: format!("the request cannot be written: {error}") })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    // Absent rather than empty: an empty list is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
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

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireDeclaration<'a>,
}

/// A tool as the model sees it. It never says `strict`: the schema is not brought into the strict dialect.
#[derive(Serialize)]
struct WireDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Parameters<'a>,
}

fn wire_tool<'a>(tool: &'a ToolDefinition, names: &'a WireNames) -> WireTool<'a> {
    WireTool {
        r#type: "function",
        function: WireDeclaration {
            // INVARIANT: `Sent::of` has every tool of the request.
            name: names.wire(&tool.name).unwrap_or(&tool.name),
            description: &tool.description,
            parameters: Parameters(&tool.input_schema),
        },
    }
}

#[cfg(test)]
mod tests;
