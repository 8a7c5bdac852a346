//! proposed: the model's text became one value, once.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ToolCall;
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
    call: ToolCall,
    terms: Terms,
    arguments: Arguments,
}

/// Parses the raw argument text.
pub(crate) fn propose<'g>(
    request: Request,
    gate: &'g Gate,
    scope: &'g Scope,
    trail: &mut Trail<'g>,
) -> Result<Proposed<'g>, Exit> {
    let Request { call, terms } = request;
    let limits = Limits { max_bytes: gate.options.max_argument_bytes, ..Limits::ARGUMENTS };
    match Arguments::parse(&call.arguments_text, limits) {
        Ok(arguments) => {
            trail.passed(Stage::Proposed);
            Ok(Proposed { gate, scope, call, terms, arguments })
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

    pub(crate) fn call(&self) -> &ToolCall {
        &self.call
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.arguments
    }
}
