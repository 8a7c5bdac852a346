//! `lockgate policy`, and calls that rules decide.

use crate::command::Desk;

const RUN_FILE: &str = r#"
[subject]
scopes = ["billing"]

[policy]
engine = "cedar"
files = ["*.cedar"]

[[tools.mock]]
name = "find_invoice"
description = "Finds an invoice."
effect = "read"
input_schema = { type = "object", properties = { number = { type = "string" }, filter = {} } }
behaviour = [{ returns = { amount = 80 } }]

[[tools.mock]]
name = "pay"
description = "Pays."
count_file = "paid"
input_schema = { type = "object", required = ["amount"], properties = { amount = { type = "integer" }, to = { type = ["string", "null"] } } }
behaviour = [{ returns = { paid = true } }]
"#;

const RULES: &str = r#"
// expect: allow {"tool": "find_invoice"}
@id("look") permit (principal, action in Effect::Action::"read", resource);

@id("small") permit (principal in Role::"billing", action == Tool::Action::"pay", resource)
when { context.input.amount <= 100 };

// expect: ask {"tool": "pay", "input": {"amount": 101}, "roles": ["billing"]}
@id("large") @reason("More than 100.") permit (principal in Role::"billing", action == Tool::Action::"pay", resource)
when { context.input.amount > 100 && context has approval };

@id("no-cash") forbid (principal, action == Tool::Action::"pay", resource)
when { context.input has to && context.input.to == "cash" };
"#;

fn desk(rules: &str) -> Desk {
    let desk = Desk::empty();
    desk.write("pay.toml", RUN_FILE);
    desk.write("pay.cedar", rules);
    desk
}

#[test]
fn rules_that_load() {
    let desk = desk(RULES);
    insta::assert_snapshot!("checked", desk.run(&["policy", "check", "pay.toml"]).whole());
    insta::assert_snapshot!("checked_as_json", desk.run(&["policy", "check", "pay.toml", "--format", "json"]).whole());
    assert!(!desk.path(".lockgate").exists());
}

#[test]
fn the_schema_can_be_read_while_rules_do_not_load() {
    insta::assert_snapshot!("schema", desk("permit").run(&["policy", "check", "pay.toml", "--schema"]).whole());
}

#[test]
fn rules_that_do_not_load() {
    let wrong = [
        ("no_rule", "permit (principal, action resource);"),
        (
            "no_such_argument",
            "permit (principal, action == Tool::Action::\"pay\", resource)\nwhen { context.input.amuont > 1 };",
        ),
        ("no_such_annotation", "@approvals(\"x\") permit (principal, action, resource);"),
        (
            "an_example_that_does_not_hold",
            "// expect: deny {\"tool\": \"pay\", \"input\": {\"amount\": 1}}\npermit (principal, action, resource);",
        ),
    ];
    for (name, rules) in wrong {
        let desk = desk(rules);
        let checked = desk.run(&["policy", "check", "pay.toml"]);
        insta::assert_snapshot!(name, checked.whole());
        // Nothing runs without them.
        let called = desk.run(&["call", "pay.toml", "pay", "{\"amount\": 1}"]);
        assert_eq!((called.code, called.stderr), (Some(2), checked.stderr));
        assert_eq!(desk.entered("paid"), 0);
    }
    let desk = desk(RULES);
    std::fs::remove_file(desk.path("pay.cedar")).unwrap();
    insta::assert_snapshot!("no_file", desk.run(&["policy", "check", "pay.toml"]).whole());
}

#[test]
fn without_rules_there_is_nothing_to_check() {
    let desk = desk(RULES);
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\nfiles = [\"*.cedar\"]", ""));
    insta::assert_snapshot!("native", desk.run(&["policy", "check", "pay.toml"]).whole());
    // Rules that would decide nothing are a mistake.
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\n", ""));
    insta::assert_snapshot!("rules_without_their_engine", desk.run(&["policy", "check", "pay.toml"]).whole());
}

#[test]
fn rules_decide_calls() {
    let desk = desk(RULES);
    let call = |arguments: &str| desk.run(&["call", "pay.toml", "pay", arguments, "--audit"]);
    let code = |done: &crate::command::Done| done.json()["error"]["code"].as_str().map(str::to_owned);

    let small = call("{\"amount\": 100}");
    assert_eq!((small.code, desk.entered("paid")), (Some(0), 1), "{}", small.whole());
    assert_eq!(small.json()["audit"]["policies"][0], "cedar:small"); // R-253
    let set = small.json()["audit"]["policies"][1].as_str().unwrap().to_owned();
    assert!(set.starts_with("cedar-set:sha256:"), "{set}");

    let large = call("{\"amount\": 101}");
    assert_eq!((large.code, code(&large).as_deref()), (Some(3), Some("approval_required")), "{}", large.whole());

    for arguments in ["{\"amount\": 1, \"to\": \"cash\"}", "{\"amount\": 18446744073709551617}"] {
        let denied = call(arguments);
        assert_eq!((denied.code, code(&denied).as_deref()), (Some(7), Some("policy_denied")), "{}", denied.whole()); // R-162
    }
    assert_eq!(desk.entered("paid"), 1);
}

#[test]
fn rules_in_the_shadow_decide_nothing() {
    let desk = desk("@id(\"none\") forbid (principal, action, resource);");
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\n", "engine = \"cedar\"\nmode = \"shadow\"\n"));
    let read = desk.run(&["call", "pay.toml", "find_invoice", "{}", "--audit"]);
    let policies = read.json()["audit"]["policies"].clone();
    assert_eq!(
        (read.code, &policies[0], &policies[1]),
        (Some(0), &"native:declared-allow".into(), &"shadow:deny:cedar:none".into())
    );
}
