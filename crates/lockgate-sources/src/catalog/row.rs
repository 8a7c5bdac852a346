//! One row of a catalog.

use std::path::Path;

use lockgate_contract::document::Document;
use lockgate_contract::tool::ToolSpec;
use lockgate_registry::schema::{Role, Schema, SchemaRefused, UnknownFields};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Resolvers, Target};
use crate::error::Problem;
use crate::mock::{Declaration, check_keys, decode};

/// One row: what the tool says it is, and where its handler comes from.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Row {
    #[schemars(flatten)]
    declaration: Declaration,
    #[schemars(flatten)]
    resolution: Resolution,
}

/// Where the handler comes from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Resolution {
    /// Which resolver makes the handler: `table`, `record`, `mock`, `native`.
    kind: String,
    /// What that resolver needs to know.
    #[serde(default = "Document::empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    target: Document,
    /// A row that is not enabled is left out.
    #[serde(default = "enabled")]
    #[expect(dead_code, reason = "declares the key; a row that is not enabled is never read this far")]
    enabled: bool,
}

impl Row {
    /// Reads a row. Every key must be known.
    pub(super) fn read(row: &Document) -> Result<Self, Problem> {
        check_keys::<Self>(row.root(), "")?;
        Ok(Self { declaration: decode(row)?, resolution: decode(row)? })
    }

    pub(super) fn name(&self) -> &str {
        &self.declaration.name
    }

    /// The tool, with the handler that the row's kind makes for it.
    pub(super) fn spec(
        &self,
        folder: &Path,
        source: &str,
        resolvers: &Resolvers,
        entered_before: &dyn Fn(&str) -> u32,
    ) -> Result<ToolSpec, Problem> {
        let builder = self.declaration.builder()?.source(source);
        // The registry admits the schemas again; here a refusal can still name the file.
        let admitted = |role, which, schema: &Option<Document>| {
            let admit = |schema| Schema::admit(schema, role, UnknownFields::AsDeclared);
            let refused = |error: SchemaRefused| Problem::Schema { which, detail: error.to_string() };
            schema.as_ref().map(admit).transpose().map_err(refused)
        };
        admitted(Role::Input, "input", &self.declaration.input_schema)?;
        let output_schema = admitted(Role::Output, "output", &self.declaration.output_schema)?;
        let target = Target {
            tool: self.name(),
            data: &self.resolution.target,
            input_schema: self.declaration.input_schema.as_ref(),
            output_schema: output_schema.as_ref(),
            folder,
            entered_before,
        };
        let handler = resolvers.resolve(&self.resolution.kind, &target)?;
        Ok(builder.handler(handler).build()?)
    }
}

/// Whether a row says plainly that it is not wanted. Nothing else of it is looked at then.
pub(super) fn is_disabled(row: &Document) -> bool {
    row.root().get("enabled").and_then(|enabled| enabled.as_bool()) == Some(false)
}

fn enabled() -> bool {
    true
}
