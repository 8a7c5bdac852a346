//! `lockgate journal`.

use crate::command::{Desk, Done};

/// A desk with a complete run, its id, and its export.
fn exported() -> (Desk, String, String) {
    let desk = Desk::new();
    let run = desk.run(&["run", "incident.toml", "--format", "json"]).json()["run_id"].as_str().unwrap().to_owned();
    let events = desk.run(&["runs", "show", &run, "--all", "--format", "jsonl"]).stdout;
    (desk, run, events)
}

fn check_file(desk: &Desk, text: &str) -> Done {
    desk.write("run.jsonl", text);
    desk.run(&["journal", "check", "--file", "run.jsonl"])
}

#[test]
fn every_run_of_a_journal() {
    let desk = Desk::new();
    for arguments in [&["run", "incident.toml"][..], &["run", "ticket.toml"], &["call", "tools.toml", "slow"]] {
        desk.run(arguments);
    }
    insta::assert_snapshot!(desk.run(&["journal", "check"]).whole());
}

#[test]
fn one_run_by_the_start_of_its_id() {
    let (desk, run, _) = exported();
    desk.run(&["run", "ticket.toml"]);
    let done = desk.run(&["journal", "check", &run[..12], &run, "--format", "json"]);
    assert_eq!((done.code, done.json()["clean"].as_bool()), (Some(0), Some(true)), "{}", done.whole());
    assert_eq!(done.json()["runs"].as_array().unwrap().len(), 1);
    assert_eq!(desk.run(&["journal", "check", "--format", "jsonl"]).stdout, "");
}

#[test]
fn an_export_with_its_result_line() {
    let (desk, _, events) = exported();
    assert!(events.contains("run.result"), "{events}");
    insta::assert_snapshot!(check_file(&desk, &events).whole());
}

#[test]
fn defects_are_named_with_their_events() {
    let (desk, _, events) = exported();
    // A result of another tool, and an event that is missing.
    let broken: String = events
        .lines()
        .filter(|line| !line.contains("\"seq\":10,"))
        .map(|line| if line.contains("\"seq\":6,") { line.replace("lookup_incident", "publish_release") } else { line.to_owned() } + "\n")
        .collect();
    let done = check_file(&desk, &broken);
    insta::assert_snapshot!("defects", done.whole());
    let json = desk.run(&["journal", "check", "--file", "run.jsonl", "--format", "json"]);
    assert_eq!(json.code, Some(1));
    let defect = &json.json()["runs"][0]["defects"][0];
    assert_eq!(defect["invariant"], "placement", "{}", json.whole()); // R-214
    assert_eq!(defect["seqs"], serde_json::json!([3, 6]));
    assert_eq!(defect["requirements"], serde_json::json!(["R-215", "R-219", "R-230"]));
    let lines = desk.run(&["journal", "check", "--file", "run.jsonl", "--format", "jsonl"]).lines();
    assert_eq!(lines.len(), json.json()["runs"][0]["defects"].as_array().unwrap().len());
    assert!(lines[0]["run_id"].as_str().unwrap().starts_with("run-"));
}

#[test]
fn a_line_that_was_cut_off() {
    let (desk, _, events) = exported();
    let whole: Vec<&str> = events.lines().collect();
    let cut = format!("{}\n{}", whole[..5].join("\n"), &whole[5][..40]);
    insta::assert_snapshot!(check_file(&desk, &cut).whole());
}

#[test]
fn what_cannot_be_read_is_no_verdict() {
    let desk = Desk::new();
    insta::assert_snapshot!("no_file", desk.run(&["journal", "check", "--file", "nowhere.jsonl"]).whole());
    insta::assert_snapshot!("no_journal", desk.run(&["journal", "check"]).whole());
    for arguments in [
        &["journal", "check", "run-1", "--file", "x"][..],
        &["journal", "check", "--file", "x", "--journal", "memory:"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(2));
    }
    assert!(!desk.path(".lockgate").exists(), "looking made a journal");
}

#[test]
fn its_help() {
    insta::assert_snapshot!(Desk::new().run(&["journal", "check", "--help"]).whole());
}

/// A desk with a run that is done, one that waits, and a call, and the export of them all.
fn three_runs() -> (Desk, String) {
    let desk = Desk::new();
    for arguments in [&["run", "incident.toml"][..], &["run", "ticket.toml"], &["call", "tools.toml", "slow"]] {
        desk.run(arguments);
    }
    let done = desk.run(&["journal", "export"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), "3 runs exported\n"));
    (desk, done.stdout)
}

#[test]
fn an_export_comes_back_to_the_byte() {
    let (desk, export) = three_runs();
    let file = desk.run(&["journal", "export", "--file", "all.jsonl"]);
    assert_eq!((file.code, file.stdout.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(desk.path("all.jsonl")).unwrap(), export);
    let there = desk.run(&["journal", "export", "--file", "all.jsonl"]);
    insta::assert_snapshot!("a_file_that_is_there", there.whole());
    // Into a journal that does not exist yet, and out again.
    let other = ["--journal", "sqlite:other.db"];
    insta::assert_snapshot!("imported", desk.run(&[&["journal", "import", "all.jsonl"], &other[..]].concat()).whole());
    assert_eq!(desk.run(&[&["journal", "export"], &other[..]].concat()).stdout, export);
    assert_eq!(desk.run(&["runs", "list"]).stdout, desk.run(&[&["runs", "list"], &other[..]].concat()).stdout);
    let list = desk.run(&[&["approvals", "list", "--format", "json"], &other[..]].concat()).json();
    let approval = list[0]["approval_id"].as_str().unwrap().to_owned();
    // What waits there goes on there.
    let run = list[0]["run_id"].as_str().unwrap().to_owned();
    assert_eq!(desk.run(&[&["approvals", "approve", &approval], &other[..]].concat()).code, Some(0));
    assert_eq!(desk.run(&[&["runs", "resume", &run], &other[..]].concat()).code, Some(0));
    let check = desk.run(&[&["journal", "check"], &other[..]].concat());
    assert_eq!(check.code, Some(0), "{}", check.whole());
}

#[test]
fn an_export_is_checked_as_a_file() {
    let (desk, export) = three_runs();
    let done = check_file(&desk, &export);
    insta::assert_snapshot!("a_whole_export", done.whole());
    let cut = export.lines().take(9).collect::<Vec<_>>().join("\n");
    let done = check_file(&desk, &cut);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("line 10: the export is cut off here"), "{}", done.whole());
}

#[test]
fn what_is_broken_is_not_imported() {
    let (desk, export) = three_runs();
    let import = |text: &str| {
        desk.write("in.jsonl", text);
        desk.run(&["journal", "import", "in.jsonl", "--journal", "sqlite:other.db"])
    };
    let cut = export.lines().take(9).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!("cut_off", import(&cut).whole());
    let altered = import(&export.replacen("lookup_incident", "lookup_accident", 1));
    assert_eq!(altered.code, Some(1));
    assert!(altered.stderr.contains("were altered, removed or put in between"), "{}", altered.whole());
    insta::assert_snapshot!("not_an_export", import("{\"some\":\"json\"}\n").whole());
    assert!(!desk.path("other.db").exists(), "a refused import made a journal");
    // A journal whose events are broken exports them as they are, and nobody takes them.
    let database = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    database.execute("DELETE FROM event WHERE kind = 'tool.started'", []).unwrap();
    database.execute("UPDATE run SET next_seq = next_seq", []).unwrap();
    let broken = import(&desk.run(&["journal", "export"]).stdout);
    assert_eq!(broken.code, Some(1), "{}", broken.whole());
    assert!(broken.stderr.contains("is broken: numbering"), "{}", broken.whole());
}

/// The events are untouched; what the journal keeps beside them says something else.
#[test]
fn records_that_say_something_else_are_named() {
    let altered = |sql: &str| {
        let (desk, _, _) = exported();
        desk.run(&["run", "ticket.toml"]);
        assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
        let database = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
        assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
        let done = desk.run(&["journal", "check"]);
        assert_eq!(done.code, Some(1), "{sql}: {}", done.whole());
        assert!(done.stdout.contains("records"), "{sql}: {}", done.whole()); // R-214
        done
    };
    altered("UPDATE run SET status = 'failed' WHERE status = 'completed'");
    altered("UPDATE run SET epoch = 7 WHERE status = 'completed'");
    altered("UPDATE run SET updated_at = updated_at + 1 WHERE status = 'completed'");
    altered("UPDATE call SET state = 'open' WHERE call_id = (SELECT max(call_id) FROM call)");
    let granted = altered("UPDATE approval SET state = 'granted', decided_by = 'mallory'");
    insta::assert_snapshot!(granted.whole());
}

#[test]
fn runs_that_are_there_are_refused_or_passed_over() {
    let (desk, export) = three_runs();
    desk.write("in.jsonl", &export);
    insta::assert_snapshot!("there", desk.run(&["journal", "import", "in.jsonl"]).whole());
    let first = desk.run(&["runs", "list", "--format", "json"]).json()[2]["run_id"].as_str().unwrap().to_owned();
    assert_eq!(desk.run(&["journal", "export", &first, "--file", "first.jsonl"]).code, Some(0));
    let other = ["--journal", "sqlite:other.db"];
    assert_eq!(desk.run(&[&["journal", "import", "first.jsonl"], &other[..]].concat()).code, Some(0));
    assert_eq!(desk.run(&[&["journal", "import", "in.jsonl"], &other[..]].concat()).code, Some(1));
    insta::assert_snapshot!(
        "resumed",
        desk.run(&[&["journal", "import", "in.jsonl", "--resume"], &other[..]].concat()).whole()
    );
    assert_eq!(desk.run(&[&["journal", "export"], &other[..]].concat()).stdout, export);
}

/// Makes everything that happened so far so much older.
fn age(desk: &Desk, days: u32) {
    let database = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    let age = format!("{days} * 86400000");
    let sql = format!(
        "DROP TRIGGER event_is_never_rewritten; UPDATE event SET at = at - {age};
         UPDATE run SET created_at = created_at - {age}, updated_at = updated_at - {age}"
    );
    database.execute_batch(&sql).unwrap();
}

#[test]
fn old_runs_go() {
    let (desk, _) = three_runs();
    age(&desk, 100);
    let export = desk.run(&["journal", "export"]).stdout;
    desk.run(&["run", "incident.toml"]);
    insta::assert_snapshot!("dry_run", desk.run(&["journal", "prune", "--older-than", "90d", "--dry-run"]).whole());
    assert_eq!(desk.run(&["runs", "list", "--format", "json"]).json().as_array().unwrap().len(), 4);
    let pruned = desk.run(&["journal", "prune", "--older-than", "90d", "--archive", "old.jsonl"]);
    insta::assert_snapshot!("pruned", pruned.whole());
    let archive = std::fs::read_to_string(desk.path("old.jsonl")).unwrap();
    let events =
        |text: &str| text.lines().filter(|line| line.starts_with("{\"v\"")).map(str::to_owned).collect::<Vec<_>>();
    let before = events(&export);
    assert!(events(&archive).iter().all(|event| before.contains(event)));
    assert_eq!(events(&archive).len(), 17 + 5);
    let check = desk.run(&["journal", "check", "--file", "old.jsonl"]);
    assert_eq!(check.code, Some(0), "{}", check.whole());
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
    assert_eq!(desk.run(&["journal", "import", "old.jsonl", "--journal", "sqlite:other.db"]).code, Some(0));
    let json = desk.run(&["journal", "prune", "--older-than", "90d", "--format", "json"]).json();
    assert_eq!(json["removed"], 0);
    assert_eq!(json["kept"], serde_json::json!({"recent": 1, "waiting": 1}));
    assert_eq!(desk.run(&["journal", "prune", "--older-than", "soon"]).code, Some(2));
}

#[test]
fn everything_is_counted() {
    let (desk, _) = three_runs();
    let done = desk.run(&["journal", "stats"]).whole();
    let size = regex::Regex::new(r"bytes on the disk +\d+").unwrap();
    insta::assert_snapshot!("stats", size.replace(&done, "bytes on the disk  N"));
    let json = desk.run(&["journal", "stats", "--format", "json"]).json();
    assert_eq!(json["events"], 17 + 6 + 5);
    assert!(json["size_bytes"].as_u64().unwrap() > 10_000);
}

#[test]
fn the_help_of_the_rest() {
    for command in ["export", "import", "prune", "stats", "heads"] {
        insta::assert_snapshot!(format!("help_of_{command}"), Desk::new().run(&["journal", command, "--help"]).whole());
    }
}

#[test]
fn a_rewritten_journal_is_told_by_the_hash_that_was_kept() {
    let desk = Desk::new();
    let run_file = std::fs::read_to_string(desk.path("incident.toml")).unwrap();
    assert!(!run_file.contains("[journal]"));
    desk.write("incident.toml", &format!("{run_file}\n[journal]\nchain = true\n"));
    desk.run(&["run", "incident.toml"]);
    desk.run(&["run", "ticket.toml"]);
    let heads = desk.run(&["journal", "heads"]).stdout;
    let [head] = heads.lines().collect::<Vec<_>>()[..] else { panic!("{heads}") };
    assert_eq!(desk.run(&["journal", "check", "--head", head]).code, Some(0));
    // The export has the hashes, and takes them along.
    desk.write("run.jsonl", &desk.run(&["journal", "export"]).stdout);
    assert_eq!(desk.run(&["journal", "check", "--file", "run.jsonl", "--head", head]).code, Some(0));
    let other = ["--journal", "sqlite:other.db"];
    assert_eq!(desk.run(&[&["journal", "import", "run.jsonl"], &other[..]].concat()).code, Some(0));
    assert_eq!(desk.run(&[&["journal", "heads"], &other[..]].concat()).stdout, heads);
    // Somebody alters one event.
    let database = rusqlite::Connection::open(desk.path(".lockgate/journal.db")).unwrap();
    database.execute_batch("DROP TRIGGER event_is_never_rewritten").unwrap();
    let sql =
        "UPDATE event SET data = replace(data, 'brief', 'bri ef'), at = at + 1 WHERE seq = 2 AND hash IS NOT NULL";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    let done = desk.run(&["journal", "check"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("chain  event 2"), "{}", done.whole());
    // The other journal is a run of the same id, and another one: its hashes are right, and not those that were kept.
    let kept = head.split_once('=').unwrap().0;
    let wrong = format!("{kept}=sha256:{}", "0".repeat(64));
    let done = desk.run(&[&["journal", "check", "--head", &wrong], &other[..]].concat());
    insta::assert_snapshot!("another_head", done.whole().replace(&"0".repeat(64), "<zeros>"));
    let none = format!("run-none=sha256:{}", "0".repeat(64));
    assert_eq!(desk.run(&[&["journal", "check", "--head", &none], &other[..]].concat()).code, Some(1));
    assert_eq!(desk.run(&["journal", "check", "--head", "run-1"]).code, Some(2));
}
