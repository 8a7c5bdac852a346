//! Real tools and real calls: every definition registers, and every call passes the gate or is refused as its own schema
//! says. Sources and licences: `testdata/mcp-tools/README.md`, `testdata/bfcl/README.md`.

mod bfcl;
mod mcp;
mod mutated;

use lockgate::ToolSpecBuilder;
use lockgate::contract::document::{Limits, Node};
use lockgate::contract::effect::Effect;
use lockgate::prelude::*;

/// A file of `testdata/`.
#[expect(clippy::disallowed_methods, reason = "test data is checked in")]
fn testdata(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A JSON text of any size that test data has.
fn document(text: &str) -> Document {
    Document::parse(text, Limits::OWN).unwrap()
}

/// A tool with this name and these arguments. It reads, so that nobody is asked.
fn tool(name: &str, input: Node<'_>) -> ToolSpecBuilder {
    ToolSpec::builder(name).description("A tool.").input_schema(input.to_document()).effect(Effect::Read)
}
