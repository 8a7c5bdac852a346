//! The body of one request to Ollama. It has no member that Ollama does not know.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{ModelError, ModelRequest};
use serde::Serialize;

use super::history::{WireMessage, wire_messages};
use crate::chat::request::{WireTool, wire_tool};
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::{Members, written};

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
        tools: request.tools.iter().map(|tool| wire_tool(tool, names, &tool.input_schema)).collect(),
        stream,
        options: (!settings.is_empty()).then_some(Members(&settings)),
        extra: Members(&options.extra_body),
    };
    written(&body)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a, &'a Document>>,
    // Without it Ollama streams.
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Members<'a>>,
    #[serde(flatten)]
    extra: Members<'a>,
}

#[cfg(test)]
mod tests;
