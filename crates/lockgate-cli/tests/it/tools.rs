//! `lockgate tools`, `schema`, `doctor` and `completions`.

use crate::command::Desk;

#[test]
fn what_the_subject_sees() {
    insta::assert_snapshot!(Desk::new().run(&["tools", "list", "incident.toml"]).whole());
}

#[test]
fn what_the_subject_sees_as_json() {
    insta::assert_snapshot!(Desk::new().run(&["tools", "list", "incident.toml", "--format", "json"]).whole());
}

#[test]
fn why_there_is_nothing_to_see() {
    let desk = Desk::new();
    desk.write("none.toml", "task = \"x\"\n");
    insta::assert_snapshot!("nothing_registered", desk.run(&["tools", "list", "none.toml"]).whole());
    desk.write(
        "hidden.toml",
        &std::fs::read_to_string(desk.path("incident.toml"))
            .unwrap()
            .replace(
                "[[tools.mock]]\nname = \"lookup_service_owner\"",
                "[[tools.mock]]\nscopes = [\"x\"]\nname = \"lookup_service_owner\"",
            )
            .replace("scopes = [\"incident:read\"]\n\n", "scopes = []\n\n"),
    );
    insta::assert_snapshot!("nothing_visible", desk.run(&["tools", "list", "hidden.toml"]).whole());
}

#[test]
fn both_views_of_a_tool() {
    insta::assert_snapshot!(Desk::new().run(&["tools", "describe", "incident.toml", "lookup_incident"]).whole());
}

#[test]
fn the_models_view_has_nothing_of_the_inside() {
    let desk = Desk::new();
    let model = desk.run(&["tools", "describe", "incident.toml", "--view", "model", "--format", "json"]).json();
    let keys: Vec<&String> = model[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "description", "input_schema"]);
    let both = desk.run(&["tools", "describe", "incident.toml", "--format", "json"]).json();
    assert_eq!(both["model"], model);
}

#[test]
fn a_mistyped_tool() {
    insta::assert_snapshot!(Desk::new().run(&["tools", "describe", "incident.toml", "lookup_incidnet"]).whole());
}

#[test]
fn looking_at_tools_makes_no_journal() {
    let desk = Desk::new();
    desk.run(&["tools", "list", "incident.toml"]);
    desk.run(&["doctor", "incident.toml"]);
    assert!(!desk.path(".lockgate").exists());
}

#[test]
fn schemas_are_json() {
    let desk = Desk::new();
    let run_file = desk.run(&["schema", "run-file"]).json();
    assert!(run_file["properties"].get("tools").is_some());
    let event = desk.run(&["schema", "event"]).json();
    let types = event["properties"]["type"]["anyOf"][0]["enum"].as_array().unwrap().clone();
    assert!(types.contains(&"tool.finished".into()));
    for line in desk.run(&["run", "incident.toml", "--format", "jsonl", "--all"]).lines() {
        assert!(types.contains(&line["type"]) || line["type"] == "run.result", "{line}");
    }
}

#[test]
fn doctor_says_what_is_missing() {
    let desk = Desk::new();
    let before = desk.run(&["doctor", "incident.toml"]);
    assert_eq!(before.code, Some(0), "{}", before.whole());
    assert!(before.stdout.contains("warn  journal "), "{}", before.stdout);
    desk.run(&["run", "incident.toml"]);
    let checks = desk.run(&["doctor", "incident.toml", "--format", "json"]).json();
    assert!(checks.as_array().unwrap().iter().all(|check| check["verdict"] == "ok"), "{checks}");
    std::fs::remove_file(desk.path("incident.json")).unwrap();
    desk.write(
        "broken.db",
        "this is no database, whatever its name says; it is long enough to be looked at, and more than that",
    );
    let after = desk.run(&["doctor", "incident.toml", "--journal", "sqlite:broken.db", "--format", "json"]);
    assert_eq!(after.code, Some(1), "{}", after.whole());
    let failed: Vec<String> = after
        .json()
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["verdict"] == "fail")
        .map(|check| check["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(failed, ["model", "journal"]);
}

#[test]
fn completions_know_the_commands() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = desk.run(&["completions", shell]);
        assert!(script.code == Some(0) && script.stdout.contains("approvals"), "{shell}");
    }
}
