//! `lockgate approvals`.

use crate::command::Desk;

/// A desk with one waiting run, and the id of its approval.
fn waiting() -> (Desk, String) {
    let desk = Desk::new();
    let result = desk.run(&["run", "ticket.toml", "--format", "json"]);
    assert_eq!(result.code, Some(3), "{}", result.whole());
    let id = result.json()["calls"][0]["approval_id"].as_str().unwrap().to_owned();
    (desk, id)
}

#[test]
fn listed_and_shown() {
    let (desk, id) = waiting();
    insta::assert_snapshot!("listed", desk.run(&["approvals", "list"]).whole());
    let shown = desk.run(&["approvals", "show", &id]);
    insta::assert_snapshot!("shown", shown.whole().replace(&id, "ID"));
}

#[test]
fn as_json_with_every_digit() {
    let (desk, id) = waiting();
    let done = desk.run(&["approvals", "show", &id, "--format", "json"]);
    assert!(
        done.stdout.contains(r#""arguments":{"title":"auth-api is slow","amount":9007199254740993.10}"#),
        "{}",
        done.stdout
    );
    let approval = done.json();
    let documented = [
        "approval_id",
        "run_id",
        "call_id",
        "tool_name",
        "tool_version",
        "arguments",
        "effect",
        "shown_text",
        "digest",
        "requested_at",
        "expires_at",
        "state",
        "decided_by",
    ];
    for key in documented {
        assert!(approval.get(key).is_some(), "`{key}` is missing: {approval}");
    }
    assert_eq!(desk.run(&["approvals", "list", "--format", "json"]).json()[0], approval);
}

#[test]
fn approved_by_the_start_of_its_id_and_resumed() {
    let (desk, id) = waiting();
    let approved = desk.run(&["approvals", "approve", &id[..10], "--reason", "it is slow"]);
    insta::assert_snapshot!("approved", approved.whole().replace(&id[..10], "ID"));
    assert_eq!(desk.entered("create_ticket.count"), 0, "approving ran the call");
    let record = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!((record["state"].as_str(), record["decided_by"].as_str()), (Some("granted"), Some("alice")));
    let resumed = desk.run(&["runs", "resume", record["run_id"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(
        (resumed.code, resumed.json()["answer"].as_str()),
        (Some(0), Some("Ticket T-1 is open.")),
        "{}",
        resumed.whole()
    );
    assert_eq!(desk.entered("create_ticket.count"), 1);
}

#[test]
fn a_decision_is_taken_once() {
    let (desk, id) = waiting();
    assert_eq!(desk.run(&["approvals", "deny", &id]).code, Some(0));
    let again = desk.run(&["approvals", "approve", &id]);
    insta::assert_snapshot!(again.whole().replace(&id, "ID"));
}

#[test]
fn a_decision_about_something_else_is_not_taken() {
    let (desk, id) = waiting();
    let digest = format!("sha256:{}", "0".repeat(64));
    let done = desk.run(&["approvals", "approve", &id, "--digest", &digest]);
    assert_eq!(done.code, Some(1), "{}", done.whole());
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
}

#[test]
fn only_those_in_a_state() {
    let (desk, id) = waiting();
    assert_eq!(desk.run(&["approvals", "list", "--state", "pending", "--format", "jsonl"]).lines().len(), 1);
    desk.run(&["approvals", "withdraw", &id]);
    assert_eq!(
        desk.run(&["approvals", "list", "--state", "pending", "--format", "json"]).json(),
        serde_json::json!([])
    );
    assert_eq!(desk.run(&["approvals", "list", "--state", "withdrawn", "--format", "jsonl"]).lines().len(), 1);
}

#[test]
fn a_denied_call_is_settled_when_its_run_is_resumed() {
    let (desk, id) = waiting();
    desk.run(&["approvals", "deny", &id]);
    let run = desk.run(&["approvals", "show", &id, "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    desk.write("ticket.json", r#"{"turns": [{"calls": []}, {"text": "Denied."}]}"#);
    let resumed = desk.run(&["runs", "resume", &run, "--format", "json"]);
    assert_eq!(resumed.json()["calls"][0]["code"], "approval_denied", "{}", resumed.whole());
    assert_eq!(desk.entered("create_ticket.count"), 0);
}

#[test]
fn nobody_decides_without_a_name() {
    let (desk, id) = waiting();
    let empty = desk.run(&["approvals", "approve", &id, "--by", " "]);
    insta::assert_snapshot!("an_empty_name", empty.whole().replace(&id, "ID"));
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
    // A container often has no name for its user; the user's number is one.
    let mut unnamed = desk.command(&["approvals", "approve", &id]);
    unnamed.env_remove("USER").env_remove("LOGNAME");
    assert!(unnamed.output().unwrap().status.success());
    let approval = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert!(approval["decided_by"].as_str().unwrap().starts_with("uid:"), "{approval}");
}
