//! Signals.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Desk, Done};

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the handler was entered: the count file says so.
pub(crate) fn entered(desk: &Desk, count_file: &str) {
    let begun = Instant::now();
    while desk.entered(count_file) == 0 {
        assert!(begun.elapsed() < Duration::from_mins(1), "the handler was never entered");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupt_ends_a_call_whose_effect_is_then_unknown() {
    for name in ["INT", "TERM", "HUP"] {
        let desk = Desk::new();
        let arguments = ["call", "tools.toml", "patient"];
        let child = desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        entered(&desk, "patient.count");
        signal(&child, name);
        let done = Done::of(&arguments, &child.wait_with_output().unwrap());
        assert_eq!(
            (done.code, done.json()["error"]["code"].as_str()),
            (Some(5), Some("interrupted")),
            "{}",
            done.whole()
        );
        let runs = desk.run(&["runs", "list", "--format", "json"]).json();
        assert_eq!(runs[0]["status"], "needs_reconciliation", "{runs}");
    }
}

#[test]
fn an_interrupted_run_says_so() {
    let desk = Desk::new();
    let tools = std::fs::read_to_string(desk.path("tools.toml")).unwrap();
    let model = "task = \"Wait.\"\n[model]\nprovider = \"scripted\"\nscript = \"wait.json\"\n";
    desk.write(
        "wait.toml",
        &format!("{model}{}", tools.replace("effect = \"write\"\npermission = \"allow\"", "effect = \"read\"")),
    );
    desk.write("wait.json", r#"{"turns": [{"calls": [{"id": "p1", "name": "patient", "arguments": {}}]}]}"#);
    let arguments = ["run", "wait.toml", "--format", "json"];
    let child = desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    entered(&desk, "patient.count");
    signal(&child, "INT");
    let done = Done::of(&arguments, &child.wait_with_output().unwrap());
    assert_eq!((done.code, done.json()["status"].as_str()), (Some(130), Some("cancelled")), "{}", done.whole());
}
