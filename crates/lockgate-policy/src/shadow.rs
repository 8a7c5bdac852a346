//! Shadow: rules that are tried beside those in force.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockgate_contract::ports::{BoxFuture, PolicyEngine, PolicyRequest, PolicyVerdict};

use crate::cedar::CedarPolicy;

/// One engine acts, Cedar rules decide beside it and are only written down.
///
/// What they would have answered stands behind the other policies of the verdict: `shadow:deny:cedar:large-payments`, and last
/// `shadow:deny:cedar-set:sha256:…`. Nothing else of the verdict is touched, whatever happens in them.
#[derive(Debug)]
pub struct ShadowedPolicy<E> {
    acting: E,
    shadow: Arc<CedarPolicy>,
}

impl<E: PolicyEngine> ShadowedPolicy<E> {
    /// The engine that acts, and the rules that are tried.
    pub fn new(acting: E, shadow: Arc<CedarPolicy>) -> Self {
        Self { acting, shadow }
    }

    fn beside(&self, request: &PolicyRequest<'_>) -> Vec<String> {
        let Ok(verdict) = catch_unwind(AssertUnwindSafe(|| self.shadow.verdict(request))) else {
            return vec!["shadow:failed".to_owned()];
        };
        let word = verdict.decision.word();
        verdict.policies.iter().map(|policy| format!("shadow:{word}:{policy}")).collect()
    }
}

impl<E: PolicyEngine> PolicyEngine for ShadowedPolicy<E> {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        Box::pin(async move {
            let mut verdict = self.acting.decide(request).await?;
            verdict.policies.extend(self.beside(&request));
            Ok(verdict)
        })
    }
}

#[cfg(test)]
mod tests;
