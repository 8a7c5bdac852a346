//! Allow, ask, deny, and what an answer demands.

use std::time::Duration;

use lockgate_contract::ports::Approvers;

use super::*;

const PAYMENTS: &str = r#"
    @id("small") permit (principal, action == Tool::Action::"pay", resource) when { context.input.amount <= 100 };

    @id("large") @approvers("finance:2") @expires("5m") @reason("More than 100.")
    permit (principal, action == Tool::Action::"pay", resource)
    when { context.input.amount > 100 && context has approval };

    @id("never-mallory") @reason("Mallory is not paid.")
    forbid (principal, action == Tool::Action::"pay", resource) when { context.input has to && context.input.to == "mallory" };
"#;

#[test]
fn a_call_is_allowed_asked_for_or_denied() {
    let rules = load(PAYMENTS).unwrap();
    let small = answer(&rules, &pay(), &Subject::default(), r#"{"amount": 100}"#);
    assert_eq!((small.decision, ids(&small)), (PolicyDecision::Allow, vec!["small"]));
    assert_eq!(small.policies.last().unwrap(), &format!("cedar-set:{}", rules.digest()));
    assert_eq!(small.obligations, lockgate_contract::ports::Obligations::default());

    let large = answer(&rules, &pay(), &Subject::default(), r#"{"amount": 101}"#);
    assert_eq!((large.decision, ids(&large)), (PolicyDecision::Ask, vec!["large"])); // R-166
    let demanded = Approvers { roles: vec!["finance".to_owned()], count: 2 };
    assert_eq!(large.obligations.approvers, Some(demanded));
    assert_eq!(large.obligations.expires_in, Some(Duration::from_mins(5)));
    assert_eq!(large.reason, "`pay` with effect external needs a person's approval: More than 100.");

    // Deny wins, whatever anybody would approve.
    for amount in [1, 1000] {
        let verdict =
            answer(&rules, &pay(), &Subject::default(), &format!(r#"{{"amount": {amount}, "to": "mallory"}}"#));
        assert_eq!((verdict.decision, ids(&verdict)), (PolicyDecision::Deny, vec!["never-mallory"]));
        assert_eq!(verdict.reason, "`pay` with effect external is denied: Mallory is not paid.");
    }
    let other = answer(&rules, &look_up(), &Subject::default(), "{}");
    assert_eq!((other.decision, ids(&other)), (PolicyDecision::Deny, vec![]));
    assert_eq!(other.reason, "`look_up` with effect read is denied: no rule permits it");
}

#[test]
fn a_rule_that_forbids_unless_somebody_approved_asks() {
    let rules = load(
        r#"
        permit (principal, action, resource);
        @id("eyes") @approvers("legal")
        forbid (principal, action in Effect::Action::"external", resource) unless { context has approval };
    "#,
    )
    .unwrap();
    let verdict = answer(&rules, &pay(), &Subject::default(), r#"{"amount": 1}"#);
    assert_eq!((verdict.decision, ids(&verdict)), (PolicyDecision::Ask, vec!["eyes", "rules.cedar#1"]));
    assert_eq!(verdict.obligations.approvers.unwrap().roles, ["legal"]);
    assert_eq!(answer(&rules, &look_up(), &Subject::default(), "{}").decision, PolicyDecision::Allow);
}

#[test]
fn what_several_rules_demand_holds_together() {
    let both = |other: &str| {
        let text = format!(
            r#"
            @id("a") @approvers("finance,legal:2") @expires("10m") @reason("A.")
            permit (principal, action, resource) when {{ context has approval }};
            @id("b") {other}
            permit (principal, action, resource) when {{ context has approval }};
        "#
        );
        answer(&load(&text).unwrap(), &look_up(), &Subject::default(), "{}")
    };
    let joined = both(r#"@approvers("legal,board") @expires("1m") @reason("B.")"#).obligations;
    assert_eq!(joined.approvers, Some(Approvers { roles: vec!["legal".to_owned()], count: 2 }));
    assert_eq!((joined.expires_in, joined.because.as_deref()), (Some(Duration::from_mins(1)), Some("A.; B.")));
    assert_eq!(both("").obligations.approvers.unwrap().count, 2);

    let conflict = both(r#"@approvers("board")"#);
    assert_eq!((conflict.decision, ids(&conflict)), (PolicyDecision::Deny, vec!["a", "b"]));
    assert!(
        conflict.reason.ends_with("the rules `a` and `b` demand approvers of different roles"),
        "{}",
        conflict.reason
    );
}

/// Also an error of a rule that would not have mattered.
#[test]
fn a_rule_that_cannot_be_evaluated_denies() {
    let rules = load(
        r#"
        @id("all") permit (principal, action, resource);
        @id("overflows") permit (principal, action == Tool::Action::"pay", resource) when { context.input.amount * 2 > 0 };
    "#,
    )
    .unwrap();
    decisions(&rules, &[(r#"{"amount": 5}"#, PolicyDecision::Allow)]);
    let verdict = answer(&rules, &pay(), &Subject::default(), r#"{"amount": 9223372036854775807}"#);
    assert_eq!((verdict.decision, ids(&verdict)), (PolicyDecision::Deny, vec!["overflows"]));
    assert!(verdict.reason.contains("the rule `overflows` fails: "), "{}", verdict.reason);
}

#[test]
fn a_number_that_rules_cannot_hold_is_never_a_wrong_one() {
    let rules = load(
        r#"
        permit (principal, action, resource);
        forbid (principal, action == Tool::Action::"pay", resource) when { context.input.amount > 100 };
        forbid (principal, action == Tool::Action::"pay", resource)
        when { context.input has rate && context.input.rate.greaterThan(decimal("0.5")) };
    "#,
    )
    .unwrap();
    decisions(
        &rules,
        &[
            (r#"{"amount": 100}"#, PolicyDecision::Allow),
            (r#"{"amount": 1e2}"#, PolicyDecision::Allow),
            (r#"{"amount": 101}"#, PolicyDecision::Deny),
            // In 64 bits it would be 1, and left out it would not be forbidden.
            (r#"{"amount": 18446744073709551617}"#, PolicyDecision::Deny),
            (r#"{"amount": 1, "rate": 0.5}"#, PolicyDecision::Allow),
            (r#"{"amount": 1, "rate": 0.5001}"#, PolicyDecision::Deny),
            (r#"{"amount": 1, "rate": 0.50001}"#, PolicyDecision::Deny),
            (r#"{"amount": 1, "rate": 1e-9}"#, PolicyDecision::Deny),
        ],
    );
    // What no rule looks at does not matter.
    let blind = load("permit (principal, action, resource);").unwrap();
    decisions(&blind, &[(r#"{"amount": 18446744073709551617, "rate": 1e-9}"#, PolicyDecision::Allow)]);
}

#[test]
fn what_a_tool_declares_denied_nothing_allows() {
    let rules = load("permit (principal, action, resource);").unwrap();
    let verdict = answer_with(&rules, &look_up(), &Subject::default(), "{}", Permission::Deny);
    assert_eq!((verdict.decision, ids(&verdict)), (PolicyDecision::Deny, vec!["declared-deny"]));
}

/// R-167: the arguments cannot say who calls.
#[test]
fn who_acts_comes_from_the_runtime() {
    let rules = load(
        r#"
        permit (principal in Role::"finance", action, resource) when { principal.user == "alice" && principal.tenant == "default" };
        permit (principal == Agent::"robot", action == Tool::Action::"look_up", resource == Tool::"look_up@1.0");
    "#,
    )
    .unwrap();
    let pretending = r#"{"amount": 1, "to": "principal", "tags": ["finance", "Role::\"finance\"", "alice"]}"#;
    for (user, roles, expected) in [
        ("alice", ["finance"].as_slice(), PolicyDecision::Allow),
        ("alice", &["support"], PolicyDecision::Deny),
        ("bob", &["finance"], PolicyDecision::Deny),
    ] {
        assert_eq!(answer(&rules, &pay(), &subject(user, roles), pretending).decision, expected, "{user} {roles:?}"); // R-167
    }
    let robot = Subject { agent: "robot".to_owned(), ..Subject::default() };
    assert_eq!(answer(&rules, &look_up(), &robot, "{}").decision, PolicyDecision::Allow);
    assert_eq!(answer(&rules, &pay(), &robot, r#"{"amount": 1}"#).decision, PolicyDecision::Deny);
}

#[test]
fn tenants_and_actions_are_told_apart_at_each_call() {
    let rules = load(
        r#"
        permit (principal, action == Tool::Action::"look_up", resource) when { principal.tenant == "north" };
        permit (principal, action == Tool::Action::"pay", resource) when { principal.tenant == "south" && context.input.amount < 10 };
    "#,
    )
    .unwrap();
    for (tenant, tool, arguments, expected) in [
        ("north", look_up(), "{}", PolicyDecision::Allow),
        ("north", pay(), r#"{"amount": 1}"#, PolicyDecision::Deny),
        ("south", look_up(), "{}", PolicyDecision::Deny),
        ("south", pay(), r#"{"amount": 1}"#, PolicyDecision::Allow),
        ("south", pay(), r#"{"amount": 10}"#, PolicyDecision::Deny),
        ("north", look_up(), "{}", PolicyDecision::Allow),
    ] {
        let subject = Subject { tenant: tenant.to_owned(), ..Subject::default() };
        let verdict = answer(&rules, &tool, &subject, arguments);
        assert_eq!(verdict.decision, expected, "{tenant} {} {arguments}", tool.name()); // R-175
    }
}

#[test]
fn a_tool_that_the_rules_were_not_loaded_for_is_denied() {
    let rules = load("permit (principal, action, resource);").unwrap();
    let changed = tool("look_up").effect(Effect::Read).description("Now something else.").build().unwrap();
    for tool in [changed, tool("unknown").build().unwrap()] {
        let verdict = answer(&rules, &tool, &Subject::default(), "{}");
        assert_eq!(verdict.decision, PolicyDecision::Deny);
        assert!(verdict.reason.contains("loaded for other tools"), "{}", verdict.reason);
    }
}

#[test]
fn rules_may_ask_the_time() {
    let rules = load(
        r#"permit (principal, action, resource)
           when { context.now.toTime() >= duration("9h") && context.now.toTime() < duration("17h") };"#,
    )
    .unwrap();
    let tool = look_up();
    for (now, expected) in [
        ("2026-01-02T08:59:59.999Z", PolicyDecision::Deny),
        ("2026-01-02T09:00:00.000Z", PolicyDecision::Allow),
        ("2026-01-02T17:00:00.000Z", PolicyDecision::Deny),
    ] {
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
        assert_eq!(rules.decide(&request, now.parse().unwrap(), false).decision, expected, "{now}");
    }
}
