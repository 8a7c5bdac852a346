//! The incident example of the checkout, as its files say that it goes.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{Desk, Done};

const SENT: &str = "examples/incident/notify_service_owner.count";

#[test]
fn the_reference_run() {
    let done = Desk::with_example().run(&["run", "examples/incident/run.toml"]);
    insta::assert_snapshot!(done.whole());
}

/// Another call fails, and `tool.failed` stands where it does: nothing about the example is written down but its input.
#[test]
fn another_script_fails_elsewhere() {
    let desk = Desk::with_example();
    desk.write(
        "examples/incident/turns.json",
        r#"{"turns": [
            {"calls": [
                {"id": "a", "name": "lookup_incident", "arguments": {"incident_id": "INC-404"}},
                {"id": "b", "name": "lookup_service_owner", "arguments": {"service_name": "status-page"}}
            ]},
            {"text": "${step-0.call-0#/code}, ${step-0.call-1#/owner}"}
        ]}"#,
    );
    let lines = desk.run(&["run", "examples/incident/run.toml", "--format", "jsonl"]).lines();
    let (result, events) = lines.split_last().unwrap();
    let settled: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| ["tool.finished", "tool.failed"].contains(&event["type"].as_str().unwrap()))
        .map(|event| (event["type"].as_str().unwrap(), event["call_id"].as_str().unwrap().split_once(':').unwrap().1))
        .collect();
    assert_eq!(settled, [("tool.failed", "step-0:call-0"), ("tool.finished", "step-0:call-1")]);
    assert_eq!((events.len(), result["answer"].as_str()), (9, Some("incident_not_found, team-platform")));
}

#[test]
fn the_dispatch() {
    let desk = Desk::with_example();
    let done = desk.run(&["run", "examples/incident/dispatch.toml", "--include", "calls"]);
    insta::assert_snapshot!(done.whole());
    assert_eq!(desk.entered("examples/incident/create_ticket.count"), 0);
}

#[test]
fn the_step_limit() {
    let done = Desk::with_example().run(&["run", "examples/incident/max-steps.toml"]);
    assert_eq!(done.code, Some(4), "{}", done.whole());
    insta::assert_snapshot!(done.whole());
}

/// A run that waits for a decision about its message.
struct Waiting {
    desk: Desk,
    approval: String,
    run: String,
}

impl Waiting {
    fn of(run_file: &str) -> Self {
        let desk = Desk::with_example();
        let done = desk.run(&["run", run_file, "--format", "json"]);
        assert_eq!((done.code, desk.entered(SENT)), (Some(3), 0), "{}", done.whole());
        let result = done.json();
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let call = &result["calls"][1];
        Self { approval: word(&call["approval_id"]), run: word(&result["run_id"]), desk }
    }

    fn decide(&self, word: &str) -> Done {
        self.desk.run(&["approvals", word, &self.approval])
    }

    /// Goes on, and says how the call of the message ended and what was sent.
    fn resume(&self, run_file: &[&str]) -> (Value, usize) {
        let done = self.desk.run(&[&["runs", "resume", &self.run], run_file, &["--format", "json"]].concat());
        assert_eq!(done.code, Some(0), "{}", done.whole());
        let call = &done.json()["calls"][1];
        assert_eq!(call["call_id"], format!("{}:step-1:call-0", self.run), "{}", done.whole());
        (call["code"].clone(), self.desk.entered(SENT))
    }
}

#[test]
fn a_message_waits() {
    let desk = Desk::with_example();
    let done = desk.run(&["run", "examples/incident/notify.toml"]);
    assert_eq!((done.code, desk.entered(SENT)), (Some(3), 0), "{}", done.whole()); // R-236, R-237
    insta::assert_snapshot!(done.whole()); // R-237
}

#[test]
fn a_message_that_was_denied_is_not_sent() {
    let waiting = Waiting::of("examples/incident/notify.toml");
    assert_eq!(waiting.decide("deny").code, Some(0));
    assert_eq!(waiting.resume(&[]), ("approval_denied".into(), 0));
}

#[test]
fn a_message_that_was_approved_is_sent_once() {
    let waiting = Waiting::of("examples/incident/notify.toml");
    assert_eq!(waiting.decide("approve").code, Some(0));
    assert_eq!(waiting.desk.entered(SENT), 0, "approving sent it");
    assert_eq!(waiting.resume(&[]), (Value::Null, 1)); // R-238
    assert_eq!(waiting.resume(&[]), (Value::Null, 1), "resumed twice");
}

#[test]
fn a_message_by_an_altered_tool_is_not_sent() {
    let waiting = Waiting::of("examples/incident/notify.toml");
    assert_eq!(waiting.decide("approve").code, Some(0));
    assert_eq!(waiting.resume(&["examples/incident/notify-altered.toml"]), ("definition_changed".into(), 0));
}

#[test]
fn a_message_that_nobody_decided_in_time_is_not_sent() {
    let waiting = Waiting::of("examples/incident/notify-expires.toml");
    let begun = Instant::now();
    while waiting.desk.run(&["approvals", "show", &waiting.approval, "--format", "json"]).json()["state"] != "expired" {
        assert!(begun.elapsed() < Duration::from_mins(1), "it never expires");
    }
    let late = waiting.decide("approve");
    assert_eq!(late.code, Some(1), "{}", late.whole());
    assert_eq!(waiting.resume(&[]), ("approval_expired".into(), 0));
}
