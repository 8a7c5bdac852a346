//! A tool that was admitted.

use lockgate_contract::approval::visible;
use lockgate_contract::tool::ToolSpec;

use crate::error::RegisterError;
use crate::registry::RegistryRules;
use crate::schema::{Role, Schema, UnknownFields};

/// The longest name, in bytes.
const LONGEST_NAME: usize = 256;

/// A tool and its admitted schemas.
#[derive(Debug)]
pub struct RegisteredTool {
    spec: ToolSpec,
    input: Schema,
    output: Option<Schema>,
}

impl RegisteredTool {
    /// Checks all that can be known of a tool by itself.
    pub(super) fn admit(spec: ToolSpec, rules: RegistryRules) -> Result<Self, RegisterError> {
        check_name(spec.name())?;
        let refused = |which: &'static str, cause| RegisterError::Schema {
            tool: spec.name().to_owned(),
            which,
            cause: Box::new(cause),
        };
        let input = Schema::admit(spec.input_schema(), Role::Input, rules.unknown_fields)
            .map_err(|cause| refused("input", cause))?;
        let output = spec
            .output_schema()
            .map(|schema| Schema::admit(schema, Role::Output, UnknownFields::AsDeclared))
            .transpose()
            .map_err(|cause| refused("output", cause))?;
        Ok(Self { spec, input, output })
    }

    /// What the tool is.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Its admitted input schema.
    pub fn input(&self) -> &Schema {
        &self.input
    }

    /// Its admitted output schema.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()
    }
}

/// Tool names are untrusted on the way in too: a name that cannot be seen or written plainly cannot be reviewed.
fn check_name(name: &str) -> Result<(), RegisterError> {
    let problem = if name.trim().is_empty() {
        "it is empty"
    } else if name.len() > LONGEST_NAME {
        "it is longer than 256 bytes"
    } else if name.trim() != name {
        "it begins or ends with white space"
    } else if visible(name) != name {
        "it holds characters that cannot be seen, or what would pass for one that is shown"
    } else {
        return Ok(());
    };
    Err(RegisterError::Name { name: name.to_owned(), problem })
}
