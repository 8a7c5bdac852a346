//! `lockgate runs list` and `show`.

use crate::command::Desk;

#[test]
fn listed_newest_first() {
    let desk = Desk::new();
    desk.run(&["run", "ticket.toml"]);
    desk.run(&["run", "incident.toml"]);
    desk.run(&["call", "tools.toml", "echo"]);
    insta::assert_snapshot!(desk.run(&["runs", "list"]).whole());
    let waiting = desk.run(&["runs", "list", "--status", "waiting_for_approval", "--format", "jsonl"]).lines();
    assert_eq!((waiting.len(), waiting[0]["title"].as_str()), (1, Some("Open a ticket for INC-001.")));
}

#[test]
fn shown_by_the_start_of_its_id() {
    let desk = Desk::new();
    let ran = desk.run(&["run", "incident.toml"]);
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    let shown = desk.run(&["runs", "show", &run[4..10]]);
    assert_eq!((shown.code, &shown.stdout), (Some(0), &ran.stdout));
    let json = desk.run(&["runs", "show", &run, "--format", "json"]).json();
    assert_eq!((json["events"].as_array().unwrap().len(), json["status"].as_str()), (13, Some("completed")));
}

#[test]
fn a_missing_run() {
    let desk = Desk::new();
    desk.run(&["run", "incident.toml"]);
    insta::assert_snapshot!(desk.run(&["runs", "show", "run-nowhere"]).whole());
}

#[test]
fn looking_makes_no_journal() {
    let desk = Desk::new();
    let listed = desk.run(&["runs", "list", "--format", "json"]);
    insta::assert_snapshot!("no_journal_yet", listed.whole());
    insta::assert_snapshot!("no_journal_to_show", desk.run(&["runs", "show", "run-1"]).whole());
    assert!(!desk.path(".lockgate").exists());
}
