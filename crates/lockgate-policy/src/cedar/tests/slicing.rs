//! A slice answers as the whole set does.

use proptest::prelude::*;

use super::*;

const PRINCIPALS: [&str; 6] = [
    "principal",
    "principal == Agent::\"agent\"",
    "principal == Agent::\"robot\"",
    "principal in Role::\"a\"",
    "principal in Role::\"b\"",
    "principal is Agent in Role::\"a\"",
];
const ACTIONS: [&str; 6] = [
    "action",
    "action == Tool::Action::\"pay\"",
    "action == Tool::Action::\"look_up\"",
    "action in Effect::Action::\"read\"",
    "action in [Effect::Action::\"external\", Effect::Action::\"write\"]",
    "action in [Tool::Action::\"pay\", Tool::Action::\"look_up\"]",
];
const RESOURCES: [&str; 5] = [
    "resource",
    "resource == Tool::\"pay@1.0\"",
    "resource == Tool::\"pay@2.0\"",
    "resource is Tool",
    "resource in Tool::\"look_up@1.0\"",
];
/// Those that read the arguments of `pay` stand behind its action.
const CONDITIONS: [&str; 9] = [
    "",
    "when { context.permission == \"allow\" }",
    "when { context has approval }",
    "unless { context has approval && context.approval.expires_at > context.now }",
    "when { context has approval && context.approval.uses_left > 0 }",
    "when { principal.user == \"alice\" }",
    "when { resource.effect == \"read\" }",
    "when { context.step > 0 }",
    "when { resource.completes_run || principal.scopes.contains(\"b\") }",
];
const OF_PAY: [&str; 4] = [
    "when { context.input.amount > 10 }",
    "when { context.input.amount * 9223372036854775807 > 0 }",
    "when { context.input has to && context.input.to like \"a*\" }",
    "unless { context has approval && context.input.amount < 1000 }",
];

fn rules() -> impl Strategy<Value = String> {
    let scope = (0..PRINCIPALS.len(), 0..ACTIONS.len(), 0..RESOURCES.len());
    let rule = (any::<bool>(), scope, 0..CONDITIONS.len() + OF_PAY.len()).prop_map(|(permits, (p, a, r), c)| {
        let effect = if permits { "permit" } else { "forbid" };
        let (action, condition) = match CONDITIONS.get(c) {
            Some(condition) => (ACTIONS[a], condition),
            None => (ACTIONS[1], &OF_PAY[c - CONDITIONS.len()]),
        };
        format!("{effect} ({}, {action}, {}) {condition};\n", PRINCIPALS[p], RESOURCES[r])
    });
    prop::collection::vec(rule, 0..12).prop_map(|rules| rules.concat())
}

prop_compose! {
    fn calls()(
        user in prop::sample::select(vec!["alice", "bob"]),
        agent in prop::sample::select(vec!["agent", "robot"]),
        roles in prop::sample::subsequence(vec!["a", "b"], 0..=2),
        amount in prop::sample::select(vec!["1", "11", "1001", "-3", "18446744073709551617"]),
        to in prop::sample::select(vec!["", ", \"to\": \"alice\"", ", \"to\": \"bob\""]),
        permission in prop::sample::select(Permission::ALL),
    ) -> (Subject, String, Permission) {
        let subject = Subject { agent: agent.to_owned(), ..subject(user, &roles) };
        (subject, format!("{{\"amount\": {amount}{to}}}"), permission)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn sliced_is_whole(text in rules(), calls in prop::collection::vec(calls(), 8)) {
        let sliced = load(&text).unwrap();
        let whole = sliced.unsliced();
        for (subject, arguments, permission) in &calls {
            for (tool, arguments) in [(pay(), arguments.as_str()), (look_up(), "{}")] {
                let expected = answer_with(&whole, &tool, subject, arguments, *permission);
                for _ in 0..2 {
                    prop_assert_eq!(&answer_with(&sliced, &tool, subject, arguments, *permission), &expected, "{}", text);
                }
            }
        }
    }
}

#[test]
fn a_slice_holds_what_can_matter() {
    let rules = load(
        r#"
        permit (principal, action == Tool::Action::"pay", resource);
        permit (principal, action in Effect::Action::"read", resource);
        permit (principal, action, resource == Tool::"look_up@2.0");
        permit (principal, action, resource);
    "#,
    )
    .unwrap();
    // The floor is 0.
    assert_eq!(rules.slices["pay"].rules, [0, 1, 4]);
    assert_eq!(rules.slices["look_up"].rules, [0, 2, 4]);
}

/// More subjects than stay prepared: each gets its own answer, again and again.
#[test]
fn subjects_are_not_mixed_up() {
    let rules = load("permit (principal, action, resource) when { principal.user == \"user-7\" };").unwrap();
    for _ in 0..2 {
        for number in 0..100 {
            let verdict = answer(&rules, &look_up(), &subject(&format!("user-{number}"), &[]), "{}");
            assert_eq!(verdict.decision == PolicyDecision::Allow, number == 7, "{number}");
        }
    }
}
