//! `lockgate runs resume`.

use std::process::Stdio;

use crate::command::{Desk, Done};

#[test]
fn a_waiting_run_still_waits() {
    let desk = Desk::new();
    desk.run(&["run", "ticket.toml"]);
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    let resumed = desk.run(&["runs", "resume", &run]);
    assert_eq!(resumed.code, Some(3), "{}", resumed.whole());
    assert!(resumed.stderr.contains("lockgate approvals approve apr-"), "{}", resumed.stderr);
}

#[test]
fn a_run_that_has_ended_prints_its_result_and_needs_no_run_file() {
    let desk = Desk::new();
    let first = desk.run(&["run", "incident.toml"]);
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    let before = desk.run(&["runs", "show", &run, "--all"]);
    std::fs::remove_file(desk.path("incident.toml")).unwrap();
    let resumed = desk.run(&["runs", "resume", &run]);
    assert_eq!((resumed.code, &resumed.stdout), (Some(0), &first.stdout));
    assert_eq!(desk.run(&["runs", "show", &run, "--all"]).stdout, before.stdout, "something was run");
}

#[test]
fn a_larger_budget_lets_a_run_go_on() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(desk.path("incident.toml")).unwrap();
    desk.write("incident.toml", &format!("{text}\n[budget]\nmax_steps = 2\n"));
    assert_eq!(desk.run(&["run", "incident.toml"]).code, Some(4));
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    let same = desk.run(&["runs", "resume", &run, "--format", "json"]);
    assert_eq!((same.code, same.json()["reason"].as_str()), (Some(4), Some("max_steps")));
    let resumed = desk.run(&["runs", "resume", &run, "--budget", "max_steps=40", "--format", "jsonl"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.whole());
    let lines = resumed.lines();
    let numbers: Vec<u64> = lines[..lines.len() - 1].iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=13).collect::<Vec<_>>(), "the whole protocol view is printed, under its own numbers");
}

#[test]
fn a_run_whose_file_is_gone_asks_for_one() {
    let desk = Desk::new();
    desk.run(&["run", "ticket.toml"]);
    let approval = desk.run(&["approvals", "list", "--format", "json"]).json()[0].clone();
    desk.run(&["approvals", "approve", approval["approval_id"].as_str().unwrap()]);
    std::fs::rename(desk.path("ticket.toml"), desk.path("moved.toml")).unwrap();
    let run = approval["run_id"].as_str().unwrap();
    insta::assert_snapshot!(desk.run(&["runs", "resume", run]).whole().replace(run, "RUN"));
    let resumed = desk.run(&["runs", "resume", run, "moved.toml"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.whole());
}

/// One approved state that several processes resume at once is executed once (R-172, R-173).
#[test]
fn resumed_from_several_processes_at_once_it_runs_once() {
    let desk = Desk::new();
    for round in 1..=5 {
        desk.run(&["run", "ticket.toml"]);
        let approval = desk.run(&["approvals", "list", "--state", "pending", "--format", "json"]).json()[0].clone();
        desk.run(&["approvals", "approve", approval["approval_id"].as_str().unwrap()]);
        let resume = ["runs", "resume", approval["run_id"].as_str().unwrap(), "--format", "json"];
        let started: Vec<_> = (0..4)
            .map(|_| desk.command(&resume).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
            .collect();
        for process in started {
            let done = Done::of(&resume, &process.wait_with_output().unwrap());
            // Done, or told that somebody else is at it.
            assert!(matches!(done.code, Some(0 | 2)), "{}", done.whole());
        }
        assert_eq!(desk.entered("create_ticket.count"), round);
        assert_eq!(desk.run(&resume).code, Some(0));
    }
    assert_eq!(desk.entered("create_ticket.count"), 5);
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

#[test]
fn a_direct_call_that_waits_is_sent_again_instead() {
    let desk = Desk::new();
    desk.run(&["call", "ticket.toml", "create_ticket", r#"{"title": "a"}"#]);
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(desk.run(&["runs", "resume", &run]).whole());
}
