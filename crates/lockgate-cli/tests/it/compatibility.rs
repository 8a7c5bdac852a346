//! Journals and exports of earlier versions (`testdata/journals/old`): every build reads them and goes on with them.

use std::path::{Path, PathBuf};

use crate::command::Desk;

fn old(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/journals/old").join(name)
}

/// A desk with the run file of the run that waits, and with this journal.
fn desk(journal: Option<&str>) -> Desk {
    let desk = Desk::empty();
    for file in ["ticket.toml", "ticket.json", "format-1.jsonl"] {
        std::fs::copy(old(file), desk.path(file)).unwrap();
    }
    if let Some(journal) = journal {
        std::fs::create_dir(desk.path(".lockgate")).unwrap();
        std::fs::copy(old(journal), desk.path(".lockgate/journal.db")).unwrap();
    }
    desk
}

/// Lists, shows and checks what is there, and lets the run that waits go on to its end.
fn goes_on(desk: &Desk, runs: usize) {
    let list = desk.run(&["runs", "list", "--format", "json"]).json();
    assert_eq!(list.as_array().unwrap().len(), runs);
    for run in list.as_array().unwrap() {
        let shown = desk.run(&["runs", "show", run["run_id"].as_str().unwrap(), "--all"]);
        assert_eq!(shown.code, Some(0), "{}", shown.whole());
    }
    let check = desk.run(&["journal", "check"]);
    assert_eq!(check.code, Some(0), "{}", check.whole());
    assert_eq!(desk.run(&["journal", "stats", "--format", "json"]).json()["artifacts"], 1);
    let waiting = desk.run(&["approvals", "list", "--format", "json"]).json();
    let waiting: Vec<_> = waiting.as_array().unwrap().iter().filter(|asked| asked["state"] == "pending").collect();
    let [asked] = waiting[..] else { panic!("{waiting:?}") };
    let approve = desk.run(&["approvals", "approve", asked["approval_id"].as_str().unwrap()]);
    assert_eq!(approve.code, Some(0), "{}", approve.whole());
    let resumed = desk.run(&["runs", "resume", asked["run_id"].as_str().unwrap(), "ticket.toml"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.whole());
    assert!(resumed.stdout.contains("Ticket T-1 is open."), "{}", resumed.whole());
    assert_eq!(desk.entered("create_ticket.count"), 1);
    let check = desk.run(&["journal", "check"]);
    assert_eq!(check.code, Some(0), "{}", check.whole());
}

#[test]
fn a_database_of_schema_1_goes_on() {
    goes_on(&desk(Some("schema-1.db")), 4);
}

#[test]
fn a_database_of_schema_2_goes_on() {
    goes_on(&desk(Some("schema-2.db")), 5);
}

#[test]
fn a_database_of_schema_4_goes_on() {
    goes_on(&desk(Some("schema-4.db")), 5);
}

#[test]
fn an_export_of_format_1_is_checked_and_goes_on_where_it_is_imported() {
    let desk = desk(None);
    assert_eq!(desk.run(&["journal", "check", "--file", "format-1.jsonl"]).code, Some(0));
    let imported = desk.run(&["journal", "import", "format-1.jsonl"]);
    assert_eq!(imported.code, Some(0), "{}", imported.whole());
    let text = std::fs::read_to_string(old("format-1.jsonl")).unwrap();
    assert_eq!(desk.run(&["journal", "export"]).stdout, text);
    goes_on(&desk, 5);
}

#[test]
fn what_an_old_database_holds_is_what_its_export_held() {
    let text = std::fs::read_to_string(old("format-1.jsonl")).unwrap();
    assert_eq!(desk(Some("schema-2.db")).run(&["journal", "export"]).stdout, text);
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let desk = desk(Some("schema-2.db"));
    let path = desk.path(".lockgate/journal.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("INSERT INTO meta VALUES (999, 'later', 'sha256:x', 0)", []).unwrap();
    drop(database);
    let before = std::fs::read(&path).unwrap();
    let done = desk.run(&["runs", "list"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("the journal has schema version 999"), "{}", done.whole());
    assert!(done.stderr.contains("use a newer lockgate"), "{}", done.whole());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_export_is_refused() {
    let desk = desk(None);
    let text = std::fs::read_to_string(old("format-1.jsonl")).unwrap().replacen("\"format\":1", "\"format\":2", 1);
    desk.write("newer.jsonl", &text);
    let done = desk.run(&["journal", "import", "newer.jsonl"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("the export has format 2"), "{}", done.whole());
    assert!(!desk.path(".lockgate").exists());
}
