//! The body of one request to Gemini.

use lockgate_contract::document::Document;
use lockgate_contract::ports::{Message, ModelError, ModelRequest, ToolDefinition};
use serde::Serialize;

use super::history::{Content, Part, contents};
use super::schema::parameters;
use crate::names::WireNames;
use crate::options::Resolved;
use crate::wire::{Members, written};

/// The body as JSON text. The same request gives the same bytes.
pub(super) fn body(options: &Resolved, request: &ModelRequest, names: &WireNames) -> Result<String, ModelError> {
    let standing = request.messages.iter().filter_map(|message| match message {
        Message::System { text } => Some(Part::text(text)),
        _ => None,
    });
    let standing: Vec<Part<'_>> = standing.collect();
    let tools: Vec<_> = request.tools.iter().map(|tool| declaration(tool, names)).collect();
    let settings = options.settings()?;
    let body = Body {
        contents: contents(&request.messages, names)?,
        system_instruction: (!standing.is_empty()).then_some(Instruction { parts: standing }),
        tools: if tools.is_empty() { Vec::new() } else { vec![Tools { function_declarations: tools }] },
        generation_config: (!settings.is_empty()).then_some(Members(&settings)),
        extra: Members(&options.extra_body),
    };
    written(&body)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Members<'a>>,
    #[serde(flatten)]
    extra: Members<'a>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

/// A tool as the model sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: Document,
}

fn declaration<'a>(tool: &'a ToolDefinition, names: &'a WireNames) -> Declaration<'a> {
    Declaration {
        name: names.as_sent(&tool.name),
        description: &tool.description,
        parameters_json_schema: parameters(&tool.input_schema),
    }
}

#[cfg(test)]
mod tests;
