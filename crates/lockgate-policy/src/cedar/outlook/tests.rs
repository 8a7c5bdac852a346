//! What is hidden is denied for every call, and what is told is what the rules say.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{Counts, PolicyDecision, PolicyRequest, Visibility};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::{ToolSpec, ToolSpecBuilder};
use proptest::prelude::*;

use crate::cedar::tests::{Noon, tool};
use crate::cedar::{CedarPolicy, Outlook, RuleFile, Rules};

fn pay() -> ToolSpecBuilder {
    let schema = r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
        "amount": {"type": "integer"}, "rate": {"type": "number"}, "to": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}}"#;
    tool("pay").input_schema_text(schema).permission(Permission::Ask)
}

fn load(spec: &ToolSpec, text: &str) -> Rules {
    let native = RuleFile { name: "native.cedar".to_owned(), text: text.to_owned() };
    Rules::load([spec], &[native]).unwrap()
}

fn billing() -> Subject {
    Subject { scopes: ["billing".to_owned()].into(), ..Subject::default() }
}

fn outlook(text: &str) -> Outlook {
    let spec = pay().build().unwrap();
    load(&spec, text).outlook(&billing(), &spec)
}

const SMALL: &str =
    r#"@id("small") permit (principal in Role::"billing", action, resource) when { context.input.amount <= 100 };"#;

#[test]
fn what_no_call_gets_is_denied() {
    for text in [
        "",
        r#"permit (principal in Role::"support", action, resource);"#,
        r#"permit (principal, action in Effect::Action::"read", resource);"#,
        r#"permit (principal, action, resource); forbid (principal, action == Tool::Action::"pay", resource);"#,
        r#"permit (principal, action, resource); forbid (principal, action, resource) when { principal.user == "local" };"#,
        r#"permit (principal, action, resource) when { resource.version == "2.0" };"#,
        r#"permit (principal, action, resource) when { context.permission == "allow" };"#,
        "permit (principal, action, resource) when { context.shadow };",
        r#"permit (principal, action, resource) when { context has approval && principal.level == "read" };"#,
    ] {
        let outlook = outlook(text);
        assert!(outlook.is_denied(), "{text}: {:?}", outlook.words());
    }
}

#[test]
fn what_is_left_is_told() {
    let told: Vec<_> = [
        "permit (principal, action, resource);",
        "permit (principal, action, resource) when { context has approval };",
        r#"permit (principal, action, resource) when { context.permission == "ask" && context has approval && context.approval.uses_left > 0 };"#,
        SMALL,
        r#"permit (principal, action, resource); @id("ask") forbid (principal, action, resource) when { context.input.amount > 5 } unless { context has approval };"#,
        r#"permit (principal, action, resource); @id("cash") forbid (principal, action, resource) when { context.input has to && context.input.to == "cash" };"#,
        r#"@id("noon") permit (principal, action, resource) when { context.now < datetime("2027-01-01") && principal.user == "local" };"#,
    ]
    .map(outlook)
    .iter()
    .map(|outlook| outlook.words().join("\n"))
    .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_declared_denial_hides_and_a_harmless_call_does_not() {
    let text = r#"permit (principal, action, resource) when { context.permission == "allow" };"#;
    let denied = pay().permission(Permission::Deny).build().unwrap();
    assert!(load(&denied, "permit (principal, action, resource);").outlook(&billing(), &denied).is_denied());
    let spec = pay().build().unwrap();
    assert!(load(&spec, text).outlook(&billing(), &spec).is_denied());
    let harmless = pay().harmless_when(|_| true).build().unwrap();
    let outlook = load(&harmless, text).outlook(&billing(), &harmless);
    assert!(!outlook.is_denied());
    assert_eq!(outlook.words(), ["denied", "where the tool proves it harmless, allowed"]);
}

#[test]
fn what_applies_so_often_only_is_not_allowed_for_good() {
    let often = |more: &str, uses: u32| {
        let pay = r#"permit (principal, action == Tool::Action::"pay", resource)"#;
        format!(r#"@id("often") @uses("{uses}") @since("2026-01-02T11:00:00.000Z") {pay}; {more}"#)
    };
    assert_eq!(outlook(&often("", 20)).words(), ["often: allowed for 20 calls since 2026-01-02T11:00:00.000Z"]);
    let asked = often(r#"@id("ask") permit (principal, action, resource) when { context has approval };"#, 1);
    assert_eq!(
        outlook(&asked).words(),
        ["often: allowed for 1 call since 2026-01-02T11:00:00.000Z", "ask: needs approval"]
    );
    // Somebody else's is no matter of this subject, and what is forbidden stays so.
    let other = often("", 20).replace("(principal,", "(principal == Agent::\"another\",");
    assert!(outlook(&other).is_denied());
    assert!(outlook(&often("forbid (principal, action, resource);", 20)).is_denied());
}

#[test]
fn what_is_unclear_is_shown() {
    let spec = pay().build().unwrap();
    let rules = load(&spec, "");
    let other = pay().version("2.0").build().unwrap();
    assert!(!rules.outlook(&billing(), &other).is_denied());
    let nobody = Subject { agent: "\0".to_owned(), ..billing() };
    let _ = rules.outlook(&nobody, &spec);
}

#[test]
fn rules_in_the_shadow_hide_nothing() {
    let spec = pay().build().unwrap();
    let acts = CedarPolicy::new(load(&spec, ""), Arc::new(Noon));
    assert!(!acts.sees(&billing(), &spec)); // R-139
    assert!(CedarPolicy::new(load(&spec, ""), Arc::new(Noon)).in_shadow().sees(&billing(), &spec));
}

/// Scopes and conditions that are put together at random.
fn rule() -> impl Strategy<Value = String> {
    let condition = prop::sample::select(vec![
        "true",
        "context.input.amount <= 100",
        "context.input.amount + 9223372036854775807 > 0",
        "context.input has to && context.input.to == \"cash\"",
        "context.input has tags && context.input.tags.contains(\"a\")",
        "context.input has rate && context.input.rate.lessThan(decimal(\"0.5\"))",
        "context has approval",
        "!(context has approval)",
        "context has approval && context.approval.expires_at > context.now",
        "context.permission == \"ask\"",
        "context.permission == \"allow\"",
        "context.shadow",
        "context.step > 2",
        "principal.user == \"local\"",
        "principal.user == \"mallory\"",
        "resource.permission == \"ask\"",
        "context.now > datetime(\"2026-06-01\")",
        "context.arguments_digest like \"sha256:0*\"",
    ]);
    let scope = prop::sample::select(vec![
        "principal, action, resource",
        "principal in Role::\"billing\", action, resource",
        "principal in Role::\"support\", action, resource",
        "principal, action == Tool::Action::\"pay\", resource",
        "principal, action in Effect::Action::\"external\", resource",
        "principal, action in Effect::Action::\"read\", resource",
    ]);
    let kind = prop::sample::select(vec!["permit", "permit", "forbid"]);
    let word = prop::sample::select(vec!["when", "when", "unless"]);
    (kind, scope, prop::collection::vec((word, condition), 0..3)).prop_map(|(kind, scope, conditions)| {
        let conditions: Vec<_> = conditions.iter().map(|(word, text)| format!("{word} {{ {text} }}")).collect();
        format!("{kind} ({scope}) {};\n", conditions.join(" "))
    })
}

fn arguments() -> impl Strategy<Value = String> {
    let to = prop::sample::select(vec!["", r#", "to": "cash""#, r#", "to": "bank""#]);
    let tags = prop::sample::select(vec!["", r#", "tags": ["a"]"#, r#", "tags": []"#]);
    let rate = prop::sample::select(vec!["", r#", "rate": 0.25"#, r#", "rate": 0.123456"#]);
    let amount = prop_oneof![Just("0".to_owned()), any::<i64>().prop_map(|it| it.to_string()), Just("1e30".to_owned())];
    (amount, to, tags, rate).prop_map(|(amount, to, tags, rate)| format!("{{\"amount\": {amount}{to}{tags}{rate}}}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the rules are: of a tool that is hidden, no call is anything but denied.
    #[test]
    fn what_is_hidden_is_denied_for_every_call(
        rules in prop::collection::vec(rule(), 0..5),
        calls in prop::collection::vec((arguments(), 0u32..5, 1_750_000_000_000i64..1_800_000_000_000, any::<bool>()), 1..12),
        is_billing in any::<bool>(),
        is_harmless in any::<bool>(),
    ) {
        let spec = if is_harmless { pay().harmless_when(|_| true) } else { pay() }.build().unwrap();
        let file = RuleFile { name: "rules.cedar".to_owned(), text: rules.concat() };
        // A rule that forbids and can never apply does not load.
        let Ok(rules) = Rules::load([&spec], &[file]) else { return Ok(()) };
        let subject = if is_billing { billing() } else { Subject::default() };
        let decide = |rules: &Rules, (text, step, now, relaxed): &(String, u32, i64, bool)| {
            let arguments = Arguments::parse(text, Limits::ARGUMENTS).unwrap();
            let arguments_digest = arguments.digest();
            let permission = if is_harmless && *relaxed { Permission::Allow } else { Permission::Ask };
            let request = PolicyRequest {
                subject: &subject,
                tool: &spec,
                arguments: &arguments,
                arguments_digest,
                permission,
                step: *step,
                run: RunFacts::default(),
                counts: &Counts::unknown(),
            };
            rules.decide(&request, Timestamp::from_millis(*now), false)
        };
        let before: Vec<_> = calls.iter().map(|call| decide(&rules, call)).collect();
        let outlook = rules.outlook(&subject, &spec);
        let after: Vec<_> = calls.iter().map(|call| decide(&rules, call)).collect();
        // Looking ahead changes no answer.
        prop_assert_eq!(&before, &after);
        for verdict in before {
            if outlook.is_denied() {
                prop_assert_eq!(verdict.decision, PolicyDecision::Deny);
            }
            if outlook.words() == ["allowed"] {
                // But for numbers that rules cannot hold, and sums beyond them.
                prop_assert!(verdict.decision == PolicyDecision::Allow || verdict.reason.contains("look at the argument") || verdict.reason.contains("fails"), "{}", verdict.reason);
            }
        }
    }
}

#[test]
fn an_effect_is_seen_by_its_group() {
    let spec = tool("look_up").effect(Effect::Read).build().unwrap();
    let rules = load(&spec, r#"permit (principal, action in Effect::Action::"read", resource);"#);
    assert_eq!(rules.outlook(&billing(), &spec).words(), ["allowed"]);
}
