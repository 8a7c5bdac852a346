//! Signed decisions: `lockgate journal keygen`, `[journal] sign_key_file`, `journal check --public-key`.

use serde_json::Value;

use crate::command::{Desk, Done};

/// A desk with a key and two runs whose decisions are signed, each approved and gone on with.
fn signed() -> (Desk, Vec<String>) {
    let desk = Desk::new();
    assert_eq!(desk.run(&["journal", "keygen", "sign.key"]).code, Some(0));
    let run_file = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
    desk.write("signed.toml", &format!("{run_file}\n[journal]\nsign_key_file = \"sign.key\"\n"));
    let runs = (0..2).map(|_| approved(&desk)).collect();
    (desk, runs)
}

fn approved(desk: &Desk) -> String {
    let run = desk.run(&["run", "signed.toml", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    let id = question["approval_id"].as_str().unwrap().to_owned();
    let refused = desk.run(&["approvals", "approve", &id]);
    assert_eq!(refused.code, Some(2), "{}", refused.whole());
    assert!(refused.stderr.contains("are signed, and there is no key"), "{}", refused.whole());
    let done = with_key(desk, &["approvals", "approve", &id]);
    assert_eq!(done.code, Some(0), "{}", done.whole());
    assert_eq!(desk.run(&["runs", "resume", &run]).code, Some(0));
    run
}

fn with_key(desk: &Desk, arguments: &[&str]) -> Done {
    Done::of(arguments, &desk.command(arguments).env("LOCKGATE_SIGN_KEY_FILE", "sign.key").output().unwrap())
}

fn check(desk: &Desk, events: &str) -> Done {
    desk.write("events.jsonl", events);
    desk.run(&["journal", "check", "--file", "events.jsonl", "--public-key", "sign.key.pub"])
}

fn events(desk: &Desk, run: &str) -> String {
    desk.run(&["runs", "show", run, "--all", "--format", "jsonl"]).stdout
}

/// The events with one of them changed.
fn changed(events: &str, kind: &str, change: impl Fn(&mut Value)) -> String {
    let change = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["type"] == kind {
            change(&mut event);
            return event.to_string() + "\n";
        }
        line.to_owned() + "\n"
    };
    events.lines().map(change).collect()
}

#[test]
fn a_signed_run_is_answered_with_its_own_key() {
    let (desk, _) = signed();
    desk.run(&["run", "signed.toml"]);
    desk.run(&["journal", "keygen", "other.key"]);
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    let approve = ["approvals", "approve", question["approval_id"].as_str().unwrap()];
    let other = desk.command(&approve).env("LOCKGATE_SIGN_KEY_FILE", "other.key").output().unwrap();
    let other = Done::of(&approve, &other);
    assert_ne!(other.code, Some(0), "{}", other.whole());
    assert!(other.stderr.contains("signed with another key"), "{}", other.whole());
    assert_eq!(with_key(&desk, &approve).code, Some(0));
    // An unsigned run stays unsigned, whoever decides about it.
    desk.run(&["run", "ticket.toml"]);
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    let done = with_key(&desk, &["approvals", "approve", question["approval_id"].as_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.whole());
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

/// A signed run is driven on with its key, or not at all.
#[test]
fn a_signed_run_does_not_go_on_unsigned() {
    let (desk, _) = signed();
    let run = desk.run(&["run", "signed.toml", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    with_key(&desk, &["approvals", "approve", question["approval_id"].as_str().unwrap()]);
    let entered = desk.entered("create_ticket.count");
    let resume = ["runs", "resume", &run, "ticket.toml"];
    let refused = desk.run(&resume);
    assert_eq!(refused.code, Some(2), "{}", refused.whole());
    assert!(refused.stderr.contains("are signed with the key `ed25519:"), "{}", refused.whole());
    desk.run(&["journal", "keygen", "other.key"]);
    let run_file = std::fs::read_to_string(desk.path("signed.toml")).unwrap();
    desk.write("other.toml", &run_file.replace("sign.key", "other.key"));
    let refused = desk.run(&["runs", "resume", &run, "other.toml"]);
    assert_ne!(refused.code, Some(0), "{}", refused.whole());
    assert!(refused.stderr.contains("another key"), "{}", refused.whole());
    assert_eq!(desk.entered("create_ticket.count"), entered);
    assert_eq!(desk.run(&["runs", "resume", &run]).code, Some(0));
    assert_eq!(desk.entered("create_ticket.count"), entered + 1);
    let check = ["journal", "check", "--public-key", "other.key.pub", "--public-key", "sign.key.pub"];
    assert_eq!(desk.run(&check).code, Some(0));
    assert_ne!(desk.run(&check[..4]).code, Some(0));
}

/// A decision that was altered in the store is found before anything runs on it.
#[test]
fn what_was_altered_is_not_gone_on_from() {
    let (desk, _) = signed();
    let run = desk.run(&["run", "signed.toml", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    let approve = ["approvals", "deny", question["approval_id"].as_str().unwrap()];
    assert_eq!(with_key(&desk, &approve).code, Some(0));
    // Somebody with the file and without the key turns the no into a yes.
    let file = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    file.execute_batch("DROP TRIGGER event_is_never_rewritten").unwrap();
    let event = "UPDATE event SET data = replace(data, 'denied', 'granted') WHERE run = (SELECT place FROM run WHERE run_id = ?1) AND kind = 'approval.decided'";
    assert_eq!(file.execute(event, [&run]).unwrap(), 1);
    file.execute("UPDATE approval SET state = 'granted' WHERE run_id = ?1", [&run]).unwrap();
    let entered = desk.entered("create_ticket.count");
    let refused = desk.run(&["runs", "resume", &run]);
    assert_ne!(refused.code, Some(0), "{}", refused.whole());
    assert!(refused.stderr.contains("is not what was signed"), "{}", refused.whole());
    assert_eq!(desk.entered("create_ticket.count"), entered);
}

/// Whoever writes into the store cannot have a person say yes to something that is not what runs.
#[test]
fn a_question_that_shows_something_else_is_not_decided() {
    let desk = Desk::new();
    desk.run(&["run", "ticket.toml"]);
    let question = desk.run(&["approvals", "list", "--format", "jsonl"]).lines().pop().unwrap();
    let id = question["approval_id"].as_str().unwrap();
    let file = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    let user = question["user"].as_str().unwrap();
    let altered =
        format!("UPDATE approval SET question = replace(question, '\"user\":\"{user}\"', '\"user\":\"zed\"')");
    assert_eq!(file.execute(&altered, []).unwrap(), 1);
    let done = desk.run(&["approvals", "approve", id]);
    assert_ne!(done.code, Some(0), "{}", done.whole());
    assert!(done.stderr.contains("shows something else"), "{}", done.whole());
}

#[test]
fn what_was_signed_is_found_sound_in_the_journal_and_after_an_import() {
    let (desk, runs) = signed();
    let done = desk.run(&["journal", "check", "--public-key", "sign.key.pub"]);
    assert_eq!(done.code, Some(0), "{}", done.whole());
    for kind in ["run.started", "approval.requested", "approval.decided", "approval.consumed", "tool.started"] {
        let events = events(&desk, &runs[0]);
        let line = events.lines().find(|line| line.contains(&format!("\"{kind}\""))).unwrap();
        assert!(line.contains("\"signature\":{\"v\":1,\"key\":\"ed25519:"), "{line}");
    }
    desk.run(&["journal", "export", "--file", "all.jsonl"]);
    desk.run(&["journal", "import", "all.jsonl", "--journal", "sqlite:other.db"]);
    let done = desk.run(&["journal", "check", "--public-key", "sign.key.pub", "--journal", "sqlite:other.db"]);
    assert_eq!(done.code, Some(0), "{}", done.whole());
    assert_eq!(desk.run(&["runs", "list", "--format", "jsonl", "--journal", "sqlite:other.db"]).lines().len(), 2);
}

#[test]
fn an_altered_a_moved_and_a_removed_signature_are_each_named() {
    let (desk, runs) = signed();
    let (one, other) = (events(&desk, &runs[0]), events(&desk, &runs[1]));
    assert_eq!(check(&desk, &one).code, Some(0));
    let altered = changed(&one, "approval.decided", |event| event["data"]["decided_by"] = "mallory".into());
    insta::assert_snapshot!("an_altered_decision", check(&desk, &altered).whole());
    let of_other = other.lines().find(|line| line.contains("\"approval.decided\"")).unwrap();
    let of_other: Value = serde_json::from_str(of_other).unwrap();
    let swapped =
        changed(&one, "approval.decided", |event| event["data"]["signature"] = of_other["data"]["signature"].clone());
    insta::assert_snapshot!("a_signature_of_another_run", check(&desk, &swapped).whole());
    let removed = changed(&one, "approval.decided", |event| {
        event["data"].as_object_mut().unwrap().remove("signature");
    });
    insta::assert_snapshot!("a_removed_signature", check(&desk, &removed).whole());
    // Without the key it shows that one is missing, since the others are there.
    let done = desk.run(&["journal", "check", "--file", "events.jsonl"]);
    assert!(done.code == Some(1) && done.stdout.contains("signatures"), "{}", done.whole());
    // Who has another key, and who takes all of them away.
    desk.run(&["journal", "keygen", "other.key"]);
    let done = desk.run(&["journal", "check", "--public-key", "other.key.pub"]);
    assert!(done.code == Some(1) && done.stdout.contains("signed with another key"), "{}", done.whole());
    let mut bare = one.clone();
    for kind in ["run.started", "approval.requested", "approval.decided", "approval.consumed", "tool.started"] {
        bare = changed(&bare, kind, |event| drop(event["data"].as_object_mut().unwrap().remove("signature")));
    }
    let done = check(&desk, &bare);
    assert_eq!(done.stdout.matches("it is not signed").count(), 5, "{}", done.whole());
}

#[test]
fn a_decision_that_was_altered_in_the_file_is_named() {
    let (desk, _) = signed();
    let file = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    // Who owns the file owns what guards it.
    let guards: Vec<String> = file
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'event'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for guard in guards {
        file.execute(&format!("DROP TRIGGER {guard}"), []).unwrap();
    }
    let altered = file
        .execute("UPDATE event SET data = replace(data, 'alice', 'mallory') WHERE kind = 'approval.decided'", [])
        .unwrap();
    assert_eq!(altered, 2);
    drop(file);
    // Who altered the approval's row as well would not be seen without the key.
    let plain = desk.run(&["journal", "check"]);
    assert!(plain.code == Some(1) && plain.stdout.contains("records"), "{}", plain.whole());
    let done = desk.run(&["journal", "check", "--public-key", "sign.key.pub"]);
    assert_eq!((done.code, done.stdout.matches("it was altered").count()), (Some(1), 2), "{}", done.whole());
}

#[test]
fn a_key_is_made_once_and_for_its_owner() {
    let desk = Desk::new();
    let made = desk.run(&["journal", "keygen", "sign.key"]);
    assert_eq!(made.stdout, std::fs::read_to_string(desk.path("sign.key.pub")).unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::metadata(desk.path("sign.key")).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, 0o600);
    }
    let secret = std::fs::read_to_string(desk.path("sign.key")).unwrap();
    assert!(!made.whole().contains(secret.trim()));
    let again = desk.run(&["journal", "keygen", "sign.key"]);
    assert!(again.code == Some(2) && again.stderr.contains("exists already"), "{}", again.whole());
    assert_eq!(std::fs::read_to_string(desk.path("sign.key")).unwrap(), secret);
}

#[test]
fn a_key_that_cannot_be_used_stops_everything() {
    let desk = Desk::new();
    let run_file = std::fs::read_to_string(desk.path("ticket.toml")).unwrap();
    let with = |journal: &str| {
        desk.write("signed.toml", &format!("{run_file}\n[journal]\n{journal}\n"));
        desk.run(&["run", "signed.toml"])
    };
    insta::assert_snapshot!("an_absent_key", with("sign_key_file = \"absent.key\"").whole());
    desk.write("bad.key", "ed25519-secret:00\n");
    insta::assert_snapshot!("a_bad_key", with("sign_key_file = \"bad.key\"").whole());
    let unset = with("sign_key_env = \"LOCKGATE_TEST_UNSET\"");
    assert!(unset.code == Some(2) && unset.stderr.contains("LOCKGATE_TEST_UNSET"), "{}", unset.whole());
    let both = with("sign_key_env = \"A\"\nsign_key_file = \"b\"");
    assert!(both.code == Some(2) && both.stderr.contains("there is one key"), "{}", both.whole());
    assert!(!desk.path(".lockgate").exists(), "nothing was started");
}

/// A tool that reads the key's file does not tell the model.
#[test]
fn the_key_itself_does_not_leave() {
    let desk = Desk::new();
    desk.run(&["journal", "keygen", "sign.key"]);
    let tools = std::fs::read_to_string(desk.path("tools.toml")).unwrap();
    desk.write("signed.toml", &format!("{tools}\n[journal]\nsign_key_file = \"sign.key\"\n"));
    let secret = std::fs::read_to_string(desk.path("sign.key")).unwrap();
    let (_, digits) = secret.trim().split_once(':').unwrap();
    let done =
        desk.run(&["call", "signed.toml", "echo", &format!("{{\"a\":\"{}\",\"b\":\"{digits}\"}}", secret.trim())]);
    assert!(done.code == Some(0) && !done.stdout.contains(digits), "{}", done.whole());
    assert_eq!(done.stdout.matches("[redacted:journal.sign_key#").count(), 2, "{}", done.whole());
}
