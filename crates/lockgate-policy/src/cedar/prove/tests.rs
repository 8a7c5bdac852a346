//! What is proved of rules, and that what refutes them is so. They need the solver: `cargo xtask test` installs it.

use std::fmt::Write as _;

use super::*;
use crate::cedar::tests::{file, look_up, pay, tool};
use crate::cedar::{RuleFile, SHIPPED};
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::Per;
use lockgate_contract::tool::ToolSpec;

const PAYMENTS: &str = r#"
    @id("look") permit (principal, action in Effect::Action::"read", resource);
    @id("pay") permit (principal in Role::"billing", action == Tool::Action::"pay", resource)
    when { context has approval && context.input.amount <= 1000 };
"#;

fn shipped(names: &[&str]) -> Vec<RuleFile> {
    let shipped = names.iter().map(|wanted| SHIPPED.iter().find(|(name, _)| name == wanted).unwrap());
    shipped.map(|(name, text)| RuleFile { name: (*name).to_owned(), text: (*text).to_owned() }).collect()
}

fn prove_with(prover: &Prover, rules: &Rules, before: Option<&Rules>) -> Vec<Proof> {
    prover.prove(rules, before).unwrap()
}

fn prove(rules: &Rules, before: Option<&Rules>) -> Vec<Proof> {
    let prover = Prover::find().expect("`cargo xtask test` installs cvc5");
    prove_with(&prover, rules, before)
}

fn of(proofs: &[Proof], property: Property) -> &Proof {
    proofs.iter().find(|proof| proof.property == property).unwrap()
}

fn standings(proofs: &[Proof]) -> Vec<(&'static str, Standing)> {
    proofs.iter().map(|proof| (proof.property.word(), proof.standing())).collect()
}

/// The one call that refutes a property: its example, which these rules are loaded with, and so is true of them.
fn refuting<'p>(proofs: &'p [Proof], property: Property, tools: &[ToolSpec], rules: &str) -> &'p Counterexample {
    let proof = of(proofs, property);
    let [counterexample] = proof.refuted.as_slice() else { panic!("{proof:#?}") };
    let example = counterexample.example.as_deref().unwrap();
    let loaded = Rules::load(tools, &[file(&format!("// expect: {example}\n{rules}"))]).unwrap();
    assert_eq!(loaded.examples(), rules.matches("// expect:").count() + 1);
    counterexample
}

fn every_kind() -> Vec<ToolSpec> {
    let mut tools = Vec::new();
    for effect in Effect::ALL {
        for permission in Permission::ALL {
            let kind =
                tool(&format!("{}_{}", effect.word(), permission.word())).effect(*effect).permission(*permission);
            tools.push(kind.build().unwrap());
        }
    }
    tools.push(tool("relaxed").permission(Permission::Ask).harmless_when(|_| true).build().unwrap());
    tools
}

#[test]
fn the_default_set_is_proved() {
    for names in [["lockgate:native"].as_slice(), &["lockgate:native", "lockgate:ask-always"]] {
        let rules = Rules::load(&every_kind(), &shipped(names)).unwrap();
        let proofs = prove(&rules, None);
        for proof in &proofs {
            assert_eq!(proof.standing(), Standing::Proved, "{proof:#?}"); // R-173
        }
        let [fails, asks, reachable] = proofs.as_slice() else { panic!("{proofs:#?}") };
        assert_eq!(fails.tools.len(), 10);
        assert_eq!(asks.tools, ["external_ask", "relaxed"]);
        assert_eq!((reachable.tools.len(), reachable.set_apart.len()), (7, 3));
    }
}

/// What it is meant to be, written another way: as wide as each other, they are equal.
#[test]
fn the_default_set_is_what_it_is_meant_to_be() {
    let meant = r#"
        forbid (principal, action, resource) when { context.permission == "deny" };
        permit (principal, action, resource) when { !(["ask", "deny"].contains(context.permission)) || context has approval };
    "#;
    let tools: Vec<_> = every_kind().into_iter().filter(|tool| tool.effect() == Effect::External).collect();
    let native = Rules::load(&tools, &shipped(&["lockgate:native"])).unwrap();
    let meant = native.reload(&[file(meant)]).unwrap();
    for (one, other) in [(&native, &meant), (&meant, &native)] {
        let proofs = prove(one, Some(other));
        assert_eq!(of(&proofs, Property::NoWider).standing(), Standing::Proved, "{proofs:#?}");
    }
    let asking = native.reload(&shipped(&["lockgate:native", "lockgate:ask-always"])).unwrap();
    assert_eq!(of(&prove(&asking, Some(&native)), Property::NoWider).standing(), Standing::Proved);
    let wider = prove(&native, Some(&asking));
    let wider: Vec<_> = of(&wider, Property::NoWider).refuted.iter().map(|found| found.tool.as_str()).collect();
    assert_eq!(wider, ["external_allow", "relaxed"]);
}

#[test]
fn an_administrator_who_needs_no_approval_is_found() {
    let bypass = format!("{PAYMENTS} @id(\"admins\") permit (principal in Role::\"admin\", action, resource);");
    let tools = [pay(), look_up()];
    let rules = Rules::load(&tools, &[file(&bypass)]).unwrap();
    let proofs = prove(&rules, None);
    let found = refuting(&proofs, Property::ExternalAsks, &tools, &bypass);
    assert_eq!(found.rules, ["admins"]);
    assert_eq!(found.example.as_deref(), Some(r#"allow {"tool": "pay", "input": {"amount": 0}, "roles": ["admin"]}"#));
    // Nobody has to be asked about a tool of which that was said.
    let excepted = Prover::find().unwrap().with_exceptions(["pay".to_owned()]);
    let proofs = prove_with(&excepted, &rules, None);
    assert_eq!(of(&proofs, Property::ExternalAsks).standing(), Standing::Proved);
    assert_eq!(of(&proofs, Property::ExternalAsks).set_apart[1].0, "pay");
    // And against the rules without it.
    let before = rules.reload(&[file(PAYMENTS)]).unwrap();
    let proofs = prove(&rules, Some(&before));
    let found = &of(&proofs, Property::NoWider).refuted[0];
    assert_eq!(
        (found.tool.as_str(), &found.rules, found.before),
        ("pay", &vec!["admins".to_owned()], Some(PolicyDecision::Deny))
    );
    assert_eq!(prove(&before, Some(&rules)).last().unwrap().standing(), Standing::Proved);
}

#[test]
fn a_permission_whose_end_was_forgotten_is_found() {
    let remembered = |until: &str| {
        format!(
            r#"{PAYMENTS}
            @id("remembered-7") permit (principal, action == Tool::Action::"pay", resource)
            when {{ principal.user == "ann" && context.input.to == "bakery" && {until} context.input.amount <= 50 }};"#
        )
        .replace("context.input.to ==", "context.input has to && context.input.to ==")
    };
    let (forgotten, timed) = (remembered(""), remembered(r#"context.now < datetime("2026-12-31") &&"#));
    let tools = [pay(), look_up()];
    let rules = Rules::load(&tools, &[file(&forgotten)]).unwrap();
    let before = rules.reload(&[file(&timed)]).unwrap();
    let proofs = prove(&rules, Some(&before));
    let found = refuting(&proofs, Property::NoWider, &tools, &forgotten);
    assert_eq!(
        (found.rules.as_slice(), found.before),
        (["remembered-7".to_owned()].as_slice(), Some(PolicyDecision::Deny))
    );
    let example = found.example.as_deref().unwrap();
    assert!(example.contains(r#""user": "ann""#) && example.contains("\"now\": "), "{example}");
    // It is denied where the end was not forgotten.
    let denied = example.replacen("allow", "deny", 1);
    Rules::load(&tools, &[file(&format!("// expect: {denied}\n{timed}"))]).unwrap();
    assert_eq!(prove(&before, Some(&rules)).last().unwrap().standing(), Standing::Proved);
}

#[test]
fn a_tool_that_no_call_reaches_is_found() {
    let rules = Rules::load(
        &[pay(), look_up()],
        &[file(
            r#"permit (principal, action, resource) when { context has approval };
               forbid (principal, action == Tool::Action::"pay", resource) when { context.input.amount > 0 };
               forbid (principal, action == Tool::Action::"pay", resource) when { context.input.amount < 1 };"#,
        )],
    )
    .unwrap();
    let proofs = prove(&rules, None);
    let [found] = of(&proofs, Property::Reachable).refuted.as_slice() else { panic!("{proofs:#?}") };
    assert_eq!((found.tool.as_str(), &found.example), ("pay", &None));
    assert_eq!(found.reason, "no call of `pay` is allowed or asked about");
}

#[test]
fn a_rule_that_can_fail_is_found() {
    let rules = r#"
        permit (principal, action, resource) when { context has approval };
        @id("twice") forbid (principal, action == Tool::Action::"pay", resource) when { context.input.amount * 2 > 100 };
    "#;
    let tools = [pay(), look_up()];
    let loaded = Rules::load(&tools, &[file(rules)]).unwrap();
    let proofs = prove(&loaded, None);
    let found = refuting(&proofs, Property::NeverFails, &tools, rules);
    assert!(found.example.as_deref().unwrap().starts_with(r#"deny {"tool": "pay", "input": {"amount": "#));
    assert!(found.reason.contains("the rule `twice` fails"), "{}", found.reason);
    // Where it fails it denies, which a formula does not know.
    let narrower =
        loaded.reload(&[file("permit (principal, action, resource) when { context has approval };")]).unwrap();
    let proofs = prove(&narrower, Some(&loaded));
    assert_eq!(of(&proofs, Property::NoWider).standing(), Standing::Refuted, "{proofs:#?}");
    let same = prove(&loaded, Some(&loaded));
    let [open] = of(&same, Property::NoWider).open.as_slice() else { panic!("{same:#?}") };
    assert!(open.why.starts_with("the rule `twice` of those before fails, for `deny {"), "{}", open.why);
}

/// A rule that looks at a number denies what Cedar cannot hold; without it the same call may be allowed.
#[test]
fn a_number_that_nothing_looks_at_any_more_is_found() {
    let permitted = "permit (principal, action, resource) when { context has approval };";
    let looking = |role: &str| {
        format!(
            r#"{permitted} forbid ({role}, action == Tool::Action::"pay", resource) when {{ context.input.amount != context.input.amount }};"#
        )
    };
    let tools = [pay(), look_up()];
    let rules = Rules::load(&tools, &[file(permitted)]).unwrap();
    let before = rules.reload(&[file(&looking(r#"principal in Role::"billing""#))]).unwrap();
    let proofs = prove(&rules, Some(&before));
    let found = refuting(&proofs, Property::NoWider, &tools, permitted);
    assert_eq!(found.before, Some(PolicyDecision::Deny));
    assert_eq!(
        found.example.as_deref(),
        Some(r#"ask {"tool": "pay", "input": {"amount": 9223372036854775808}, "roles": ["billing"]}"#)
    );
    let all = rules.reload(&[file(&looking("principal"))]).unwrap();
    assert_eq!(prove(&all, Some(&before)).last().unwrap().standing(), Standing::Proved);
    assert_eq!(prove(&before, Some(&all)).last().unwrap().standing(), Standing::Refuted);
}

#[test]
fn what_a_formula_does_not_say_stays_open() {
    let rules = Rules::load(
        &[pay(), look_up()],
        &[file(
            r#"@id("other") permit (principal, action == Tool::Action::"pay", resource)
               when { context has approval && Tool::"look_up@1.0".version == "1.0" };
               @id("a") @approvers("finance") permit (principal, action == Tool::Action::"look_up", resource) when { context has approval };
               @id("b") @approvers("board") permit (principal in Role::"b", action == Tool::Action::"look_up", resource) when { context has approval };
               permit (principal, action == Tool::Action::"look_up", resource);"#,
        )],
    )
    .unwrap();
    let proofs = prove(&rules, Some(&rules));
    let why: Vec<_> =
        proofs.iter().flat_map(|proof| &proof.open).map(|open| (open.tool.as_str(), open.why.as_str())).collect();
    let elsewhere = ("pay", "the rule `other` looks into something that is neither the agent nor the tool of the call");
    let contradictory = ("look_up", "the rules before deny where `a` and `b` demand different approvers at once");
    assert_eq!(why, [elsewhere, elsewhere, elsewhere, contradictory, elsewhere]);
}

/// Roles are scopes, whichever of the two a rule reads.
#[test]
fn a_role_is_a_scope() {
    let rules = Rules::load(&[pay(), look_up()], &[file(PAYMENTS)]).unwrap();
    let scopes = PAYMENTS
        .replace("principal in Role::\"billing\"", "principal")
        .replace("when {", "when { principal.scopes.contains(\"billing\") &&");
    let scopes = rules.reload(&[file(&scopes)]).unwrap();
    for (one, other) in [(&rules, &scopes), (&scopes, &rules)] {
        assert_eq!(prove(one, Some(other)).last().unwrap().standing(), Standing::Proved);
    }
}

#[test]
fn every_type_of_argument_comes_back() {
    let schema = r#"{"type": "object", "required": ["text", "count", "rate", "really", "tags", "address"], "properties": {
        "text": {"type": "string"}, "count": {"type": "integer"}, "rate": {"type": "number"}, "really": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "address": {"type": "object", "required": ["lines"], "properties": {"lines": {"type": "integer"}, "town": {"type": "string"}}}}}"#;
    let tools = [tool("send").input_schema_text(schema).permission(Permission::Ask).build().unwrap()];
    let rules = r#"
        permit (principal, action, resource) when {
            context.input.text == "a \"quoted\"\u{202e} \n text" && context.input.count == -7
            && context.input.rate == decimal("-922337203685477.5808") && context.input.really
            && context.input.tags.containsAll(["b", "é"]) && context.input.address has town && context.input.address.town like "Z*h"
            && context.input.address.lines > 2 && context.step == 4294967295 && principal.level == "read"
            && principal.domains.contains("eu") && context.now > datetime("2040-02-29")
        };
    "#;
    let loaded = Rules::load(&tools, &[file(rules)]).unwrap();
    let proofs = prove(&loaded, None);
    let found = refuting(&proofs, Property::ExternalAsks, &tools, rules);
    let mut text = String::new();
    let _ = write!(text, "{}", found.example.as_deref().unwrap());
    assert!(text.contains("-922337203685477.5808") && text.contains("\"step\": 4294967295"), "{text}");
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn an_answer_that_does_not_come_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("slow");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let slow =
        Prover { program: script, limit: Duration::from_millis(50), exceptions: BTreeSet::new(), counts_before: None };
    let rules = Rules::load(&[pay()], &[file(PAYMENTS)]).unwrap();
    let proofs = prove_with(&slow, &rules, None);
    assert!(proofs.iter().all(|proof| proof.standing() == Standing::NotProved), "{:?}", standings(&proofs));
    assert_eq!(proofs[0].open[0].why, "time: the solver had no answer after 50 ms");

    let gone = Prover { program: folder.path().join("gone"), ..slow.clone() };
    let error = gone.prove(&rules, None).unwrap_err();
    assert!(error.to_string().starts_with("not proved: no solver: `"), "{error}");
    let mute = folder.path().join("mute");
    std::fs::copy("/bin/true", &mute).unwrap();
    let proofs = prove_with(&Prover { program: mute, ..slow }, &rules, None);
    assert!(proofs.iter().all(|proof| proof.standing() == Standing::NotProved), "{:?}", standings(&proofs));
}

const SINCE: &str = r#"@since("2026-01-02T11:00:00.000Z")"#;

/// A rule that allows payments of 5 and less so often, or for ever.
fn remembered(annotations: &str) -> String {
    format!(
        r#"{PAYMENTS} @id("often") {annotations} permit (principal, action == Tool::Action::"pay", resource) when {{ context.input.amount <= 5 }};"#
    )
}

#[test]
fn what_is_used_up_was_not_let_through_for_ever() {
    let three = remembered(&format!(r#"@uses("3") {SINCE}"#));
    let before = Rules::load(&[pay(), look_up()], &[file(&three)]).unwrap();
    let standing = |text: &str| {
        let proofs = prove(&before.reload(&[file(text)]).unwrap(), Some(&before));
        (proofs.last().unwrap().standing(), proofs)
    };
    // The same rule, and none in its place.
    assert_eq!(standing(&three).0, Standing::Proved);
    assert_eq!(standing(PAYMENTS).0, Standing::Proved);
    // One that applies longer, and once the other is used up.
    for longer in
        [r#"@uses("4") @since("2026-01-02T11:00:00.000Z")"#, r#"@uses("3") @since("2026-01-03T11:00:00.000Z")"#, ""]
    {
        let (standing, proofs) = standing(&remembered(longer));
        assert_eq!(standing, Standing::NotProved, "{longer}: {proofs:#?}");
        let [open] = proofs.last().unwrap().open.as_slice() else { panic!("{proofs:#?}") };
        assert!(
            open.why.starts_with(
                "the rule `often` of those before applies for 3 calls since 2026-01-02T11:00:00.000Z and is not the same now: once \
                 it is used up, more may be let through than before, such as `allow {\"tool\": \"pay\""
            ),
            "{}",
            open.why
        );
    }
    // Beside the same rule, one that it covers only as long as it lasts.
    let beside = format!(
        r#"{three} @id("small") permit (principal, action == Tool::Action::"pay", resource) when {{ context.input.amount <= 4 }};"#
    );
    let (open, proofs) = standing(&beside);
    assert_eq!(open, Standing::NotProved, "{proofs:#?}");
    assert!(proofs.last().unwrap().open[0].why.contains("2026-01-02T11:00:00.000Z: once it is used up"), "{proofs:#?}");
    // What the other covers at no time is refuted.
    assert_eq!(standing(&three.replace("<= 5", "<= 6")).0, Standing::Refuted);
}

#[test]
fn a_remembered_approval_is_one() {
    let capped = remembered(&format!(r#"@uses("3") {SINCE}"#));
    let tools = [pay(), look_up()];
    let rules = Rules::load(&tools, &[file(&capped)]).unwrap();
    let proofs = prove(&rules, None);
    let proof = of(&proofs, Property::ExternalAsks);
    assert_eq!(proof.standing(), Standing::Proved, "{proof:#?}");
    assert_eq!(proof.left_out, ["`often` allows `pay` for 3 calls since 2026-01-02T11:00:00.000Z"]);
    // It hides no other rule, and is not what refutes.
    let wide = format!("{capped} @id(\"admins\") permit (principal in Role::\"admin\", action, resource);");
    let proofs = prove(&Rules::load(&tools, &[file(&wide)]).unwrap(), None);
    let found = refuting(&proofs, Property::ExternalAsks, &tools, &wide);
    assert!(found.rules.contains(&"admins".to_owned()), "{found:?}");
}

fn counted(name: &str, within: Option<Duration>) -> Count {
    let tool = Some("pay".to_owned());
    Count { name: name.to_owned(), tool, effect: None, per: Per::Tenant, within, from: None }
}

#[test]
fn numbers_are_found_and_written_down() {
    let tools = [pay(), look_up()];
    let load = |text: &str| {
        let counts = vec![counted("payments", None), counted("refunds", None)];
        Rules::load_counting(&tools, counts, &[file(text)]).unwrap()
    };
    let example = |text: &str| {
        let proofs = prove(&load(text), None);
        let [found] = of(&proofs, Property::ExternalAsks).refuted.as_slice() else { panic!("{proofs:#?}") };
        let example = found.example.clone().unwrap();
        // It is true of them.
        load(&format!("// expect: {example}\n{text}"));
        example
    };
    let found = example("permit (principal, action, resource) when { context.counts.payments >= 5 };");
    assert!(found.contains("\"counts\": {\"payments\": ") && !found.contains("refunds"), "{found}");
    let found = example(
        "permit (principal, action, resource) when { context.run.calls == 7 && context.run has steps_left && context.run.steps_left == 0 };",
    );
    assert!(found.contains("\"run\": {\"calls\": 7, \"steps_left\": 0}"), "{found}");
    // What no call has shows nothing.
    for never in [
        "context.counts.refunds < 0",
        "context.run.actions < 0",
        "context.run has actions_left && context.run.actions_left < 0",
    ] {
        let proofs = prove(&load(&format!("permit (principal, action, resource) when {{ {never} }};")), None);
        assert_eq!(of(&proofs, Property::ExternalAsks).standing(), Standing::Proved, "{never}: {proofs:#?}");
    }
    let sums = load(
        "permit (principal, action, resource) when { context has approval && context.counts.payments + context.step < 9 };",
    );
    assert_eq!(of(&prove(&sums, None), Property::NeverFails).standing(), Standing::Proved);
}

#[test]
fn what_was_counted_otherwise_stays_open() {
    let text = "permit (principal, action, resource) when { context has approval && context.counts.payments < 5 };";
    let rules = Rules::load_counting(&[pay()], vec![counted("payments", None)], &[file(text)]).unwrap();
    let never = rules.reload(&[file("")]).unwrap();
    let prover = |before: Vec<Count>| Prover::find().unwrap().with_counts_before(before);
    let no_wider = |prover: Prover, rules: &Rules, before: &Rules| {
        let proofs = prove_with(&prover, rules, Some(before));
        let proof = proofs.last().unwrap();
        (proof.standing(), proof.open.iter().map(|open| open.why.clone()).collect::<Vec<_>>())
    };
    let same = vec![counted("payments", None)];
    let daily = vec![counted("payments", Some(Duration::from_hours(24)))];
    assert_eq!(no_wider(prover(same), &rules, &rules), (Standing::Proved, vec![]));
    assert_eq!(
        no_wider(prover(daily.clone()), &rules, &rules),
        (Standing::NotProved, vec!["the count `payments` counted something else before".to_owned()])
    );
    assert_eq!(
        no_wider(prover(Vec::new()), &rules, &rules),
        (
            Standing::NotProved,
            vec!["the rules before look at the count `payments`, which there was none of".to_owned()]
        )
    );
    // Only one of the two looks at it.
    assert_eq!(no_wider(prover(daily), &never, &rules), (Standing::Proved, vec![]));
}
