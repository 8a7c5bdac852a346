//! `lockgate run`.

use std::process::Stdio;

use crate::command::Desk;

#[test]
fn the_reference_run_for_people() {
    insta::assert_snapshot!(Desk::new().run(&["run", "incident.toml"]).whole());
}

#[test]
fn the_reference_run_with_every_record() {
    insta::assert_snapshot!(Desk::new().run(&["run", "incident.toml", "--all"]).whole());
}

#[test]
fn the_reference_run_as_one_object() {
    insta::assert_snapshot!(Desk::new().run(&["run", "incident.toml", "--format", "json"]).whole());
}

#[test]
fn the_reference_run_as_lines() {
    insta::assert_snapshot!(Desk::new().run(&["run", "incident.toml", "--format", "jsonl"]).whole());
}

/// R-213: thirteen events, in this order.
#[test]
fn the_protocol_view_has_thirteen_events_under_its_own_numbers() {
    let done = Desk::new().run(&["run", "incident.toml", "--format", "jsonl"]);
    let lines = done.lines();
    let (result, events) = lines.split_last().unwrap();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "model.requested",
        "model.responded",
        "tool.requested",
        "tool.finished",
        "tool.requested",
        "tool.finished",
        "model.requested",
        "model.responded",
        "tool.requested",
        "tool.failed",
        "model.requested",
        "model.responded",
        "run.completed",
    ];
    assert_eq!(types, expected);
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=13).collect::<Vec<_>>());
    assert_eq!(result["type"], "run.result");
    assert_eq!(result["status"], "completed");
}

#[test]
fn every_record_keeps_the_journals_number() {
    let done = Desk::new().run(&["run", "incident.toml", "--format", "jsonl", "--all"]);
    let lines = done.lines();
    let (_, events) = lines.split_last().unwrap();
    assert_eq!(events[0]["type"], "run.started");
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert!(events.len() > 13);
}

#[test]
fn the_one_object_holds_what_is_asked_for() {
    let desk = Desk::new();
    let plain = desk.run(&["run", "incident.toml", "--format", "json"]).json();
    assert!(plain.get("events").is_none() && plain.get("model_messages").is_none());
    let more = desk.run(&["run", "incident.toml", "--format", "json", "--include", "messages,events"]).json();
    assert_eq!(more["events"].as_array().unwrap().len(), 13);
    let roles: Vec<&str> =
        more["model_messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]);
}

#[test]
fn a_waiting_run_says_what_to_do() {
    let desk = Desk::new();
    let done = desk.run(&["run", "ticket.toml"]);
    insta::assert_snapshot!(done.whole());
    assert_eq!(desk.entered("create_ticket.count"), 0);
}

#[test]
fn the_commands_that_go_on_name_the_journal() {
    let done = Desk::new().run(&["run", "ticket.toml", "--journal", "sqlite:other place.db"]);
    assert!(done.stderr.contains("--journal 'sqlite:other place.db'"), "{}", done.stderr);
}

#[test]
fn a_run_in_memory_cannot_be_taken_up_again() {
    let done = Desk::new().run(&["run", "ticket.toml", "--journal", "memory:"]);
    assert_eq!(done.code, Some(3), "{}", done.whole());
    let expected = "the journal was in memory, so this cannot be taken up again; `--journal sqlite:PATH` keeps it\n";
    assert_eq!(done.stderr, expected);
}

#[test]
fn colour_only_where_it_is_wanted() {
    let desk = Desk::new();
    assert!(!desk.run(&["run", "incident.toml"]).stdout.contains('\u{1b}'));
    assert!(desk.run(&["run", "incident.toml", "--color", "always"]).stdout.contains('\u{1b}'));
    let refused = desk.command(&["run", "incident.toml"]).env("NO_COLOR", "1").output().unwrap();
    assert!(!refused.stdout.contains(&0x1b));
}

#[test]
fn progress_stays_off_stdout() {
    let done = Desk::new().run(&["run", "incident.toml", "--progress", "always"]);
    assert!(done.stderr.contains("asking the model") && !done.stdout.contains("asking the model"));
    assert!(done.stderr.ends_with("\r\u{1b}[2K"), "{:?}", done.stderr);
}

/// A reader who goes away breaks nothing: the run goes on to its end, and its code says how it ended.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let desk = Desk::new();
    let mut child = desk
        .command(&["run", "incident.toml", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    assert_eq!(desk.run(&["runs", "list", "--format", "json"]).json()[0]["status"], "completed");
}

#[test]
fn each_stop_state_has_its_code() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(desk.path("incident.toml")).unwrap();
    desk.write("short.toml", &format!("{text}\n[budget]\nmax_steps = 2\n"));
    let limited = desk.run(&["run", "short.toml"]);
    assert_eq!(limited.code, Some(4), "{}", limited.whole());
    assert!(limited.stderr.contains("--budget max_steps=4"), "{}", limited.stderr);
    desk.write("incident.json", r#"{"turns": []}"#);
    let failed = desk.run(&["run", "incident.toml", "--format", "json"]);
    assert_eq!(
        (failed.code, failed.json()["reason"].as_str()),
        (Some(6), Some("script_exhausted")),
        "{}",
        failed.whole()
    );
}

#[test]
fn an_unknown_effect_needs_reconciliation() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
    let text = text.replace("effect = \"write\"", "effect = \"write\"\npermission = \"allow\"\ntimeout = \"50ms\"");
    desk.write("ticket.toml", &text.replace("{ returns = { id = \"T-1\" } }", "{ sleeps = \"30s\", returns = {} }"));
    insta::assert_snapshot!(desk.run(&["run", "ticket.toml"]).whole());
}
