//! validated: the arguments match the tool's input schema, and its handler can read them.

use std::ops::Deref;

use lockgate_contract::digest::Digest;
use lockgate_contract::outcome::Code;
use lockgate_contract::tool::Prepared;
use lockgate_registry::schema::Violations;

use crate::exit::{Exit, Refusal};
use crate::gate::{ArgumentErrors, Dispatch};
use crate::resolved::Resolved;
use crate::trail::{Stage, Trail};

/// A call whose arguments are what the tool asked for.
pub(crate) struct Validated<'g> {
    resolved: Resolved<'g>,
    arguments_digest: Digest,
    /// The handler with its decoded arguments; none where a project's own executor acts.
    prepared: Option<Prepared>,
}

impl<'g> Resolved<'g> {
    /// Runs the compiled schema, and decodes for typed handlers. Nothing is coerced.
    pub(crate) fn validate(self, trail: &mut Trail<'g>) -> Result<Validated<'g>, Exit> {
        if let Err(violations) = self.tool().input().validate(self.arguments().document()) {
            return Err(self.invalid(&violations).into());
        }
        let prepared = match (&self.gate().dispatch, self.tool().spec().handler()) {
            (Dispatch::Registry(_), Some(handler)) => Some(handler.prepare(self.arguments()).map_err(|error| {
                Refusal::new(Code::InvalidArguments, format!("the handler cannot read the arguments: {error}"))
                    .reason("schema")
            })?),
            (Dispatch::Registry(_), None) | (Dispatch::Own(_), _) => None,
        };
        let arguments_digest = self.arguments().digest();
        trail.audit.arguments_digest = Some(arguments_digest);
        trail.passed(Stage::Validated);
        Ok(Validated { resolved: self, arguments_digest, prepared })
    }

    fn invalid(&self, violations: &Violations) -> Refusal {
        let gate = self.gate();
        let refusal = Refusal::new(Code::InvalidArguments, violations.to_string()).reason("schema");
        match (gate.options.argument_errors, violations.declared_path()) {
            (ArgumentErrors::DeclaredPaths, Some((pointer, keyword))) => {
                let sentence = gate.observations.sentence(Code::InvalidArguments);
                refusal.sentence(format!("{sentence} `{pointer}` does not satisfy `{keyword}`."))
            }
            _ => refusal,
        }
    }
}

impl Validated<'_> {
    pub(crate) fn arguments_digest(&self) -> Digest {
        self.arguments_digest
    }

    pub(crate) fn take_prepared(&mut self) -> Option<Prepared> {
        self.prepared.take()
    }
}

impl<'g> Deref for Validated<'g> {
    type Target = Resolved<'g>;

    fn deref(&self) -> &Resolved<'g> {
        &self.resolved
    }
}
