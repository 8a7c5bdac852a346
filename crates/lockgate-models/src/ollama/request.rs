//! The body of one request to Ollama. It has no member that Ollama does not know.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{WireMessage, wire_messages};
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::Members;

/// The body as JSON text. The same request gives the same bytes.
pub(super) fn body(
    options: &Resolved,
    request: &ModelRequest,
    names: &WireNames,
    stream: bool,
) -> Result<String, ModelError> {
    let settings = options.settings()?;
    let body = Body {
        model: &options.model,
        messages: wire_messages(&request.messages, names)?,
        tools: request.tools.iter().map(|tool| wire_tool(tool, names)).collect(),
        stream,
        options: (!settings.is_empty()).then_some(Members(&settings)),
        extra: Members(&options.extra_body),
    };
    serde_json::to_string(&body)
        .map_err(|error| ModelError::InvalidRequest { detail: format!("the request cannot be written: {error}") })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    // Without it Ollama streams.
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Members<'a>>,
    #[serde(flatten)]
    extra: Members<'a>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireDeclaration<'a>,
}

/// A tool as the model sees it.
#[derive(Serialize)]
struct WireDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Document,
}

fn wire_tool<'a>(tool: &'a ToolDefinition, names: &'a WireNames) -> WireTool<'a> {
    WireTool {
        r#type: "function",
        function: WireDeclaration {
            // INVARIANT: `Sent::of` has every tool of the request.
            name: names.wire(&tool.name).unwrap_or(&tool.name),
            description: &tool.description,
            parameters: parameters(&tool.input_schema),
        },
    }
}

/// The schema of a tool's arguments, as Ollama takes it.
fn parameters(input_schema: &Document) -> Document {
    input_schema.clone()
}

#[cfg(test)]
mod tests;
