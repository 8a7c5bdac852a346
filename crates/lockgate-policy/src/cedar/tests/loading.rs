//! What loads, and what is said of what does not.

use super::*;

fn refused(text: &str) -> Vec<String> {
    let refused = load(text).unwrap_err();
    refused.defects().iter().map(ToString::to_string).collect()
}

#[test]
fn a_text_that_is_no_rule_is_named_by_its_line() {
    let refused = refused("permit (principal, action, resource);\n\npermit (principal, action resource);\n");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].starts_with("`rules.cedar`, line 3: "), "{refused:?}");
}

#[test]
fn a_rule_that_does_not_fit_the_tools_is_named_by_its_line() {
    for (rule, line) in [
        ("\n\npermit (principal, action == Tool::Action::\"pya\", resource);", 3),
        ("\npermit (principal, action == Tool::Action::\"pay\", resource)\nwhen {\n  context.input.amuont > 1\n};", 4),
        ("permit (principal, action == Tool::Action::\"pay\", resource) when { context.input.amount > \"1\" };", 1),
        // It may be absent.
        ("permit (principal, action == Tool::Action::\"pay\", resource) when { context.input.to == \"bob\" };", 1),
        ("permit (principal, action, resource) when { context.approval.uses_left > 0 };", 1),
        ("permit (principal, action, resource) when { principal.group == \"x\" };", 1),
        ("permit (principal is User, action, resource);", 1),
    ] {
        let refused = refused(rule);
        assert!(refused[0].starts_with(&format!("`rules.cedar`, line {line}: ")), "{rule}\n{refused:?}");
    }
}

#[test]
fn an_example_that_does_not_hold_refuses_the_set() {
    let text = |answer: &str| {
        format!(
            r#"
            // expect: {answer} {{"tool": "pay", "input": {{"amount": 1}}, "roles": ["finance"]}}
            permit (principal in Role::"finance", action, resource);
        "#
        )
    };
    assert_eq!(load(&text("allow")).unwrap().examples(), 1);
    assert_eq!(
        refused(&text("ask")),
        [concat!(
            "`rules.cedar`, line 2: the example expects `ask`, and the rules answer `allow`: ",
            "`pay` with effect external is allowed"
        )]
    );
}

#[test]
fn two_rules_of_one_id_are_refused() {
    let rule = "@id(\"a\") permit (principal, action, resource);\n";
    assert_eq!(
        refused(&format!("{rule}{rule}")),
        ["`rules.cedar`, line 2: `a` is the id of a rule already: in `rules.cedar`, line 1"]
    );
    assert_eq!(
        refused("@id(\"declared-deny\") permit (principal, action, resource);"),
        ["`rules.cedar`, line 1: `declared-deny` is the id of a rule already: in `lockgate:floor`, line 3"]
    );
}

#[test]
fn a_template_is_refused() {
    let refused = refused("permit (principal == ?principal, action, resource);");
    assert!(refused[0].contains("a template is no rule"), "{refused:?}");
}

#[test]
fn what_can_be_about_no_call_is_a_warning() {
    let rules = load("permit (principal, action in Effect::Action::\"write\", resource);").unwrap();
    let warnings: Vec<_> = rules.warnings().iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|it| it.contains("is about no registered tool")), "{warnings:?}");
}

/// Every line is that of a rule's first word, also where two rules are the same.
#[test]
fn rules_have_their_lines() {
    let rules = load("permit (principal, action, resource);\n\n// x\npermit (principal, action, resource);\n@id(\"c\")\npermit (principal, action, resource);")
        .unwrap();
    let places: Vec<_> = rules.list.iter().skip(1).map(|rule| (rule.id.as_str(), rule.line)).collect();
    assert_eq!(places, [("rules.cedar#1", 1), ("rules.cedar#2", 4), ("c", 5)]);
}

#[test]
fn the_digest_is_over_names_and_texts() {
    let digest = |name: &str, text: &str| {
        Rules::load(&[look_up()], &[RuleFile { name: name.to_owned(), text: text.to_owned() }]).unwrap().digest()
    };
    let text = "permit (principal, action, resource);";
    assert_eq!(digest("a", text), digest("a", text));
    assert_ne!(digest("a", text), digest("b", text));
    assert_ne!(digest("a", text), digest("a", &format!("{text}\n")));
}

/// Whatever an approval is compared with when it is supposed, the real one is another: such a rule would hold nothing.
#[test]
fn a_rule_that_compares_an_approval_is_refused() {
    for condition in [
        "context.approval.approver == \"bob\"",
        "context.approval.approver != principal.user",
        "context.approval.uses_left > 1",
        "context.approval.expires_at > datetime(\"2026-01-01\")",
    ] {
        for rule in [
            format!("permit (principal, action, resource) when {{ context has approval && {condition} }};"),
            format!("forbid (principal, action, resource) unless {{ context has approval && {condition} }};"),
        ] {
            let refused = refused(&rule);
            assert!(refused[0].contains("compares an approval"), "{rule}\n{refused:?}");
        }
    }
}

/// A rule that can never see the argument would take it for absent: one that forbids would forbid nothing.
#[test]
fn a_rule_that_reads_what_no_rule_can_is_refused() {
    let tool = ToolSpec::builder("pay")
        .effect(Effect::External)
        .input_schema_text(
            r#"{"type": "object", "properties": {"amount": {"type": "integer"}, "to": {}, "pair": {"type": "array"},
                "free": {"type": "object"}, "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}"#,
        )
        .build()
        .unwrap();
    for condition in [
        "when { context.input has to }",
        "when { context.input has pair || context.input.amount > 10 }",
        "when { context.input has free }",
        "unless { !(context.input has either) }",
        "when { context.input has aount }",
    ] {
        let text = format!("permit (principal, action, resource); forbid (principal, action, resource) {condition};");
        let files = [RuleFile { name: "rules.cedar".to_owned(), text }];
        assert!(Rules::load([&tool], &files).is_err(), "{condition}");
    }
}

#[test]
fn an_example_behind_a_rule_is_not_passed_over() {
    let refused = refused("permit (principal, action, resource); // expect: deny {\"tool\": \"pay\"}");
    assert!(refused[0].contains("on a line of its own"), "{refused:?}");
}

#[test]
fn rules_that_are_nested_deeply_load_or_are_refused() {
    for condition in [format!("{}true{}", "(".repeat(2000), ")".repeat(2000)), vec!["true"; 3000].join(" && ")] {
        let text = format!("permit (principal, action, resource) when {{ {condition} }};");
        let file = RuleFile { name: "deep.cedar".to_owned(), text };
        // What it answers is not the point: nothing ends here but the loading.
        drop(Rules::load([&pay()], &[file]));
    }
}
