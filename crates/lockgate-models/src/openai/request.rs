//! The body of one Chat Completions request.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{Message, ModelError, ModelRequest, ToolDefinition};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::history::{WireMessage, wire_messages};
use super::options::Resolved;
use super::schema::Parameters;
use crate::names::WireNames;

/// The wire names of a request: its tools first, then whatever names its history holds.
pub(super) fn wire_names(request: &ModelRequest) -> WireNames {
    let mut names = WireNames::for_tools(request.tools.iter().map(|tool| tool.name.as_str()));
    for message in &request.messages {
        if let Message::Assistant { calls, .. } = message {
            for call in calls {
                names.add(&call.name);
            }
        }
    }
    names
}

/// The body as JSON text. The same request gives the same bytes, so that providers' prompt caches hold.
pub(super) fn body(options: &Resolved, request: &ModelRequest, names: &WireNames) -> Result<String, ModelError> {
    let body = Body {
        model: &options.model,
        messages: wire_messages(&request.messages, names)?,
        tools: request.tools.iter().map(|tool| wire_tool(tool, names)).collect(),
        temperature: options.temperature,
        stream: false,
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
    #[serde(flatten)]
    extra: Members<'a>,
}

/// Members added to an object as they stand.
struct Members<'a>(&'a [(String, Document)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
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
            // INVARIANT: `wire_names` has every tool of the request.
            name: names.wire(&tool.name).unwrap_or(&tool.name),
            description: &tool.description,
            parameters: Parameters(&tool.input_schema),
        },
    }
}

#[cfg(test)]
mod tests;
