//! `lockgate journal check`.

use crate::command::{Desk, Done};

/// A desk with a complete run, its id, and its export.
fn exported() -> (Desk, String, String) {
    let desk = Desk::new();
    let run = desk.run(&["run", "incident.toml", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let events = desk.run(&["runs", "show", &run, "--all", "--format", "jsonl"]).stdout;
    (desk, run, events)
}

fn check_file(desk: &Desk, text: &str) -> Done {
    desk.write("run.jsonl", text);
    desk.run(&["journal", "check", "--file", "run.jsonl"])
}

#[test]
fn every_run_of_a_journal() {
    let desk = Desk::new();
    for arguments in [&["run", "incident.toml"][..], &["run", "ticket.toml"], &["call", "tools.toml", "slow"]] {
        desk.run(arguments);
    }
    insta::assert_snapshot!(desk.run(&["journal", "check"]).whole());
}

#[test]
fn one_run_by_the_start_of_its_id() {
    let (desk, run, _) = exported();
    desk.run(&["run", "ticket.toml"]);
    let done = desk.run(&["journal", "check", &run[..12], &run, "--format", "json"]);
    assert_eq!((done.code, done.json()["clean"].as_bool()), (Some(0), Some(true)), "{}", done.whole());
    assert_eq!(done.json()["runs"].as_array().unwrap().len(), 1);
    assert_eq!(desk.run(&["journal", "check", "--format", "jsonl"]).stdout, "");
}

#[test]
fn an_export_with_its_result_line() {
    let (desk, _, events) = exported();
    assert!(events.contains("run.result"), "{events}");
    insta::assert_snapshot!(check_file(&desk, &events).whole());
}

#[test]
fn defects_are_named_with_their_events() {
    let (desk, _, events) = exported();
    // A result of another tool, and an event that is missing.
    let broken: String = events
        .lines()
        .filter(|line| !line.contains("\"seq\":10,"))
        .map(|line| if line.contains("\"seq\":6,") { line.replace("lookup_incident", "publish_release") } else { line.to_owned() } + "\n")
        .collect();
    let done = check_file(&desk, &broken);
    insta::assert_snapshot!("defects", done.whole());
    let json = desk.run(&["journal", "check", "--file", "run.jsonl", "--format", "json"]);
    assert_eq!(json.code, Some(1));
    let defect = &json.json()["runs"][0]["defects"][0];
    assert_eq!(defect["invariant"], "placement", "{}", json.whole());
    assert_eq!(defect["seqs"], serde_json::json!([3, 6]));
    assert_eq!(defect["requirements"], serde_json::json!(["R-215", "R-219", "R-230"]));
    let lines = desk.run(&["journal", "check", "--file", "run.jsonl", "--format", "jsonl"]).lines();
    assert_eq!(lines.len(), json.json()["runs"][0]["defects"].as_array().unwrap().len());
    assert!(lines[0]["run_id"].as_str().unwrap().starts_with("run-"));
}

#[test]
fn a_line_that_was_cut_off() {
    let (desk, _, events) = exported();
    let whole: Vec<&str> = events.lines().collect();
    let cut = format!("{}\n{}", whole[..5].join("\n"), &whole[5][..40]);
    insta::assert_snapshot!(check_file(&desk, &cut).whole());
}

#[test]
fn what_cannot_be_read_is_no_verdict() {
    let desk = Desk::new();
    insta::assert_snapshot!("no_file", desk.run(&["journal", "check", "--file", "nowhere.jsonl"]).whole());
    insta::assert_snapshot!("no_journal", desk.run(&["journal", "check"]).whole());
    for arguments in [
        &["journal", "check", "run-1", "--file", "x"][..],
        &["journal", "check", "--file", "x", "--journal", "memory:"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(2));
    }
    assert!(!desk.path(".lockgate").exists(), "looking made a journal");
}

#[test]
fn its_help() {
    insta::assert_snapshot!(Desk::new().run(&["journal", "check", "--help"]).whole());
}
