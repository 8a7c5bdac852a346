use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::Effect;
use lockgate_contract::ports::Counts;
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;

use super::*;

fn decision(policy: &NativePolicy, permission: Permission) -> PolicyDecision {
    let tool = ToolSpec::builder("pay").effect(Effect::External).build().unwrap();
    let arguments = Arguments::parse("{}", Limits::ARGUMENTS).unwrap();
    let counts = Counts::unknown();
    let verdict = policy.verdict(PolicyRequest {
        subject: &Subject::default(),
        tool: &tool,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission,
        step: 0,
        run: RunFacts::default(),
        counts: &counts,
    });
    assert!(!verdict.policies.is_empty());
    verdict.decision
}

#[test]
fn the_effective_permission_decides() {
    let policy = NativePolicy::new();
    assert_eq!(decision(&policy, Permission::Allow), PolicyDecision::Allow);
    assert_eq!(decision(&policy, Permission::Ask), PolicyDecision::Ask);
    assert_eq!(decision(&policy, Permission::Deny), PolicyDecision::Deny);
}

#[test]
fn asking_always_never_lifts_a_denial() {
    let policy = NativePolicy::new().ask_always();
    assert_eq!(decision(&policy, Permission::Allow), PolicyDecision::Ask);
    assert_eq!(decision(&policy, Permission::Deny), PolicyDecision::Deny);
}
