//! `lockgate policy backtest`: what rules would have decided about the calls of a journal.

use serde_json::json;

use crate::command::Desk;
use crate::explaining::{SECRET, call_id, with_secret};
use crate::policy::{RULES, RUN_FILE, desk};

/// A desk with four calls that were decided about, and one that was not.
fn with_past() -> Desk {
    let desk = desk(RULES);
    for arguments in [r#"{"amount": 50}"#, r#"{"amount": 150}"#, r#"{"amount": 1, "to": "cash"}"#, "{}"] {
        desk.run(&["call", "pay.toml", "pay", arguments]);
    }
    let read = desk.run(&["call", "pay.toml", "find_invoice", "{}"]);
    assert_eq!((read.code, desk.entered("paid")), (Some(0), 1), "{}", read.whole());
    desk
}

fn stricter(desk: &Desk) {
    desk.write("stricter.toml", &RUN_FILE.replace("*.cedar", "stricter.rules"));
    let rules = RULES.replace("<= 100", "<= 10").replace("> 100", "> 10").replace("unless", "when");
    desk.write("stricter.rules", &rules.replace("context.input.to == \"cash\"", "context.input.to == \"gold\""));
}

#[test]
fn the_rules_of_then_answer_as_they_did() {
    let desk = with_past();
    insta::assert_snapshot!("backtest_same", desk.run(&["policy", "backtest", "pay.toml"]).whole());
    assert_eq!(desk.entered("paid"), 1);
}

#[test]
fn other_rules_are_told_apart() {
    let desk = with_past();
    stricter(&desk);
    insta::assert_snapshot!("backtest_changed", desk.run(&["policy", "backtest", "stricter.toml"]).whole());
    let whole = desk.run(&["policy", "backtest", "stricter.toml", "--format", "json"]);
    assert_eq!(whole.code, Some(1));
    let whole = whole.json();
    assert_eq!(whole["changed"], json!({"allow->ask": 1, "deny->allow": 1}));
    assert_eq!((&whole["calls"], &whole["same"], &whole["runs"]), (&4.into(), &2.into(), &5.into()));
    let lines = desk.run(&["policy", "backtest", "stricter.toml", "--format", "jsonl"]).lines();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["type"], &lines[0]["policies"]), (&"changed".into(), &json!(["cedar:small"])));
    assert_eq!(
        (&lines[1]["policies"], &lines[1]["policies_now"]),
        (&json!(["cedar:no-cash"]), &json!(["cedar:small"]))
    );
    assert_eq!(lines[2]["type"], "summary");
    // Nothing was done, and nothing asked.
    assert_eq!(desk.entered("paid"), 1);
    assert_eq!(desk.run(&["approvals", "list", "--format", "json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn some_runs_or_some_time() {
    let desk = with_past();
    stricter(&desk);
    let calls = |more: &[&str]| {
        let done = desk.run(&[["policy", "backtest", "stricter.toml", "--format", "json"].as_slice(), more].concat());
        (done.code, done.json()["calls"].as_u64())
    };
    assert_eq!(calls(&["--since", "1h"]), (Some(1), Some(4)));
    assert_eq!(calls(&["--since", "2199-01-01T00:00:00.000Z"]), (Some(0), Some(0)));
    let runs = desk.run(&["runs", "list", "--format", "json"]).json();
    let first = runs[4]["run_id"].as_str().unwrap();
    assert_eq!(calls(&["--runs", first]), (Some(1), Some(1)));
    insta::assert_snapshot!(
        "backtest_no_time",
        desk.run(&["policy", "backtest", "pay.toml", "--since", "noon"]).whole()
    );
}

#[test]
fn what_the_journal_does_not_have_is_not_guessed() {
    let desk = with_past();
    let secret = RUN_FILE.replace("[policy]", "[tools]\nsecrets_from_env = [\"PAY_TOKEN\"]\n\n[policy]");
    desk.write("secret.toml", &secret);
    // One that runs, one that waits: neither has its arguments in the journal.
    for amount in [5, 500] {
        let arguments = format!("{{\"amount\": {amount}, \"to\": \"{SECRET}\"}}");
        with_secret(&desk, &["call", "secret.toml", "pay", &arguments]);
    }
    // Arguments that were edited, about which nothing was decided since.
    let asked = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 600}"#]);
    let approval = asked.json()["meta"]["approval_id"].as_str().unwrap().to_owned();
    desk.write("edit.json", r#"{"amount": 7}"#);
    let edited = desk.run(&["approvals", "approve", &approval, "--edit", "edit.json"]);
    assert_eq!(edited.code, Some(0), "{}", edited.whole());
    let unjudged = |file: &str| desk.run(&["policy", "backtest", file, "--format", "json"]).json()["unjudged"].clone();
    assert_eq!(unjudged("pay.toml"), json!({"arguments_not_kept": 2, "edited_since": 1}));
    desk.write("changed.toml", &RUN_FILE.replace("Pays.", "Pays somebody."));
    assert_eq!(unjudged("changed.toml"), json!({"definition_changed": 6}));
    let (without, _) = RUN_FILE.split_once("[[tools.mock]]\nname = \"pay\"").unwrap();
    desk.write("gone.toml", &without.replace("*.cedar", "reads.cedar"));
    desk.write("reads.cedar", "permit (principal, action in Effect::Action::\"read\", resource);");
    let gone = desk.run(&["policy", "backtest", "gone.toml"]);
    insta::assert_snapshot!("backtest_gone", gone.whole());
    assert!(!gone.stdout.contains(SECRET));
}

#[test]
fn an_approved_call_was_asked_about() {
    let desk = desk(RULES);
    let asked = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 500}"#]);
    let approval = asked.json()["meta"]["approval_id"].as_str().unwrap().to_owned();
    let approved = desk.run(&["approvals", "approve", &approval]);
    assert_eq!(approved.code, Some(0), "{}", approved.whole());
    let done = desk.run(&["call", "pay.toml", "pay", r#"{"amount": 500}"#, "--approval", &approval]);
    assert_eq!((call_id(&done), desk.entered("paid")), (call_id(&asked), 1));
    let tested = desk.run(&["policy", "backtest", "pay.toml", "--format", "json"]).json();
    assert_eq!((&tested["calls"], &tested["same"]), (&1.into(), &1.into()), "{tested}");
}

#[test]
fn what_was_only_tried_is_no_answer() {
    let desk = desk("@id(\"none\") forbid (principal, action, resource);");
    desk.write("shadow.toml", &RUN_FILE.replace("engine = \"cedar\"\n", "engine = \"cedar\"\nmode = \"shadow\"\n"));
    assert_eq!(desk.run(&["call", "shadow.toml", "find_invoice", "{}"]).code, Some(0));
    // The declared permission acted: rules that were only tried then would change the answer.
    let tested = desk.run(&["policy", "backtest", "shadow.toml", "--format", "json"]);
    assert_eq!(tested.code, Some(1));
    assert_eq!(tested.json()["differences"][0]["policies"], json!(["native:declared-allow"]));
    assert_eq!(tested.json()["changed"], json!({"allow->deny": 1}));
    // And what is declared, again, does not.
    desk.write("native.toml", &RUN_FILE.replace("engine = \"cedar\"\nfiles = [\"*.cedar\"]", ""));
    assert_eq!(desk.run(&["policy", "backtest", "native.toml"]).code, Some(0));
}

/// A hook that lets no payment pass.
pub(crate) const TILL: &str = "\n[[hook]]\nname = \"till\"\nwhen = \"before\"\ntools = [\"pay\"]\n\
    command = [\"/bin/sh\", \"-c\", \"echo the till is closed; exit 1\"]\n";

#[cfg(unix)]
#[test]
fn what_a_hook_stopped_is_no_answer_of_the_policy() {
    let desk = desk(RULES);
    desk.write("till.toml", &format!("{RUN_FILE}{TILL}"));
    for arguments in [r#"{"amount": 5}"#, r#"{"amount": 150}"#, r#"{"amount": 1, "to": "cash"}"#] {
        desk.run(&["call", "till.toml", "pay", arguments]);
    }
    assert_eq!(desk.entered("paid"), 0);
    let tested = desk.run(&["policy", "backtest", "till.toml", "--format", "json"]);
    assert_eq!(tested.code, Some(0), "{}", tested.whole());
    let whole = tested.json();
    assert_eq!((&whole["calls"], &whole["same"]), (&3.into(), &1.into()));
    assert_eq!((&whole["changed"], &whole["unjudged"]), (&json!({}), &json!({"stopped_by_hook": 2})));
    assert!(whole["not_judged"][0]["recorded"].is_null() && whole["not_judged"][0]["why"] == "stopped_by_hook");
    let human = desk.run(&["policy", "backtest", "till.toml"]).stdout;
    assert!(human.contains("? -> ?") && human.contains("hook `till` stopped it"), "{human}");
}

#[test]
fn a_rule_that_is_used_up_matters_where_it_decides() {
    let desk = with_past();
    let capped = "\n@id(\"often\") @uses(\"20\") @since(\"2026-01-02T12:00:00.000Z\")\n\
        permit (principal, action == Tool::Action::\"pay\", resource) when { context.input.amount == 150 };\n";
    desk.write("pay.cedar", &format!("{RULES}{capped}"));
    let tested = desk.run(&["policy", "backtest", "pay.toml", "--format", "json"]);
    assert_eq!(tested.code, Some(0), "{}", tested.whole());
    let whole = tested.json();
    assert_eq!((&whole["same"], &whole["unjudged"]), (&3.into(), &json!({"counts_not_kept": 1})));
    assert_eq!(whole["not_judged"][0]["recorded"], "ask");
    // Any other number may matter in any way.
    desk.write("pay.cedar", &RULES.replace("<= 100 };", "<= 100 && context.run.actions < 100 };"));
    let counted = desk.run(&["policy", "backtest", "pay.toml", "--format", "json"]).json();
    assert_eq!((&counted["same"], &counted["unjudged"]), (&1.into(), &json!({"counts_not_kept": 3})));
}
