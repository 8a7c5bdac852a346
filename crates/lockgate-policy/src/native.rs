//! The built-in default: the effective permission decides.

use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{BoxFuture, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict};

/// Allows what is declared `allow`, asks for what is declared `ask`, denies what is declared `deny`.
///
/// A tool that declares nothing is asked for unless it only reads. An operator may have a person asked for everything:
/// that can never widen what a tool declares.
#[derive(Debug, Clone, Default)]
pub struct NativePolicy {
    ask_always: bool,
}

impl NativePolicy {
    /// The declared permissions, as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks a person for every call that is not denied.
    #[must_use]
    pub fn ask_always(mut self) -> Self {
        self.ask_always = true;
        self
    }

    fn verdict(&self, request: PolicyRequest<'_>) -> PolicyVerdict {
        let (decision, policy, why) = match (request.permission, self.ask_always) {
            (Permission::Deny, _) => (PolicyDecision::Deny, "native:declared-deny", "is denied"),
            (Permission::Ask, _) => (PolicyDecision::Ask, "native:declared-ask", "needs a person's approval"),
            (Permission::Allow, true) => (PolicyDecision::Ask, "native:ask-always", "is asked for like every call"),
            (Permission::Allow, false) => (PolicyDecision::Allow, "native:declared-allow", "is allowed"),
        };
        let tool = request.tool;
        let [colon, declared] = tool.permission_reason().map_or(["", ""], |reason| [": ", reason]);
        let reason = ["`", tool.name(), "` with effect ", tool.effect().word(), " ", why, colon, declared].concat();
        PolicyVerdict::new(decision, vec![policy.to_owned()], reason)
    }
}

impl PolicyEngine for NativePolicy {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let verdict = self.verdict(request);
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

#[cfg(test)]
mod tests;
