//! A policy that answers what the test says, and counts the questions.

use std::sync::Arc;

use lockgate_contract::ports::{BoxFuture, Count, Per, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict};
use lockgate_policy::NativePolicy;

use super::{Counters, add};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// What the real policy says.
    Native,
    Is(PolicyDecision),
    /// It allows as long as fewer calls of the tenant were admitted; and then?
    Fewer(u64, PolicyDecision),
    /// It fails.
    Error,
    /// It panics before it has a future.
    Panic,
    /// It panics while it decides.
    PanicLater,
    /// It never answers.
    Never,
}

pub(crate) struct ScriptedPolicy {
    answer: Answer,
    counters: Arc<Counters>,
    native: NativePolicy,
}

impl ScriptedPolicy {
    pub(crate) fn new(answer: Answer, counters: Arc<Counters>) -> Self {
        Self { answer, counters, native: NativePolicy::new() }
    }
}

/// What [`Answer::Fewer`] counts.
fn all_of_the_tenant() -> Count {
    Count { name: "calls".to_owned(), tool: None, effect: None, per: Per::Tenant, within: None, from: None }
}

impl PolicyEngine for ScriptedPolicy {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        add(&self.counters.policy);
        match self.answer {
            Answer::Native => self.native.decide(request),
            Answer::Is(decision) => {
                let policies = vec!["test:scripted".to_owned()];
                Box::pin(std::future::ready(Ok(PolicyVerdict::new(decision, policies, "the test says so"))))
            }
            Answer::Fewer(most, then) => Box::pin(async move {
                let all = [all_of_the_tenant()];
                request.counts.read(&all).await?;
                let admitted = request.counts.get(&all[0]).unwrap();
                let decision = if admitted < most { PolicyDecision::Allow } else { then };
                Ok(PolicyVerdict::new(decision, vec![format!("test:after-{admitted}")], "the test counts"))
            }),
            Answer::Error => Box::pin(std::future::ready(Err("rule 7 cannot be read".to_owned()))),
            Answer::Panic => panic!("the policy broke"),
            Answer::PanicLater => Box::pin(async { panic!("the policy broke later") }),
            Answer::Never => Box::pin(std::future::pending()),
        }
    }
}
