//! Shadow: an engine that is tried beside the one in force.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use lockgate_contract::ports::{BoxFuture, PolicyEngine, PolicyRequest, PolicyVerdict};

/// One engine acts, another one decides beside it and is only written down.
///
/// What it would have answered stands behind the other policies of the verdict: `shadow:deny:cedar:large-payments`, and last
/// `shadow:deny:cedar-set:sha256:…`. Nothing else of the verdict is touched, whatever happens in it: an engine that fails, panics or
/// gives no answer in time leaves `shadow:failed`.
#[derive(Debug)]
pub struct ShadowedPolicy<E, S> {
    acting: E,
    shadow: Arc<S>,
    timeout: Duration,
}

impl<E: PolicyEngine, S: PolicyEngine> ShadowedPolicy<E, S> {
    /// The engine that acts, and the one that is tried. Both are asked at once; the answer of the one that acts waits for the
    /// other's no longer than `timeout`, which has to be shorter than the gate's own patience (`call_timeout`).
    pub fn new(acting: E, shadow: Arc<S>, timeout: Duration) -> Self {
        Self { acting, shadow, timeout }
    }

    async fn beside(&self, request: PolicyRequest<'_>) -> Vec<String> {
        let answer = tokio::select! {
            biased;
            answer = AssertUnwindSafe(async { self.shadow.decide(request).await }).catch_unwind() => answer.ok(),
            // Made when it is first waited for: an answer that is there at once needs no timer.
            () = async { tokio::time::sleep(self.timeout).await } => None,
        };
        let Some(Ok(verdict)) = answer else { return vec!["shadow:failed".to_owned()] };
        let word = verdict.decision.word();
        verdict.policies.iter().map(|policy| format!("shadow:{word}:{policy}")).collect()
    }
}

impl<E: PolicyEngine, S: PolicyEngine> PolicyEngine for ShadowedPolicy<E, S> {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        Box::pin(async move {
            let (verdict, beside) = tokio::join!(self.acting.decide(request), self.beside(request));
            let mut verdict = verdict?;
            verdict.policies.extend(beside);
            Ok(verdict)
        })
    }
}

#[cfg(test)]
#[cfg(feature = "cedar")]
mod tests;
