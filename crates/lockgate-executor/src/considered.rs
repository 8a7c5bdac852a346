//! A call as the policy would be asked about it, for whoever asks why: nothing is looked up in a run, asked, recorded or run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Counts, PolicyRequest};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;
use lockgate_registry::RegisteredTool;

use crate::gate::Gate;
use crate::trail::panic_text;

/// What a policy would be asked.
#[derive(Debug, Clone)]
pub struct Considered {
    /// The tool as it is registered now.
    pub tool: Arc<RegisteredTool>,
    /// The arguments as they would run.
    pub arguments: Arguments,
    /// Their digest.
    pub arguments_digest: Digest,
    /// The declared permission, relaxed if the tool proves the call harmless.
    pub permission: Permission,
}

impl Gate {
    /// Reads the arguments of a call of a registered tool as a call would have them read. It does not matter who may see the
    /// tool: whether a call passes is for [`Gate::call`] to say, which asks all over again.
    ///
    /// # Errors
    ///
    /// Why the policy would not be asked: the text is no JSON object, the schema refuses it, or the tool's own check does or
    /// panics.
    pub fn consider(&self, tool: Arc<RegisteredTool>, arguments_text: &str) -> Result<Considered, String> {
        let limits = Limits { max_bytes: self.options.max_argument_bytes, ..Limits::ARGUMENTS };
        let arguments = Arguments::parse(arguments_text, limits).map_err(|error| error.to_string())?;
        tool.input().validate(arguments.document()).map_err(|violations| violations.to_string())?;
        let own = || {
            if let Some(check) = tool.spec().pre_check() {
                check(&arguments).map_err(|sentence| format!("the tool's own check: {sentence}"))?;
            }
            Ok(effective_permission(tool.spec(), &arguments))
        };
        let permission = catch_unwind(AssertUnwindSafe(own))
            .unwrap_or_else(|panic| Err(format!("the tool's own check panicked: {}", panic_text(panic))))?;
        Ok(Considered { arguments_digest: arguments.digest(), tool, arguments, permission })
    }
}

impl Considered {
    /// The policy's question, on behalf of this subject in this model turn of such a run.
    pub fn request<'a>(
        &'a self,
        subject: &'a Subject,
        step: u32,
        run: RunFacts,
        counts: &'a Counts<'a>,
    ) -> PolicyRequest<'a> {
        PolicyRequest {
            subject,
            tool: self.tool.spec(),
            arguments: &self.arguments,
            arguments_digest: self.arguments_digest,
            permission: self.permission,
            step,
            run,
            counts,
        }
    }
}

/// The declared permission, relaxed where the tool proves the call harmless: never tightened, and never past a denial
///
pub(crate) fn effective_permission(spec: &ToolSpec, arguments: &Arguments) -> Permission {
    match (spec.permission(), spec.harmless_when()) {
        (Permission::Ask, Some(harmless)) if harmless(arguments) => Permission::Allow,
        (declared, _) => declared,
    }
}
