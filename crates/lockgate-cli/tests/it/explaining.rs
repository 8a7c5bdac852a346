//! `lockgate policy explain`: why a call was, or would be, allowed, asked about or denied; and what is hidden.

use crate::backtest::TILL;
use crate::command::{Desk, Done};
use crate::policy::{RULES, RUN_FILE, desk};

const CASH: &str = r#"{"amount": 1, "to": "cash"}"#;

/// The id of the one call that a command made.
pub(crate) fn call_id(call: &Done) -> String {
    call.json()["call_id"].as_str().unwrap_or_else(|| panic!("{}", call.whole())).to_owned()
}

#[test]
fn a_call_that_nobody_made() {
    let desk = desk(RULES);
    for (name, arguments) in [
        ("small", r#"{"amount": 100}"#),
        ("large", r#"{"amount": 101, "to": "b\u001b[2Jank", "more": 1}"#),
        ("cash", CASH),
        ("too_large", r#"{"amount": 18446744073709551617}"#),
        ("no_amount", "{}"),
    ] {
        let explained = desk.run(&["policy", "explain", "pay.toml", "pay", arguments]);
        insta::assert_snapshot!(format!("explained_{name}"), explained.whole());
    }
    let json = desk.run(&["policy", "explain", "pay.toml", "pay", r#"{"amount": 101}"#, "--format", "json"]);
    insta::assert_snapshot!("explained_as_json", json.whole());
    // Nothing ran, nobody was asked, and nothing is written down.
    assert_eq!(desk.entered("paid"), 0);
    assert!(!desk.path(".lockgate").exists());
    insta::assert_snapshot!(
        "explained_no_such_tool",
        desk.run(&["policy", "explain", "pay.toml", "pya", "{}"]).whole()
    );
}

#[test]
fn what_no_rule_permits() {
    let desk = desk(RULES);
    desk.write("pay.toml", &RUN_FILE.replace("scopes = [\"billing\"]", "scopes = []"));
    insta::assert_snapshot!(
        "explained_by_default",
        desk.run(&["policy", "explain", "pay.toml", "pay", r#"{"amount": 1}"#]).whole()
    );
}

#[test]
fn without_rules_what_is_declared_is_explained() {
    let desk = desk(RULES);
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\nfiles = [\"*.cedar\"]", ""));
    insta::assert_snapshot!("explained_native", desk.run(&["policy", "explain", "pay.toml", "pay", CASH]).whole());
}

#[test]
fn rules_in_the_shadow_stand_apart() {
    let desk = desk(RULES);
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\n", "engine = \"cedar\"\nmode = \"shadow\"\n"));
    let json = |arguments: &[&str]| desk.run(arguments).json();
    let explained = json(&["policy", "explain", "pay.toml", "pay", CASH, "--format", "json"]);
    let answers = |now: &serde_json::Value| (now["engine"].clone(), now["answer"].clone(), now["policies"].clone());
    assert_eq!(answers(&explained["now"]), ("native".into(), "ask".into(), ["native:declared-ask"].as_slice().into()));
    assert_eq!(
        answers(&explained["now"]["shadow"]),
        ("cedar".into(), "deny".into(), ["cedar:no-cash"].as_slice().into())
    );
    // What was recorded as only tried is told as such.
    let call = call_id(&desk.run(&["call", "pay.toml", "pay", CASH]));
    let explained = json(&["policy", "explain", &call, "--format", "json"]);
    assert_eq!(explained["recorded"]["answer"], "ask");
    assert_eq!(explained["recorded"]["policies"], serde_json::json!(["native:declared-ask"]));
    assert_eq!(explained["recorded"]["shadow"][0], "deny:cedar:no-cash");
}

#[test]
fn a_call_of_the_journal() {
    let desk = desk(RULES);
    let call = call_id(&desk.run(&["call", "pay.toml", "pay", r#"{"amount": 101}"#]));
    insta::assert_snapshot!("explained_waiting", desk.run(&["policy", "explain", &call]).whole());
    // Under the rules of another day.
    desk.write("pay.cedar", &RULES.replace("100", "200").replace("{\"amount\": 101}", "{\"amount\": 201}"));
    insta::assert_snapshot!("explained_under_other_rules", desk.run(&["policy", "explain", &call]).whole());
    // Under another run file.
    desk.write("other.toml", &RUN_FILE.replace("*.cedar", "lockgate:native"));
    let other = desk.run(&["policy", "explain", &call, "--run-file", "other.toml", "--format", "json"]).json();
    assert_eq!((&other["now"]["answer"], &other["same_set"]), (&"ask".into(), &false.into()));
    assert_eq!(other["now"]["policies"], serde_json::json!(["cedar:declared-ask"]));
    assert_eq!(desk.entered("paid"), 0);
    // Under rules that do not load: what was recorded is shown.
    desk.write("pay.cedar", "permit");
    let broken = desk.run(&["policy", "explain", &call, "--format", "json"]);
    assert_eq!((broken.code, &broken.json()["recorded"]["answer"]), (Some(0), &"ask".into()));
    assert!(broken.json()["now"].is_null() && broken.stderr.contains("`pay.cedar`"), "{}", broken.whole());
    assert_eq!(desk.run(&["policy", "explain", &call, "--run-file", "pay.toml"]).code, Some(2));
}

#[test]
fn calls_that_were_allowed_and_denied() {
    let desk = desk(RULES);
    let recorded = |call: &str| desk.run(&["policy", "explain", call, "--format", "json"]).json()["recorded"].clone();
    let allowed = recorded(&call_id(&desk.run(&["call", "pay.toml", "pay", r#"{"amount": 5}"#])));
    assert_eq!((&allowed["answer"], &allowed["policies"]), (&"allow".into(), &serde_json::json!(["cedar:small"])));
    let denied = recorded(&call_id(&desk.run(&["call", "pay.toml", "pay", CASH])));
    assert_eq!((&denied["answer"], &denied["policies"]), (&"deny".into(), &serde_json::json!(["cedar:no-cash"])));
    // One that a person approved was asked about.
    let asked = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 500}"#]);
    let approval =
        asked.json()["meta"]["approval_id"].as_str().unwrap_or_else(|| panic!("{}", asked.whole())).to_owned();
    let approved = desk.run(&["approvals", "approve", &approval]);
    assert_eq!(approved.code, Some(0), "{}", approved.whole());
    let done = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 500}"#, "--approval", &approval]);
    assert_eq!((done.code, desk.entered("paid")), (Some(0), 2), "{}", done.whole());
    assert_eq!(recorded(&call_id(&asked))["answer"], "ask");
    // One that never got so far.
    let invalid = call_id(&desk.run(&["call", "pay.toml", "pay", "{}"]));
    insta::assert_snapshot!("explained_invalid", desk.run(&["policy", "explain", &invalid]).whole());
}

/// The command with a secret in its environment.
pub(crate) fn with_secret(desk: &Desk, arguments: &[&str]) -> Done {
    let output = desk.command(arguments).env("PAY_TOKEN", SECRET).output().unwrap();
    Done::of(&[], &output)
}

pub(crate) const SECRET: &str = "correct-horse-battery";

#[test]
fn a_secret_is_not_shown_and_not_guessed() {
    let desk = desk(RULES);
    desk.write("pay.toml", &RUN_FILE.replace("[policy]", "[tools]\nsecrets_from_env = [\"PAY_TOKEN\"]\n\n[policy]"));
    let arguments = format!("{{\"amount\": 5, \"to\": \"{SECRET}\"}}");
    for format in ["human", "json"] {
        let explained = with_secret(&desk, &["policy", "explain", "pay.toml", "pay", &arguments, "--format", format]);
        assert!(explained.stdout.contains("allow") && explained.stdout.contains("[redacted:"), "{}", explained.whole());
        assert!(!format!("{}{}", explained.stdout, explained.stderr).contains(SECRET), "{}", explained.whole());
    }
    let call = call_id(&with_secret(&desk, &["call", "pay.toml", "pay", &arguments]));
    let explained = with_secret(&desk, &["policy", "explain", &call]);
    assert!(explained.stdout.contains("a secret was taken out"), "{}", explained.whole());
    assert!(!explained.stdout.contains("by the rules of today"), "{}", explained.whole());
}

#[test]
fn what_the_rules_deny_whatever_the_call_is_is_hidden() {
    let desk = desk(RULES);
    insta::assert_snapshot!("listed_with_rules", desk.run(&["tools", "list", "pay.toml"]).whole());
    insta::assert_snapshot!(
        "listed_with_rules_as_json",
        desk.run(&["tools", "list", "pay.toml", "--format", "json"]).whole()
    );
    // Nobody without the role can pay, whatever they pay: to a model, the tool is not there.
    desk.write("pay.toml", &RUN_FILE.replace("scopes = [\"billing\"]", "scopes = []"));
    insta::assert_snapshot!("listed_with_hidden", desk.run(&["tools", "list", "pay.toml"]).whole());
    let call = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 1}"#]);
    assert_eq!((call.code, &call.json()["error"]["code"]), (Some(7), &"unknown_tool".into())); // R-139
    assert_eq!(desk.entered("paid"), 0);
    // What a model may see says nothing of rules.
    let model = desk.run(&["tools", "describe", "pay.toml", "--view", "model", "--format", "json"]).stdout;
    assert!(!model.contains("approval") && !model.contains("amount <="), "{model}");
    // In the shadow nothing is hidden.
    desk.write(
        "pay.toml",
        &RUN_FILE
            .replace("scopes = [\"billing\"]", "scopes = []")
            .replace("\"cedar\"\n", "\"cedar\"\nmode = \"shadow\"\n"),
    );
    let listed = desk.run(&["tools", "list", "pay.toml", "--format", "json"]).json();
    assert_eq!((listed["tools"].as_array().unwrap().len(), &listed["hidden"]), (2, &serde_json::Value::Null));
}

#[cfg(unix)]
#[test]
fn what_a_hook_stopped_the_policy_had_let_pass() {
    let desk = desk(RULES);
    desk.write("pay.toml", &format!("{RUN_FILE}{TILL}"));
    let call = call_id(&desk.run(&["call", "pay.toml", "pay", r#"{"amount": 5}"#]));
    let json = desk.run(&["policy", "explain", &call, "--format", "json"]).json();
    assert!(json["recorded"].is_null() && json["same_set"].is_null(), "{json}");
    assert_eq!((&json["stopped_by"]["hook"], &json["now"]["answer"]), (&"till".into(), &"allow".into()));
    let human = desk.run(&["policy", "explain", &call]).stdout;
    assert!(human.contains("recorded: the policy let it pass; hook `till` stopped it"), "{human}");
    assert!(human.contains("the till is closed") && human.contains("by the rules of today: allow"), "{human}");
}

#[test]
fn what_could_stop_a_supposed_call_is_named() {
    let desk = desk(RULES);
    let quota = "\n[[quota]]\ntool = \"pay\"\nper = \"tenant\"\nmost = 5\n";
    desk.write("pay.toml", &format!("{RUN_FILE}{TILL}{quota}"));
    let explain = |tool: &str, arguments: &str, format: &str| {
        desk.run(&["policy", "explain", "pay.toml", tool, arguments, "--format", format])
    };
    let json = explain("pay", r#"{"amount": 5}"#, "json").json();
    assert_eq!(json["hooks"], serde_json::json!(["till"]));
    assert_eq!(json["quotas"], serde_json::json!([{"name": "5 of pay per tenant", "most": 5}]));
    let human = explain("pay", r#"{"amount": 5}"#, "human").stdout;
    assert!(human.contains("hook `till` would be asked, too") && human.contains("lets 5 calls start"), "{human}");
    // Neither is about the other tool, and neither matters where the answer is no.
    for (tool, arguments) in [("find_invoice", "{}"), ("pay", CASH)] {
        let json = explain(tool, arguments, "json").json();
        assert!(json["hooks"].is_null() && json["quotas"].is_null(), "{json}");
    }
    assert_eq!(desk.entered("paid"), 0);
}

#[test]
fn numbers_of_today_are_named_as_such() {
    let desk = desk(&RULES.replace("<= 100 };", "<= 100 && context.run.actions < 100 };"));
    let call = call_id(&desk.run(&["call", "pay.toml", "pay", r#"{"amount": 5}"#]));
    let json = desk.run(&["policy", "explain", &call, "--format", "json"]).json();
    assert_eq!(json["now"]["numbers_of_today"], true);
    let human = desk.run(&["policy", "explain", &call]).stdout;
    assert!(human.contains("the numbers in `context.run` and `context.counts`"), "{human}");
    // No rule about this tool looks at any.
    let read = call_id(&desk.run(&["call", "pay.toml", "find_invoice", "{}"]));
    assert!(desk.run(&["policy", "explain", &read, "--format", "json"]).json()["now"]["numbers_of_today"].is_null());
}

#[test]
fn rules_in_the_shadow_are_asked_as_such() {
    let desk = desk("@id(\"tried\") permit (principal, action, resource) when { context.shadow };");
    desk.write("pay.toml", &RUN_FILE.replace("engine = \"cedar\"\n", "engine = \"cedar\"\nmode = \"shadow\"\n"));
    let json = desk.run(&["policy", "explain", "pay.toml", "pay", CASH, "--format", "json"]).json();
    let shadow = &json["now"]["shadow"];
    assert_eq!((&shadow["answer"], &shadow["policies"][0]), (&"allow".into(), &"cedar:tried".into()), "{json}");
    let facts = shadow["facts"]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|fact| fact["name"] == "context.shadow" && fact["value"] == "true"), "{json}");
}
