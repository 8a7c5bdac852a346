//! checked: what the handler answered is one JSON value of the declared form.

use lockgate_contract::document::{Document, Fault, Limits};
use lockgate_contract::effect::OutputForm;
use lockgate_contract::outcome::Code;
use lockgate_contract::tool::{Output, OutputContent};
use lockgate_registry::RegisteredTool;

use crate::exit::{Exit, Refusal};
use crate::ran::Ran;
use crate::reconciled::Found;
use crate::trail::{Stage, Trail};

/// An output that may be shown once it is scrubbed and limited.
pub(crate) struct Checked {
    output: CheckedOutput,
}

/// What a checked output hands to its release.
pub(crate) struct CheckedOutput {
    pub(crate) output: Document,
    pub(crate) truncated_chars: u64,
    pub(crate) lossy: bool,
    pub(crate) env_reported_completion: bool,
}

impl Ran<'_> {
    /// Parses a raw output, once, and runs the output schema. Nothing of a wrong output goes on.
    pub(crate) fn check(self, trail: &mut Trail<'_>) -> Result<Checked, Exit> {
        let (recorded, output, env_reported_completion) = self.into_parts();
        let output = CheckedOutput { env_reported_completion, ..check(recorded.tool(), output)? };
        trail.passed(Stage::Checked);
        Ok(Checked { output })
    }
}

impl Found<'_> {
    /// The same, of what a tool says that a lost attempt came to.
    pub(crate) fn check(self) -> Result<Checked, Refusal> {
        let (tool, output) = self.into_parts();
        Ok(Checked { output: check(tool.tool(), output)? })
    }
}

impl Checked {
    pub(crate) fn into_output(self) -> CheckedOutput {
        self.output
    }
}

fn check(tool: &RegisteredTool, output: Output) -> Result<CheckedOutput, Refusal> {
    let Output { content, truncated_chars, lossy } = output;
    let output = match content {
        OutputContent::Value(document) => document,
        OutputContent::Raw(text) => {
            Document::parse(text, Limits::OUTPUT).map_err(|error| invalid(error.fault().word(), error.to_string()))?
        }
        OutputContent::Invalid(error) => {
            let word = error.fault().map_or(Fault::NotJson.word(), Fault::word);
            return Err(invalid(word, error.to_string()));
        }
    };
    if let Some(schema) = tool.output() {
        let described = match tool.spec().output_form() {
            OutputForm::Value => Some(output.clone()),
            OutputForm::Content => output.root().get("structuredContent").map(|structured| structured.to_document()),
        };
        let described = described.ok_or_else(|| invalid("schema", "`structuredContent` is missing".to_owned()))?;
        schema.validate(&described).map_err(|violations| invalid("schema", violations.to_string()))?;
    }
    Ok(CheckedOutput { output, truncated_chars, lossy, env_reported_completion: false })
}

fn invalid(reason: &str, audit: String) -> Refusal {
    Refusal::new(Code::InvalidToolOutput, audit).reason(reason)
}
