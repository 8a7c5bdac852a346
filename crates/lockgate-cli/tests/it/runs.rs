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
fn code_in_place_of_a_call_is_shown_afterwards() {
    let desk = Desk::new();
    desk.write(
        "turns.json",
        r#"{"turns": [
            {"calls": [{"id": "p1", "name": "python", "code": "for n in range(3):\n    print(n)"}]},
            {"calls": [{"id": "p2", "name": "echo", "arguments": {"n": 1}}]},
            {"text": "Done."}]}"#,
    );
    let task = "task = 'count'\n[model]\nprovider = 'scripted'\nscript = 'turns.json'\n";
    let echo = "[[tools.mock]]\nname = 'echo'\neffect = 'read'\nbehaviour = [{ echoes = true }]\n";
    desk.write("code.toml", &format!("{task}{echo}"));
    let ran = desk.run(&["run", "code.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.whole()); // R-105
    let run = desk.run(&["runs", "list", "--format", "json"]).json()[0]["run_id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(desk.run(&["runs", "show", &run]).whole()); // R-105
    let json = desk.run(&["runs", "show", &run, "--include", "calls", "--format", "json"]).json();
    let codes: Vec<_> = json["calls"].as_array().unwrap().iter().map(|call| call["code"].as_str()).collect();
    assert_eq!(codes, [Some("wrong_action_language"), None]); // R-096, R-105
    let asked = &json["events"].as_array().unwrap()[2]["data"];
    assert_eq!((asked["language"].as_str(), asked["tool_name"].as_str()), (Some("code"), Some("python"))); // R-106
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
