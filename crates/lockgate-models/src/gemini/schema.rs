//! An input schema as Gemini takes it.

use lockgate_contract::document::Document;

/// The schema of a tool's arguments, as `parametersJsonSchema` has it.
pub(super) fn parameters(input_schema: &Document) -> Document {
    input_schema.clone()
}
