//! `lockgate approvals remember`, and calls that remembered rules decide.

use std::process::Stdio;

use crate::command::{Desk, Done};

const RUN_FILE: &str = r#"
[subject]
tenant = "demo"
user = "alice"
agent = "bookkeeper"

[policy]
engine = "cedar"
files = ["lockgate:native", "always.cedar"]

[[tools.mock]]
name = "pay"
description = "Pays."
version = "1.0"
count_file = "paid"
input_schema = { type = "object", required = ["amount"], properties = { amount = { type = "integer" }, to = { type = "string" }, tags = { type = "array", items = { type = "string" } } } }
behaviour = [{ returns = { paid = true } }]

[[tools.mock]]
name = "note"
description = "Writes a note."
effect = "write"
permission = "ask"
input_schema = { type = "object", required = ["book", "text"], additionalProperties = false, properties = { book = { type = "string" }, text = { type = "string" } } }
behaviour = [{ returns = { noted = true } }]
"#;

fn desk() -> Desk {
    let desk = Desk::empty();
    desk.write("pay.toml", RUN_FILE);
    desk.write("always.cedar", "// What is remembered.\n");
    desk
}

fn call(desk: &Desk, tool: &str, arguments: &str) -> Done {
    desk.run(&["call", "pay.toml", tool, arguments, "--format", "json"])
}

fn code(done: &Done) -> String {
    done.json()["error"]["code"].as_str().unwrap_or("ok").to_owned()
}

/// A call that waits, and the id of its approval.
fn asked(desk: &Desk, tool: &str, arguments: &str) -> String {
    let done = call(desk, tool, arguments);
    assert_eq!(code(&done), "approval_required", "{}", done.whole());
    done.json()["meta"]["approval_id"].as_str().unwrap().to_owned()
}

/// The id of an approval that was given.
fn approved(desk: &Desk, tool: &str, arguments: &str) -> String {
    let id = asked(desk, tool, arguments);
    let done = desk.run(&["approvals", "approve", &id, "--by", "bob"]);
    assert_eq!(done.code, Some(0), "{}", done.whole());
    id
}

fn remember(desk: &Desk, id: &str, more: &[&str]) -> Done {
    let mut arguments = vec!["approvals", "remember", id, "--for", "30d", "--uses", "3", "--by", "bob"];
    arguments.extend_from_slice(more);
    desk.run(&arguments)
}

const RENT: &str = r#"{"amount": 80, "to": "landlord"}"#;

#[test]
fn printed_and_nothing_is_changed() {
    let desk = desk();
    let id = approved(&desk, "pay", RENT);
    let printed = remember(&desk, &id, &[]);
    insta::assert_snapshot!("printed", printed.whole().replace(&id, "ID"));
    assert_eq!(std::fs::read_to_string(desk.path("always.cedar")).unwrap(), "// What is remembered.\n");
    assert_eq!(code(&call(&desk, "pay", RENT)), "approval_required");
}

#[test]
fn allowed_as_often_as_it_says_and_then_asked_about_again() {
    let desk = desk();
    let id = approved(&desk, "pay", RENT);
    let appended = remember(&desk, &id, &["--into", "always.cedar"]);
    assert_eq!(appended.code, Some(0), "{}", appended.whole());
    let text = std::fs::read_to_string(desk.path("always.cedar")).unwrap();
    assert!(text.starts_with("// What is remembered.\n\n// Remembered: ") && text.ends_with(&appended.stdout));
    for other in
        [r#"{"amount": 81, "to": "landlord"}"#, r#"{"amount": 80}"#, r#"{"amount": 80, "to": "landlord", "memo": "x"}"#]
    {
        asked(&desk, "pay", other);
    }
    // The yes itself is none of the three, which begin when it was remembered: but its call is a call of the tool.
    let used = desk.run(&["call", "pay.toml", "pay", RENT, "--approval", &id, "--format", "json"]);
    assert_eq!(code(&used), "ok", "{}", used.whole());
    for _ in 0..2 {
        assert_eq!(code(&call(&desk, "pay", r#"{"to": "landlord", "amount": 80.0}"#)), "ok");
    }
    asked(&desk, "pay", RENT);
    assert_eq!(desk.entered("paid"), 3);
    let check = desk.run(&["journal", "check"]);
    assert_eq!(check.code, Some(0), "{}", check.whole());
}

#[test]
fn others_are_asked_about() {
    let desk = desk();
    let id = approved(&desk, "pay", RENT);
    assert_eq!(remember(&desk, &id, &["--into", "always.cedar"]).code, Some(0));
    for (from, to) in [
        ("alice", "carol"),
        ("\"demo\"", "\"other\""),
        ("bookkeeper", "another"),
        ("\"1.0\"", "\"1.1\""),
        ("Pays.", "Pays twice."),
    ] {
        desk.write("pay.toml", &RUN_FILE.replace(from, to));
        asked(&desk, "pay", RENT);
    }
    desk.write("pay.toml", RUN_FILE);
    assert_eq!(code(&call(&desk, "pay", RENT)), "ok");
    let text = std::fs::read_to_string(desk.path("always.cedar")).unwrap();
    let until = text.split("datetime(\"").nth(1).unwrap().split('"').next().unwrap();
    desk.write("always.cedar", &text.replace(until, "2020-01-01T00:00:00.000Z"));
    asked(&desk, "pay", RENT);
}

#[test]
fn any_value_of_one_argument() {
    let desk = desk();
    let id = approved(&desk, "note", r#"{"book": "a", "text": "x"}"#);
    assert_eq!(remember(&desk, &id, &["--any", "text", "--into", "always.cedar"]).code, Some(0));
    assert_eq!(code(&call(&desk, "note", r#"{"book": "a", "text": "anything \" at all"}"#)), "ok");
    asked(&desk, "note", r#"{"book": "b", "text": "x"}"#);
}

#[test]
fn what_is_not_remembered() {
    let desk = desk();
    let refused = |name: &str, id: &str, more: &[&str]| {
        let done = remember(&desk, id, more);
        insta::assert_snapshot!(name, done.whole().replace(id, "ID"));
        assert_eq!(std::fs::read_to_string(desk.path("always.cedar")).unwrap(), "// What is remembered.\n");
    };
    let pending = asked(&desk, "pay", r#"{"amount": 1}"#);
    refused("a_question", &pending, &[]);
    let id = approved(&desk, "pay", RENT);
    refused("any_value_of_an_external_tool", &id, &["--any", "to"]);
    let too_long = desk.run(&["approvals", "remember", &id, "--for", "91d", "--uses", "3", "--by", "bob"]);
    insta::assert_snapshot!("for_too_long", too_long.whole().replace(&id, "ID"));
    desk.write("other.cedar", "");
    refused("into_a_file_that_decides_nothing", &id, &["--into", "other.cedar"]);
    let tags = approved(&desk, "pay", r#"{"amount": 1, "tags": ["a"]}"#);
    refused("a_list", &tags, &[]);
    let note = approved(&desk, "note", r#"{"book": "a", "text": "x"}"#);
    refused("every_argument", &note, &["--any", "text", "--any", "book"]);
    refused("no_such_argument", &note, &["--any", "txt"]);
    // A rule that forbids is not lifted by one that permits.
    desk.write("pay.toml", &RUN_FILE.replace("\"always.cedar\"", "\"lockgate:ask-always\", \"always.cedar\""));
    refused("other_rules_forbid", &id, &[]);
    desk.write(
        "pay.toml",
        &RUN_FILE.replace("[policy]\nengine = \"cedar\"\nfiles = [\"lockgate:native\", \"always.cedar\"]", ""),
    );
    refused("no_rules", &id, &[]);
}

#[test]
fn only_by_whom_could_have_said_it() {
    let desk = desk();
    let with = |table: &str| desk.write("pay.toml", &format!("{RUN_FILE}\n{table}"));
    let id = approved(&desk, "pay", RENT);
    // Today it takes somebody from finance, who proves who they are.
    with("[approvals]\napprovers = { roles = [\"finance\"] }\npeople = { bob = [\"finance\"] }");
    insta::assert_snapshot!("unproven", remember(&desk, &id, &[]).whole().replace(&id, "ID"));
    with("[approvals]\napprovers = { count = 2 }");
    insta::assert_snapshot!("several", remember(&desk, &id, &[]).whole().replace(&id, "ID"));
}

#[test]
fn processes_at_once_are_admitted_as_often_as_the_rules_say() {
    let desk = desk();
    desk.write("pay.toml", &format!("{RUN_FILE}\n[[quota]]\nname = \"payments\"\ntool = \"pay\"\nper = \"tenant\"\n"));
    desk.write(
        "always.cedar",
        r#"@id("few") permit (principal, action == Tool::Action::"pay", resource) when { context.counts.payments < 5 };"#,
    );
    // The journal is there before they come.
    assert_eq!(code(&call(&desk, "pay", RENT)), "ok");
    let start = |_| {
        let arguments = ["call", "pay.toml", "pay", RENT, "--format", "json"];
        desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..8).map(start).collect();
    let done = started.into_iter().map(|child| Done::of(&[], &child.wait_with_output().unwrap()));
    let codes: Vec<String> = done.map(|done| code(&done)).collect();
    let of = |wanted: &str| codes.iter().filter(|code| *code == wanted).count();
    assert_eq!((of("ok"), of("approval_required"), desk.entered("paid")), (4, 4, 5), "{codes:?}");
}
