//! resolved: the name is registered, this run may call it, and it is the tool that the run was bound to.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::outcome::Code;
use lockgate_registry::{RegisteredTool, ResolveError};

use crate::exit::{Exit, Refusal};
use crate::proposed::Proposed;
use crate::trail::{Stage, Trail};

/// A call of one registered tool.
pub(crate) struct Resolved<'g> {
    proposed: Proposed<'g>,
    tool: Arc<RegisteredTool>,
}

impl<'g> Proposed<'g> {
    /// Takes the tool out of the registry, by its exact name, for this run.
    ///
    /// The audit has the true reason of a refusal; the model gets one code for not registered and not allowed, so that
    /// hidden tools do not leak (C-5). Looked up again at every call: a list shown earlier may be stale.
    pub(crate) fn resolve(self, trail: &mut Trail<'g>) -> Result<Resolved<'g>, Exit> {
        match self.gate().registry.resolve(&self.call().tool_name, &self.scope().allowed) {
            Ok(tool) => {
                trail.see_tool(&tool);
                trail.passed(Stage::Resolved);
                Ok(Resolved { proposed: self, tool })
            }
            Err(error) => {
                trail.audit.tool_version = error.registered_version().map(str::to_owned);
                let code = match &error {
                    ResolveError::ContractMismatch { version, .. } => {
                        trail.version = Some(version.clone());
                        Code::DefinitionChanged
                    }
                    ResolveError::NotRegistered(_) | ResolveError::NotAllowed { .. } | ResolveError::Revoked(_) => {
                        Code::UnknownTool
                    }
                };
                Err(Refusal::new(code, error.to_string()).audit_reason(error.reason()).into())
            }
        }
    }
}

impl Resolved<'_> {
    pub(crate) fn tool(&self) -> &Arc<RegisteredTool> {
        &self.tool
    }

    /// The tool's own time-out, or the gate's; never beyond the run's deadline.
    pub(crate) fn timeout(&self) -> Duration {
        let own = self.tool().spec().timeout().unwrap_or(self.gate().options.call_timeout);
        match self.scope().deadline {
            Some(deadline) => own.min(deadline.since(self.gate().clock.now())),
            None => own,
        }
    }
}

impl<'g> Deref for Resolved<'g> {
    type Target = Proposed<'g>;

    fn deref(&self) -> &Proposed<'g> {
        &self.proposed
    }
}
