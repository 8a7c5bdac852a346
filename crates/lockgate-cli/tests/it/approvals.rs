//! `lockgate approvals`.

use crate::command::Desk;

/// A desk with one waiting run, and the id of its approval.
fn waiting() -> (Desk, String) {
    let desk = Desk::new();
    let result = desk.run(&["run", "ticket.toml", "--format", "json"]);
    assert_eq!(result.code, Some(3), "{}", result.whole());
    let id = result.json()["calls"][0]["approval_id"].as_str().unwrap().to_owned();
    (desk, id)
}

#[test]
fn listed_and_shown() {
    let (desk, id) = waiting();
    insta::assert_snapshot!("listed", desk.run(&["approvals", "list"]).whole());
    let shown = desk.run(&["approvals", "show", &id]);
    insta::assert_snapshot!("shown", shown.whole().replace(&id, "ID"));
}

#[test]
fn as_json_with_every_digit() {
    let (desk, id) = waiting();
    let done = desk.run(&["approvals", "show", &id, "--format", "json"]);
    assert!(
        done.stdout.contains(r#""arguments":{"title":"auth-api is slow","amount":9007199254740993.10}"#),
        "{}",
        done.stdout
    );
    let approval = done.json();
    let documented = [
        "approval_id",
        "run_id",
        "call_id",
        "tool_name",
        "tool_version",
        "arguments",
        "effect",
        "shown_text",
        "digest",
        "requested_at",
        "expires_at",
        "state",
        "decided_by",
    ];
    for key in documented {
        assert!(approval.get(key).is_some(), "`{key}` is missing: {approval}");
    }
    assert_eq!(desk.run(&["approvals", "list", "--format", "json"]).json()[0], approval);
}

#[test]
fn approved_by_the_start_of_its_id_and_resumed() {
    let (desk, id) = waiting();
    let approved = desk.run(&["approvals", "approve", &id[..10], "--reason", "it is slow"]);
    insta::assert_snapshot!("approved", approved.whole().replace(&id[..10], "ID"));
    assert_eq!(desk.entered("create_ticket.count"), 0, "approving ran the call");
    let record = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!((record["state"].as_str(), record["decided_by"].as_str()), (Some("granted"), Some("alice")));
    let resumed = desk.run(&["runs", "resume", record["run_id"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(
        (resumed.code, resumed.json()["answer"].as_str()),
        (Some(0), Some("Ticket T-1 is open.")),
        "{}",
        resumed.whole()
    );
    assert_eq!(desk.entered("create_ticket.count"), 1);
}

#[test]
fn a_decision_is_taken_once() {
    let (desk, id) = waiting();
    assert_eq!(desk.run(&["approvals", "deny", &id]).code, Some(0));
    let again = desk.run(&["approvals", "approve", &id]);
    insta::assert_snapshot!(again.whole().replace(&id, "ID"));
}

#[test]
fn a_decision_about_something_else_is_not_taken() {
    let (desk, id) = waiting();
    let digest = format!("sha256:{}", "0".repeat(64));
    let done = desk.run(&["approvals", "approve", &id, "--digest", &digest]);
    assert_eq!(done.code, Some(1), "{}", done.whole());
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
}

#[test]
fn only_those_in_a_state() {
    let (desk, id) = waiting();
    assert_eq!(desk.run(&["approvals", "list", "--state", "pending", "--format", "jsonl"]).lines().len(), 1);
    desk.run(&["approvals", "withdraw", &id]);
    assert_eq!(
        desk.run(&["approvals", "list", "--state", "pending", "--format", "json"]).json(),
        serde_json::json!([])
    );
    assert_eq!(desk.run(&["approvals", "list", "--state", "withdrawn", "--format", "jsonl"]).lines().len(), 1);
}

#[test]
fn a_denied_call_is_settled_when_its_run_is_resumed() {
    let (desk, id) = waiting();
    desk.run(&["approvals", "deny", &id]);
    let run = desk.run(&["approvals", "show", &id, "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    desk.write("ticket.json", r#"{"turns": [{"calls": []}, {"text": "Denied."}]}"#);
    let resumed = desk.run(&["runs", "resume", &run, "--format", "json"]);
    assert_eq!(resumed.json()["calls"][0]["code"], "approval_denied", "{}", resumed.whole());
    assert_eq!(desk.entered("create_ticket.count"), 0);
}

#[test]
fn nobody_decides_without_a_name() {
    let (desk, id) = waiting();
    let empty = desk.run(&["approvals", "approve", &id, "--by", " "]);
    insta::assert_snapshot!("an_empty_name", empty.whole().replace(&id, "ID"));
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
    // A container often has no name for its user; the user's number is one.
    let mut unnamed = desk.command(&["approvals", "approve", &id]);
    unnamed.env_remove("USER").env_remove("LOGNAME");
    assert!(unnamed.output().unwrap().status.success());
    let approval = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert!(approval["decided_by"].as_str().unwrap().starts_with("uid:"), "{approval}");
}

/// The user of this process, as the system says.
#[cfg(unix)]
fn me() -> String {
    said_by_id("-un")
}

#[cfg(unix)]
fn said_by_id(option: &str) -> String {
    let asked = std::process::Command::new("id").arg(option).output().unwrap();
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}

/// A desk whose one waiting question is asked under this table of the run file, and its id.
#[cfg(unix)]
fn waiting_under(tables: &str) -> (Desk, String) {
    let desk = Desk::new();
    let file = lockgate::host::files::read_to_string(&desk.path("ticket.toml")).unwrap();
    desk.write("ticket.toml", &file.replace("[approvals]\nexpires = \"1h\"\n", tables));
    let result = desk.run(&["run", "ticket.toml", "--format", "json"]);
    assert_eq!(result.code, Some(3), "{}", result.whole());
    let id = result.json()["calls"][0]["approval_id"].as_str().unwrap().to_owned();
    (desk, id)
}

/// Whether this process has the numbers of users that the system has; in a container it may have others.
#[cfg(unix)]
fn has_the_systems_users() -> bool {
    let map = lockgate::host::files::read_to_string(std::path::Path::new("/proc/self/uid_map"));
    map.is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

/// Who is somebody else in a user namespace of his own is nobody here.
#[cfg(target_os = "linux")]
#[test]
fn a_borrowed_number_proves_nothing() {
    let me = me();
    let (desk, id) = waiting_under(&format!(
        "[approvals]\napprovers = {{ roles = [\"finance\"] }}\npeople = {{ \"{me}\" = [\"finance\"] }}\n"
    ));
    let approve = |by: &[&str]| {
        std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", env!("CARGO_BIN_EXE_lockgate"), "approvals", "approve", &id])
            .args(by)
            .current_dir(desk.path(""))
            .output()
    };
    let may = std::process::Command::new("unshare").args(["--user", "--map-root-user", "true"]).output();
    if !may.is_ok_and(|done| done.status.success()) {
        // There are no user namespaces here.
        return;
    }
    for by in [&[][..], &["--by", &me]] {
        let done = approve(by).unwrap();
        assert!(!done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
    let record = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!(record["state"], "pending", "{record}"); // R-167
}

#[cfg(unix)]
#[test]
fn several_people() {
    if !has_the_systems_users() {
        return;
    }
    let me = me();
    let (desk, id) = waiting_under(&format!(
        "[approvals]\napprovers = {{ roles = [\"finance\"], count = 2 }}\n\
         people = {{ \"{me}\" = [\"finance\"], bob = [\"finance\"] }}\n"
    ));
    let shown = |whole: String| whole.replace(&id, "ID").replace(&me, "ME");
    // A name that is only said is no proof, and neither is the environment's.
    insta::assert_snapshot!(
        "a_name_is_no_proof",
        shown(desk.run(&["approvals", "approve", &id, "--by", "bob"]).whole())
    );
    insta::assert_snapshot!("one_of_two", shown(desk.run(&["approvals", "approve", &id, "--reason", "fine"]).whole()));
    assert_eq!(desk.run(&["approvals", "approve", &id]).code, Some(1));
    insta::assert_snapshot!("shown_with_a_yes", shown(desk.run(&["approvals", "show", &id]).whole()));
    let record = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!(record["yeses"][0]["proof"], "os_user", "{record}");
    let run = record["run_id"].as_str().unwrap();
    assert_eq!(desk.run(&["runs", "resume", run]).code, Some(3));
    assert_eq!(desk.entered("create_ticket.count"), 0);
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

/// Who has a login and a number is one person (R-167, four eyes).
#[cfg(unix)]
#[test]
fn one_user_is_one_person() {
    if !has_the_systems_users() {
        return;
    }
    let (me, number) = (me(), format!("uid:{}", said_by_id("-u")));
    let (desk, id) = waiting_under(&format!(
        "[approvals]\napprovers = {{ roles = [\"finance\"], count = 2 }}\n\
         people = {{ \"{me}\" = [\"finance\"], \"{number}\" = [\"finance\"] }}\n"
    ));
    assert_eq!(desk.run(&["approvals", "approve", &id, "--by", &me]).code, Some(0));
    let refused = desk.run(&["approvals", "approve", &id, "--by", &number]);
    assert_eq!(refused.code, Some(1), "{}", refused.whole());
    assert!(refused.stderr.contains("they did not prove who they are"), "{}", refused.whole());
    let record = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!((&record["state"], record["yeses"].as_array().unwrap().len()), (&"pending".into(), 1), "{record}");
}

#[cfg(unix)]
#[test]
fn who_has_no_role_in_the_runs_file_decides_nothing() {
    if !has_the_systems_users() {
        return;
    }
    let (desk, id) =
        waiting_under("[approvals]\napprovers = { roles = [\"finance\"] }\npeople = { bob = [\"finance\"] }\n");
    let refused = desk.run(&["approvals", "approve", &id]).whole();
    insta::assert_snapshot!("no_role", refused.replace(&id, "ID").replace(&format!("`{}`", me()), "`ME`"));
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
}

/// Approved for one place and run on another (S-37).
#[test]
fn a_yes_for_one_environment_is_none_in_another() {
    let desk = Desk::new();
    let file = lockgate::host::files::read_to_string(&desk.path("ticket.toml")).unwrap();
    let in_environment = |name: &str| desk.write("ticket.toml", &format!("{file}\n[gate]\nenvironment = \"{name}\"\n"));
    in_environment("staging");
    let asked = desk.run(&["run", "ticket.toml", "--format", "json"]).json();
    let id = asked["calls"][0]["approval_id"].as_str().unwrap();
    let shown = desk.run(&["approvals", "show", id]);
    assert!(shown.stdout.contains("with effect write in environment staging\n"), "{}", shown.whole());
    assert_eq!(desk.run(&["approvals", "approve", id]).code, Some(0));
    in_environment("production");
    let resumed = desk.run(&["runs", "resume", asked["run_id"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(resumed.json()["calls"][0]["code"], "approval_stale", "{}", resumed.whole());
    assert_eq!(desk.entered("create_ticket.count"), 0); // R-173
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

#[test]
fn an_edit_is_what_runs() {
    let (desk, id) = waiting();
    desk.write("edit.json", "{\"title\": \"auth-api is down\", \"amount\": 9007199254740993.10}\n");
    for edit in ["{\"amount\": 1}", "[]", "{"] {
        let refused = desk.run_with_input(&["approvals", "approve", &id, "--edit", "-"], edit.as_bytes());
        assert!(matches!(refused.code, Some(1 | 2)), "{}", refused.whole());
    }
    let edited = desk.run(&["approvals", "approve", &id, "--edit", "edit.json"]);
    insta::assert_snapshot!("edited", edited.whole().replace(&id, "ID"));
    let all = desk.run(&["approvals", "list", "--format", "json"]).json();
    assert_eq!((&all[0]["state"], &all[1]["state"]), (&"withdrawn".into(), &"granted".into()));
    let new = all[1]["approval_id"].as_str().unwrap();
    insta::assert_snapshot!("shown_after_an_edit", desk.run(&["approvals", "show", new]).whole());
    // The model is told beside the data that its arguments were edited.
    let script = lockgate::host::files::read_to_string(&desk.path("ticket.json")).unwrap();
    desk.write("ticket.json", &script.replace("#/id", "#/data/id"));
    let resumed = desk.run(&["runs", "resume", all[0]["run_id"].as_str().unwrap(), "--format", "json"]);
    desk.write("ticket.json", &script);
    assert_eq!((resumed.code, desk.entered("create_ticket.count")), (Some(0), 1), "{}", resumed.whole());
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
    // The next question shows what is different from what was approved last.
    let again = desk.run(&["run", "ticket.toml", "--format", "json"]).json();
    let next = again["calls"][0]["approval_id"].as_str().unwrap();
    insta::assert_snapshot!("shown_beside_the_last", desk.run(&["approvals", "show", next]).whole());
}

#[cfg(unix)]
#[test]
fn somebody_is_told() {
    let (desk, id) =
        waiting_under("[[notify]]\ncommand = [\"/bin/sh\", \"-c\", \"cat >> told.jsonl; echo >> told.jsonl\"]\n");
    assert_eq!(desk.run(&["approvals", "remind", "ticket.toml", "--after", "1h"]).stdout, "");
    assert_eq!(desk.run(&["approvals", "remind", "ticket.toml"]).stdout, format!("{id}\n"));
    desk.run(&["approvals", "deny", &id]);
    let told = lockgate::host::files::read_to_string(&desk.path("told.jsonl")).unwrap();
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = told.iter().map(|told| told["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["approval.requested", "approval.reminder", "approval.decided"]);
    assert!(told.iter().all(|told| told["approval_id"] == id && told.get("arguments").is_none()), "{told:?}");
    assert_eq!((&told[2]["state"], &told[2]["decided_by"]), (&"denied".into(), &"alice".into()));
}

#[cfg(unix)]
#[test]
fn a_run_that_cannot_be_read_keeps_back_no_other_reminder() {
    let (desk, broken) =
        waiting_under("[[notify]]\ncommand = [\"/bin/sh\", \"-c\", \"cat >> told.jsonl; echo >> told.jsonl\"]\n");
    let good = desk.run(&["run", "ticket.toml", "--format", "json"]).json()["calls"][0]["approval_id"].clone();
    let record = desk.run(&["approvals", "show", &broken, "--format", "json"]).json();
    let file = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    file.execute_batch("DROP TRIGGER event_is_never_rewritten").unwrap();
    let altered = file.execute(
        "UPDATE event SET data = '{' WHERE run = (SELECT place FROM run WHERE run_id = ?1)",
        [record["run_id"].as_str().unwrap()],
    );
    assert!(altered.unwrap() > 0);
    drop(file);
    let done = desk.run(&["approvals", "remind", "ticket.toml"]);
    assert_eq!((done.code, done.stdout.trim()), (Some(1), good.as_str().unwrap()), "{}", done.whole());
    assert!(done.stderr.contains(&format!("nobody was told of approval `{broken}`: ")), "{}", done.whole());
    let told = lockgate::host::files::read_to_string(&desk.path("told.jsonl")).unwrap();
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of: Vec<_> =
        told.iter().filter(|told| told["type"] == "approval.reminder").map(|told| &told["approval_id"]).collect();
    assert_eq!(of, [&good]);
}

#[cfg(unix)]
#[test]
fn who_cannot_be_told_is_a_mistake_of_the_run_file() {
    let desk = Desk::new();
    let file = lockgate::host::files::read_to_string(&desk.path("ticket.toml")).unwrap();
    for (table, word) in [
        ("webhook = \"https://hooks.example/\"", "secret_env"),
        ("webhook = \"https://hooks.example/\"\nsecret_env = \"S\"\ncommand = [\"x\"]", "one of"),
        ("", "one of"),
        ("command = []", "one of"),
        ("url = \"https://hooks.example/\"", "url"),
    ] {
        desk.write("ticket.toml", &format!("{file}\n[[notify]]\n{table}\n"));
        let refused = desk.run(&["run", "ticket.toml"]);
        assert!(refused.code == Some(2) && refused.stderr.contains(word), "{}", refused.whole());
    }
    desk.write(
        "ticket.toml",
        &format!("{file}\n[[notify]]\nwebhook = \"http://hooks.example/\"\nsecret_env = \"HOOK\"\n"),
    );
    let mut command = desk.command(&["run", "ticket.toml"]);
    command.env("HOOK", "a-secret-of-hooks");
    let output = command.output().unwrap();
    assert!(!output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("a-secret-of-hooks"));
}
