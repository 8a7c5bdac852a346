//! A secret in the environment of the command leaves by no door of it: not on a terminal, not in a log, not in a byte of the
//! journal's files, not in an export.

use std::path::Path;
use std::process::Stdio;

use crate::command::{Desk, Done};
#[cfg(unix)]
use crate::interrupts::{entered, signal};

const SECRET: &str = "cor\"rect/Horse 77";

/// How it looks in JSON, once and twice, and in a URL.
const FORMS: [&str; 4] = [SECRET, r#"cor\"rect/Horse 77"#, r#"cor\\\"rect/Horse 77"#, "cor%22rect%2FHorse%2077"];

fn gone(place: &str, bytes: &[u8]) {
    for form in FORMS {
        let found = bytes.windows(form.len()).any(|part| part == form.as_bytes());
        assert!(!found, "`{form}` leaves by {place}: {}", String::from_utf8_lossy(bytes));
    }
}

/// A run file whose tools say what they were given, fail with it, panic with it, and say too much of it.
fn desk() -> Desk {
    let desk = Desk::new();
    let quoted = serde_json::to_string(SECRET).unwrap();
    let tool = |name: &str, effect: &str, behaviour: &str| {
        format!(
            "[[tools.mock]]\nname = \"{name}\"\nversion = \"1.0\"\ndescription = \"Does it.\"\neffect = \"{effect}\"\n\
             count_file = \"{name}.count\"\ninput_schema = {{ type = \"object\" }}\nbehaviour = [{behaviour}]\n"
        )
    };
    let tools = [
        tool("echo", "read", "{ echoes = true }"),
        tool("refuse", "read", &format!("{{ fails = {{ code = \"no\", message = {quoted} }} }}")),
        tool("panic", "read", &format!("{{ panics = {quoted} }}")),
        tool("error", "read", &format!("{{ errors = {quoted} }}")),
        tool("down", "read", &format!("{{ environment_error = {quoted} }}")),
        tool("raw", "read", &format!("{{ returns_raw = {quoted} }}")),
        tool("much", "read", &format!("{{ returns_text = {quoted}, repeat = 9000 }}")),
        tool("ask", "write", "{ echoes = true }"),
        tool("patient", "write\"\npermission = \"allow", "{ sleeps = \"30s\", returns = {} }"),
    ];
    let head = format!(
        "task = \"Log in with {}.\"\nsystem = \"The key is cor%22rect%2FHorse%2077.\"\n[model]\nprovider = \"scripted\"\n\
         script = \"script.json\"\n[tools]\nsecrets_from_env = [\"HORSE\"]\n",
        SECRET.replace('"', "\\\"")
    );
    desk.write("secret.toml", &format!("{head}{}", tools.concat()));
    let arguments =
        serde_json::json!({ "password": SECRET, SECRET: 1, "url": "https://h/?q=cor%22rect%2FHorse%2077" }).to_string();
    let call = |name: &str, text: &str| serde_json::json!({ "id": format!("id {SECRET}"), "name": name, "arguments_text": text });
    let calls: Vec<_> =
        ["echo", "refuse", "panic", "error", "down", "raw", "much"].map(|name| call(name, &arguments)).into();
    let script = serde_json::json!({ "turns": [
        { "text": format!("I use {SECRET}."), "calls": calls },
        { "calls": [call(SECRET, "{}"), call("echo", SECRET)] },
        { "calls": [call("ask", &arguments)] },
        { "text": format!("It was {SECRET}.") },
    ]});
    desk.write("script.json", &script.to_string());
    desk
}

/// Runs the command with the secret in its environment and with everything logged.
fn run(desk: &Desk, arguments: &[&str]) -> Done {
    let mut command = desk.command(arguments);
    command.env("HORSE", SECRET).env("LOCKGATE_LOG", "trace").env("LOCKGATE_LOG_FORMAT", "json");
    let done = Done::of(arguments, &command.output().unwrap());
    gone(&format!("stdout of {arguments:?}"), done.stdout.as_bytes());
    gone(&format!("stderr of {arguments:?}"), done.stderr.as_bytes());
    done
}

/// Every file below the folder, but those that were put there.
fn look_at_files(folder: &Path) -> usize {
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            looked_at += look_at_files(&path);
        } else if !path.ends_with("secret.toml") && !path.ends_with("script.json") {
            looked_at += 1;
            gone(&path.display().to_string(), &std::fs::read(&path).unwrap());
        }
    }
    looked_at
}

#[test]
fn a_secret_of_the_environment_leaves_by_no_door_of_the_command() {
    let desk = desk();
    let waiting = run(&desk, &["run", "secret.toml", "--format", "json", "--progress", "always"]);
    assert_eq!(waiting.code, Some(3), "{}", waiting.whole());
    let run_id = waiting.json()["run_id"].as_str().unwrap().to_owned();
    for name in ["echo", "refuse", "panic", "error", "down", "raw", "much", "ask"] {
        let text = serde_json::json!({ "a": SECRET }).to_string();
        run(&desk, &["call", "secret.toml", name, &text, "--audit"]);
        run(&desk, &["call", "secret.toml", name, &text, "--full", "--format", "human"]);
    }
    for arguments in [
        &["approvals", "list"][..],
        &["approvals", "list", "--format", "jsonl"],
        &["runs", "show", &run_id],
        &["runs", "show", &run_id, "--all", "--format", "jsonl"],
        &["runs", "list"],
        &["tools", "list", "secret.toml"],
        &["journal", "check"],
        &["journal", "export", "--file", "export.jsonl"],
        &["doctor", "secret.toml"],
    ] {
        run(&desk, arguments);
    }
    assert!(look_at_files(&desk.path("")) >= 3, "the journal, what is beside it, and the export");
    let shown = run(&desk, &["runs", "show", &run_id, "--all", "--format", "jsonl"]).stdout;
    assert!(shown.matches("[redacted:HORSE#").count() > 10, "{shown}"); // R-178, R-182
}

/// While it is written, what was said last stands in the write-ahead log and not in the file.
#[cfg(unix)]
#[test]
fn the_write_ahead_log_does_not_have_it_either() {
    let desk = desk();
    let text = serde_json::json!({ "a": SECRET }).to_string();
    let mut command = desk.command(&["call", "secret.toml", "patient", &text]);
    command.env("HORSE", SECRET).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    entered(&desk, "patient.count");
    let log = std::fs::read(desk.path(".lockgate/journal.db-wal")).unwrap();
    look_at_files(&desk.path(""));
    signal(&child, "KILL");
    child.wait().unwrap();
    let said = String::from_utf8_lossy(&log).into_owned();
    assert!(said.contains("[redacted:HORSE#"), "the log says what was called");
}

#[test]
fn a_tool_whose_description_holds_it_is_refused() {
    let desk = desk();
    let file = std::fs::read_to_string(desk.path("secret.toml")).unwrap();
    for place in [
        file.replacen("\"Does it.\"", &serde_json::to_string(&format!("Uses {SECRET}.")).unwrap(), 1),
        file.replacen("{ type = \"object\" }", "{ type = \"object\", description = \"cor%22rect%2FHorse%2077\" }", 1),
    ] {
        desk.write("secret.toml", &place);
        let done = run(&desk, &["tools", "list", "secret.toml"]);
        assert!(done.code == Some(2) && done.stderr.contains("holds a secret"), "{}", done.whole()); // R-016
    }
}
