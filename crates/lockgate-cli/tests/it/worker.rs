//! `lockgate worker`, `run --enqueue` and `runs show --follow`.

use std::process::{Child, Stdio};

use crate::command::{Desk, Done};

/// An agent whose one tool sleeps the first time, and answers afterwards. What it does may be repeated.
fn slow(desk: &Desk, sleeps: &str) {
    let model = "task = \"Wait.\"\n[model]\nprovider = \"scripted\"\nscript = \"slow.json\"\n";
    let tool = "[[tools.mock]]\nname = \"slow\"\neffect = \"write\"\npermission = \"allow\"\nreplay = \"safe\"\n\
                idempotency = \"declared\"\ncount_file = \"slow.count\"\n";
    let behaviour = format!("behaviour = [{{ sleeps = \"{sleeps}\" }}, {{ returns = \"done\" }}]\n");
    desk.write("slow.toml", &format!("{model}{tool}{behaviour}"));
    desk.write(
        "slow.json",
        r#"{"turns": [{"calls": [{"id": "p1", "name": "slow", "arguments": {}}]}, {"text": "Waited."}]}"#,
    );
}

fn enqueue(desk: &Desk, arguments: &[&str]) -> String {
    let done = desk.run(&[&["run"], arguments, &["--enqueue"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.whole());
    done.stdout.trim().to_owned()
}

fn status(desk: &Desk, run: &str) -> String {
    let runs = desk.run(&["runs", "list", "--format", "json"]).json();
    let found = runs.as_array().unwrap().iter().find(|found| found["run_id"] == run).unwrap();
    found["status"].as_str().unwrap_or("none").to_owned()
}

fn start(desk: &Desk, arguments: &[&str]) -> Child {
    desk.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn it_drives_what_was_enqueued() {
    let desk = Desk::new();
    let run = enqueue(&desk, &["incident.toml"]);
    assert_eq!(status(&desk, &run), "none");
    insta::assert_snapshot!(desk.run(&["worker", "--until-idle"]).whole());
    assert_eq!(status(&desk, &run), "completed");
    let idle = desk.run(&["worker", "--until-idle", "--format", "jsonl"]);
    assert_eq!((idle.code, idle.whole().contains("taken")), (Some(0), false), "{}", idle.whole());
}

#[test]
fn it_goes_on_with_a_run_once_somebody_decided() {
    let desk = Desk::new();
    let run = enqueue(&desk, &["ticket.toml"]);
    let lines = desk.run(&["worker", "--until-idle", "--format", "jsonl"]).lines();
    assert_eq!((lines[0]["type"].as_str(), lines[1]["status"].as_str()), (Some("taken"), Some("waiting_for_approval")));
    // A run that waits is left alone.
    assert_eq!(desk.run(&["worker", "--until-idle", "--format", "jsonl"]).lines().len(), 0);
    let approval = desk.run(&["approvals", "list", "--format", "json"]).json()[0]["approval_id"].clone();
    desk.run(&["approvals", "approve", approval.as_str().unwrap()]);
    let lines = desk.run(&["worker", "--until-idle", "--format", "jsonl"]).lines();
    assert_eq!((lines[1]["run_id"].as_str(), lines[1]["status"].as_str()), (Some(run.as_str()), Some("completed")));
    assert_eq!(desk.entered("create_ticket.count"), 1);
}

#[test]
fn a_run_that_it_cannot_drive_is_left_to_another() {
    let desk = Desk::new();
    let run = enqueue(&desk, &["incident.toml"]);
    let before = desk.run(&["runs", "show", &run, "--all"]).stdout;
    let other = desk.run(&["worker", "ticket.toml", "--until-idle"]);
    assert_eq!(other.code, Some(0), "{}", other.whole());
    assert!(other.stderr.contains("is of a run file that this worker was not given"), "{}", other.whole());
    std::fs::rename(desk.path("incident.toml"), desk.path("moved.toml")).unwrap();
    let gone = desk.run(&["worker", "--until-idle", "--format", "jsonl"]);
    assert_eq!(gone.lines()[0]["type"], "unfit", "{}", gone.whole());
    assert_eq!(desk.run(&["runs", "show", &run, "--all"]).stdout, before, "something was written");
    std::fs::rename(desk.path("moved.toml"), desk.path("incident.toml")).unwrap();
    desk.run(&["worker", "incident.toml", "--until-idle"]);
    assert_eq!(status(&desk, &run), "completed");
}

/// What it cannot drive takes no place from what it can.
#[test]
fn runs_of_a_file_that_is_gone_hold_up_no_others() {
    let desk = Desk::new();
    for _ in 0..12 {
        enqueue(&desk, &["ticket.toml"]);
    }
    let run = enqueue(&desk, &["incident.toml"]);
    std::fs::remove_file(desk.path("ticket.toml")).unwrap();
    let done = desk.run(&["worker", "--until-idle", "--concurrency", "1", "--format", "jsonl"]);
    assert_eq!((done.code, status(&desk, &run).as_str()), (Some(0), "completed"), "{}", done.whole());
}

#[test]
fn what_it_cannot_work_with_is_refused() {
    let desk = Desk::new();
    let usage = |arguments: &[&str], words: &str| {
        let done = desk.run(arguments);
        assert_eq!(done.code, Some(2), "{}", done.whole());
        assert!(done.stderr.contains(words), "{}", done.whole());
    };
    usage(&["run", "incident.toml", "--enqueue", "--journal", "memory:"], "gone with this process");
    usage(&["worker", "--journal", "memory:"], "gone with this process");
    usage(&["worker", "--journal", "sqlite:nowhere.db"], "there is no journal");
    enqueue(&desk, &["incident.toml"]);
    usage(&["worker", "nofile.toml", "--until-idle"], "nofile.toml");
}

#[test]
fn whoever_follows_a_run_sees_it_to_its_end() {
    let desk = Desk::new();
    let run = enqueue(&desk, &["incident.toml"]);
    let arguments = ["runs", "show", run.as_str(), "--follow"];
    let follower = start(&desk, &arguments);
    desk.run(&["worker", "--until-idle"]);
    let watched = Done::of(&arguments, &follower.wait_with_output().unwrap());
    assert_eq!(watched.code, Some(0));
    assert_eq!(watched.stdout, desk.run(&["runs", "show", &run]).stdout);
}

#[cfg(unix)]
mod signals {
    use super::*;
    use crate::interrupts::{entered, signal};

    #[test]
    fn what_a_killed_worker_drove_another_finishes() {
        let desk = Desk::new();
        slow(&desk, "1m");
        let run = enqueue(&desk, &["slow.toml"]);
        let mut first = start(&desk, &["worker"]);
        entered(&desk, "slow.count");
        // The run is the first one's as long as it lives.
        assert_eq!(desk.run(&["worker", "--until-idle", "--format", "jsonl"]).lines().len(), 0);
        first.kill().unwrap();
        first.wait().unwrap();
        let second = desk.run(&["worker", "--until-idle", "--format", "jsonl"]);
        assert_eq!(second.lines()[1]["status"], "completed", "{}", second.whole()); // R-127
        assert_eq!((status(&desk, &run).as_str(), desk.entered("slow.count")), ("completed", 2));
        assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
    }

    #[test]
    fn a_drained_worker_lets_go_between_two_steps() {
        let desk = Desk::new();
        slow(&desk, "1s");
        let run = enqueue(&desk, &["slow.toml"]);
        let arguments = ["worker", "--format", "jsonl"];
        let worker = start(&desk, &arguments);
        entered(&desk, "slow.count");
        signal(&worker, "TERM");
        let drained = Done::of(&arguments, &worker.wait_with_output().unwrap());
        assert_eq!(drained.code, Some(0), "{}", drained.whole());
        assert!(drained.stderr.contains("draining"), "{}", drained.whole());
        // The call has its result, and the model was not asked again.
        assert_eq!((status(&desk, &run).as_str(), drained.lines().len()), ("none", 2));
        let next = desk.run(&["worker", "--until-idle", "--format", "jsonl"]);
        assert_eq!(next.lines()[1]["status"], "completed", "{}", next.whole());
        assert_eq!(desk.entered("slow.count"), 1);
    }

    #[test]
    fn what_takes_too_long_is_broken_off() {
        let desk = Desk::new();
        slow(&desk, "1m");
        let run = enqueue(&desk, &["slow.toml"]);
        let arguments = ["worker", "--patience", "100ms", "--format", "jsonl"];
        let worker = start(&desk, &arguments);
        entered(&desk, "slow.count");
        signal(&worker, "TERM");
        let drained = Done::of(&arguments, &worker.wait_with_output().unwrap());
        assert_eq!((drained.code, drained.lines()[1]["type"].as_str()), (Some(0), Some("broken_off")));
        let next = desk.run(&["worker", "--until-idle", "--format", "jsonl"]);
        // What was under way is recovered as after a crash: it may be repeated.
        assert_eq!(next.lines()[1]["status"], "completed", "{}", next.whole());
        assert_eq!((status(&desk, &run).as_str(), desk.entered("slow.count")), ("completed", 2));
    }
}
