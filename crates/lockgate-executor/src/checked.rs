//! checked: what the handler answered is one JSON value of the declared form.

use lockgate_contract::document::{Document, Fault, Limits};
use lockgate_contract::outcome::Code;
use lockgate_contract::tool::{Output, OutputContent};

use crate::exit::{Exit, Refusal};
use crate::ran::Ran;
use crate::recorded::Recorded;
use crate::trail::{Stage, Trail};

/// A call with an output that may be shown once it is scrubbed and limited.
pub(crate) struct Checked<'g> {
    _recorded: Recorded<'g>,
    output: Document,
    truncated_chars: u64,
    lossy: bool,
    env_reported_completion: bool,
}

impl<'g> Ran<'g> {
    /// Parses a raw output, once, and runs the output schema. Nothing of a wrong output goes on.
    pub(crate) fn check(self, trail: &mut Trail<'g>) -> Result<Checked<'g>, Exit> {
        let (recorded, output, env_reported_completion) = self.into_parts();
        let Output { content, truncated_chars, lossy } = output;
        let document = match content {
            OutputContent::Value(document) => document,
            OutputContent::Raw(text) => Document::parse(text, Limits::OUTPUT)
                .map_err(|error| invalid(error.fault().word(), error.to_string()))?,
            OutputContent::Invalid(error) => {
                let word = error.fault().map_or(Fault::NotJson.word(), Fault::word);
                return Err(invalid(word, error.to_string()).into());
            }
        };
        if let Some(schema) = recorded.tool().output() {
            schema.validate(&document).map_err(|violations| invalid("schema", violations.to_string()))?;
        }
        trail.passed(Stage::Checked);
        Ok(Checked { _recorded: recorded, output: document, truncated_chars, lossy, env_reported_completion })
    }
}

fn invalid(reason: &str, audit: String) -> Refusal {
    Refusal::new(Code::InvalidToolOutput, audit).reason(reason)
}

/// What a checked call hands to its release.
pub(crate) struct CheckedOutput {
    pub(crate) output: Document,
    pub(crate) truncated_chars: u64,
    pub(crate) lossy: bool,
    pub(crate) env_reported_completion: bool,
}

impl Checked<'_> {
    pub(crate) fn into_output(self) -> CheckedOutput {
        CheckedOutput {
            output: self.output,
            truncated_chars: self.truncated_chars,
            lossy: self.lossy,
            env_reported_completion: self.env_reported_completion,
        }
    }
}
