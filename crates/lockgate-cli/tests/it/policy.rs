//! `lockgate policy`, and calls that rules decide.

use crate::command::Desk;

pub(crate) const RUN_FILE: &str = r#"
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

pub(crate) const RULES: &str = r#"
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

pub(crate) fn desk(rules: &str) -> Desk {
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

#[test]
fn rules_are_proved_refuted_or_neither() {
    let desk = desk(RULES);
    let refuted = desk.run(&["policy", "prove", "pay.toml"]);
    insta::assert_snapshot!("refuted", refuted.whole());
    assert_eq!(refuted.code, Some(1));
    // What was found is what the rules answer.
    let (_, example) = refuted.stdout.split_once("// expect: ").unwrap();
    let example = example.lines().next().unwrap();
    desk.write("pay.cedar", &format!("// expect: {example}\n{RULES}"));
    assert_eq!(desk.run(&["policy", "check", "pay.toml"]).code, Some(0), "{example}");
    desk.write("pay.cedar", RULES);

    let excepted = desk.run(&["policy", "prove", "pay.toml", "--allow-external", "pay"]);
    insta::assert_snapshot!("proved", excepted.whole());
    assert_eq!(excepted.code, Some(0));

    desk.write("old.rules", &RULES.replace("amount <= 100", "amount <= 50"));
    let wider = desk.run(&["policy", "prove", "pay.toml", "--against", "old.rules", "--allow-external", "pay"]);
    insta::assert_snapshot!("wider", wider.whole());
    let json = desk.run(&["policy", "prove", "pay.toml", "--against", "pay.toml", "--format", "json"]);
    insta::assert_snapshot!("refuted_as_json", json.whole());
    assert!(!desk.path(".lockgate").exists());
}

#[test]
fn a_count_of_another_meaning_proves_nothing() {
    let desk = desk(&format!(
        "{RULES}@id(\"few\") forbid (principal, action, resource) when {{ context.counts.payments >= 5 }};"
    ));
    let run_file = |per: &str| format!("{RUN_FILE}[[quota]]\nname = \"payments\"\ntool = \"pay\"\nper = \"{per}\"\n");
    desk.write("pay.toml", &run_file("tenant"));
    desk.write("old.toml", &run_file("run"));
    let prove = |before: &str| {
        let arguments =
            ["policy", "prove", "pay.toml", "--against", before, "--allow-external", "pay", "--format", "json"];
        desk.run(&arguments).json()["properties"][3].clone()
    };
    assert_eq!(prove("pay.toml")["standing"], "proved");
    let otherwise = prove("old.toml");
    assert_eq!(
        (&otherwise["standing"], &otherwise["open"][0]["why"]),
        (&"not_proved".into(), &"the count `payments` counted something else before".into())
    );
}

#[test]
fn what_the_tools_declare_is_proved_too() {
    let desk = desk(RULES);
    desk.write("native.toml", &RUN_FILE.replace("engine = \"cedar\"\nfiles = [\"*.cedar\"]", ""));
    let proved = desk.run(&["policy", "prove", "native.toml", "--against", "native.toml"]);
    insta::assert_snapshot!("native_proved", proved.whole());
    assert_eq!(proved.code, Some(0)); // R-173
}

/// What the tools declare does not decide there, and what does is not here.
#[test]
fn of_a_decision_point_nothing_is_proved() {
    let desk = desk(RULES);
    let engine = "engine = \"http\"\nurl = \"http://127.0.0.1:9/\"";
    desk.write("point.toml", &RUN_FILE.replace("engine = \"cedar\"\nfiles = [\"*.cedar\"]", engine));
    let refused = desk.run(&["policy", "prove", "point.toml"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.whole());
    assert!(refused.stderr.contains("the rules stand elsewhere"), "{}", refused.whole());
}

#[test]
fn without_a_solver_nothing_is_proved() {
    let desk = desk(RULES);
    let prove = |variable: &str, value: &str| {
        let mut command = desk.command(&["policy", "prove", "pay.toml"]);
        let done = command.env_remove("CVC5").env(variable, value).output().unwrap();
        crate::command::Done::of(&["policy", "prove", "pay.toml"], &done)
    };
    let absent = prove("PATH", "");
    insta::assert_snapshot!("no_solver", absent.whole());
    assert_eq!((absent.code, absent.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!("no_such_solver", prove("CVC5", "nowhere/cvc5").whole());
}
