use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{Clock, Counts, PolicyDecision};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;

use super::*;
use crate::NativePolicy;
use crate::cedar::{CedarPolicy, RuleFile, Rules};

struct Never;

impl Clock for Never {
    fn now(&self) -> Timestamp {
        panic!("nobody knows")
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

async fn beside(text: &str, clock: Arc<dyn Clock>) -> PolicyVerdict {
    let tool = ToolSpec::builder("look_up").effect(Effect::Read).build().unwrap();
    let file = RuleFile { name: "x.cedar".to_owned(), text: text.to_owned() };
    let rules = Rules::load([&tool], &[file]).unwrap();
    let shadow = Arc::new(CedarPolicy::new(rules, clock).in_shadow());
    let policy = ShadowedPolicy::new(NativePolicy::new(), shadow, Duration::from_secs(20));
    let arguments = Arguments::empty();
    let counts = Counts::unknown();
    let request = PolicyRequest {
        subject: &Subject::default(),
        tool: &tool,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission: Permission::Allow,
        step: 0,
        run: RunFacts::default(),
        counts: &counts,
    };
    policy.decide(request).await.unwrap()
}

#[tokio::test]
async fn what_the_shadow_answers_is_written_down_and_nothing_else() {
    let verdict =
        beside("@id(\"no\") forbid (principal, action, resource) when { context.shadow };", Arc::new(Epoch)).await;
    assert_eq!(verdict.decision, PolicyDecision::Allow);
    assert_eq!(verdict.policies[..2], ["native:declared-allow", "shadow:deny:cedar:no"]);
    assert!(verdict.policies[2].starts_with("shadow:deny:cedar-set:sha256:"), "{:?}", verdict.policies);
    assert_eq!(verdict.reason, "`look_up` with effect read is allowed");
    assert_eq!(verdict.obligations, lockgate_contract::ports::Obligations::default());
}

#[tokio::test]
async fn a_shadow_that_fails_does_not_act_either() {
    let verdict = beside("permit (principal, action, resource);", Arc::new(Never)).await;
    assert_eq!(verdict.decision, PolicyDecision::Allow);
    assert_eq!(verdict.policies, ["native:declared-allow", "shadow:failed"]);
}
