//! `lockgate call`.

use crate::command::{Desk, Done};

#[test]
fn the_wire_shape_with_every_digit() {
    let desk = Desk::new();
    let done = desk.run(&["call", "tools.toml", "echo", r#"{"id": 9007199254740993, "price": 1.10}"#]);
    insta::assert_snapshot!(done.whole());
}

#[test]
fn the_audit_inside_the_object() {
    insta::assert_snapshot!(Desk::new().run(&["call", "tools.toml", "echo", "{}", "--audit"]).whole());
}

#[test]
fn for_people() {
    insta::assert_snapshot!(Desk::new().run(&["call", "tools.toml", "quota", "--format", "human"]).whole());
}

#[test]
fn each_ending_has_its_code() {
    let desk = Desk::new();
    let endings = [
        ("echo", "{}", 0, None),
        ("quota", "{}", 1, Some("quota_exceeded")),
        ("broken", "{}", 1, Some("tool_internal_error")),
        ("forbidden", "{}", 7, Some("policy_denied")),
        ("nobody", "{}", 7, Some("unknown_tool")),
        ("echo", "{", 7, Some("invalid_arguments")),
        ("down", "{}", 8, Some("environment_error")),
        ("slow", "{}", 8, Some("timed_out")),
    ];
    for (name, arguments, exit, code) in endings {
        let done = desk.run(&["call", "tools.toml", name, arguments]);
        assert_eq!(done.code, Some(exit), "{}", done.whole());
        assert_eq!(done.json()["error"]["code"].as_str(), code, "{}", done.whole());
    }
}

/// The text and the place of a tool's panic are for the log (R-179): neither channel shows them.
#[test]
fn a_panic_of_a_tool_is_an_outcome_and_nothing_else() {
    let done = Desk::new().run(&["call", "tools.toml", "broken"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(1), ""));
    assert!(!done.stdout.contains("bug"), "{}", done.stdout);
}

#[test]
fn arguments_from_standard_input() {
    let desk = Desk::new();
    let done = desk.run_with_input(&["call", "tools.toml", "echo", "-"], "{\"title\": \"Straße\"}\n".as_bytes());
    assert_eq!((done.code, done.json()["data"]["title"].as_str()), (Some(0), Some("Straße")));
    let broken = desk.run_with_input(&["call", "tools.toml", "echo", "-"], b"{\"a\": \"\xff\"}");
    insta::assert_snapshot!(broken.whole());
}

#[test]
fn no_arguments_are_the_empty_object() {
    let done = Desk::new().run(&["call", "tools.toml", "echo"]);
    assert_eq!((done.code, done.json()["data"].clone()), (Some(0), serde_json::json!({})));
}

#[test]
fn an_output_over_the_cap_and_the_whole_of_it() {
    let desk = Desk::new();
    let short = desk.run(&["call", "tools.toml", "long"]).json();
    assert!(short["data"].as_str().unwrap().len() <= 256);
    assert!(short["meta"]["artifact"].as_str().unwrap().starts_with("art-"));
    let full = desk.run(&["call", "tools.toml", "long", "--full"]).json();
    assert_eq!(full["data"], "word ".repeat(400));
    assert!(full["meta"].get("truncated_bytes").is_none());
}

#[test]
fn a_call_that_waits_goes_on_with_its_approval() {
    let desk = Desk::new();
    let arguments = r#"{"title": "a"}"#;
    let waiting = desk.run(&["call", "ticket.toml", "create_ticket", arguments]);
    insta::assert_snapshot!("waiting_call", waiting.whole());
    let open = waiting.json();
    let id = open["meta"]["approval_id"].as_str().unwrap();
    let stale = desk.run(&["call", "ticket.toml", "create_ticket", r#"{"title": "b"}"#, "--approval", id]);
    assert_eq!(
        (stale.code, stale.json()["error"]["code"].as_str()),
        (Some(7), Some("approval_stale")),
        "{}",
        stale.whole()
    );
    let approved = desk.run(&["approvals", "approve", id, "--by", "bob"]);
    insta::assert_snapshot!("approved_call", approved.whole());
    let done = desk.run(&["call", "ticket.toml", "create_ticket", arguments, "--approval", id]);
    assert_eq!((done.code, done.json()["data"]["id"].as_str()), (Some(0), Some("T-1")), "{}", done.whole());
    assert_eq!(done.json()["call_id"], open["call_id"]);
    let again = desk.run(&["call", "ticket.toml", "create_ticket", arguments, "--approval", id]);
    assert_eq!(again.json()["meta"]["deduplicated"], open["call_id"], "{}", again.whole());
    assert_eq!(desk.entered("create_ticket.count"), 1);
}

#[test]
fn a_secret_among_the_arguments_is_not_repeated() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
    desk.write("ticket.toml", &format!("{text}\n[tools]\nsecrets_from_env = [\"TICKET_KEY\"]\n"));
    let arguments = ["call", "ticket.toml", "create_ticket", r#"{"title": "key hunter2-hunter2"}"#];
    let output = desk.command(&arguments).env("TICKET_KEY", "hunter2-hunter2").output().unwrap();
    let done = Done::of(&["call", "ticket.toml", "create_ticket", "…"], &output);
    assert!(!done.stderr.contains("hunter2") && !done.stdout.contains("hunter2"), "{}", done.whole());
    insta::assert_snapshot!(done.whole());
}

#[test]
fn an_operator_who_has_the_error_id_finds_the_text() {
    let desk = Desk::new();
    let call = desk.run(&["call", "tools.toml", "broken"]).json();
    let error_id = call["meta"]["error_id"].as_str().unwrap();
    let run = &call["call_id"].as_str().unwrap()[..16];
    let shown = desk.run(&["runs", "show", run, "--all"]);
    assert!(shown.stdout.contains(error_id) && shown.stdout.contains("bug"), "{}", shown.whole());
    insta::assert_snapshot!(shown.whole().replace(run, "RUN"));
    assert!(desk.run(&["explain", "tool_internal_error"]).stdout.contains("lockgate runs show RUN --all"));
}
