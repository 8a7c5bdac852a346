//! proposed: the model's text is a tool call, and became one value, once.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::document::Limits;
use lockgate_contract::outcome::Code;

use crate::exit::{Exit, Refusal};
use crate::gate::Gate;
use crate::scope::{Request, Scope, Terms};
use crate::trail::{Stage, Trail};

/// A call with its arguments parsed. Digest, display, validation, policy and handler all read this same value
/// (architecture rule 3).
pub(crate) struct Proposed<'g> {
    gate: &'g Gate,
    scope: &'g Scope,
    request: &'g Request,
    arguments: Arguments,
}

/// Parses the raw argument text of a tool call.
///
/// Code is not looked at: nothing here speaks it. That is a mistake of whoever wired the model up, not of the model, so it
/// costs no valid action and ends no run.
pub(crate) fn propose<'g>(
    request: &'g Request,
    gate: &'g Gate,
    scope: &'g Scope,
    trail: &mut Trail<'g>,
) -> Result<Proposed<'g>, Exit> {
    let call = &request.call;
    if call.language == ActionLanguage::Code {
        return Err(Refusal::new(Code::WrongActionLanguage, "code reached a gate that takes tool calls only").into());
    }
    let limits = Limits { max_bytes: gate.options.max_argument_bytes, ..Limits::ARGUMENTS };
    match Arguments::parse(&call.arguments_text, limits) {
        Ok(arguments) => {
            trail.requested(Some(&arguments));
            trail.passed(Stage::Proposed);
            Ok(Proposed { gate, scope, request, arguments })
        }
        Err(error) => {
            // The refusal names the version of a tool that the caller may see.
            if let Ok(tool) = gate.registry.resolve(&call.tool_name, &scope.allowed) {
                trail.see_tool(&tool);
            }
            Err(Refusal::new(Code::InvalidArguments, error.to_string()).reason(error.reason_word()).into())
        }
    }
}

impl<'g> Proposed<'g> {
    pub(crate) fn gate(&self) -> &'g Gate {
        self.gate
    }

    pub(crate) fn scope(&self) -> &'g Scope {
        self.scope
    }

    pub(crate) fn request(&self) -> &'g Request {
        self.request
    }

    pub(crate) fn call(&self) -> &'g ToolCall {
        &self.request.call
    }

    pub(crate) fn terms(&self) -> &'g Terms {
        &self.request.terms
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }
}
