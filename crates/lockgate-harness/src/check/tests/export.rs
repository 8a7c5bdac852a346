//! What is read of an export.

use super::corpus::{defects, journal};
use crate::check::{self, Export, Invariant};

#[test]
fn the_line_of_the_result_is_no_event() {
    let text = format!("{}{{\"type\":\"run.result\",\"status\":\"completed\"}}\n", journal("reads"));
    assert_eq!(defects(text.as_bytes()), []);
}

#[test]
fn several_runs_may_stand_behind_each_other() {
    let text = format!("{}\n{}{}", journal("reads"), journal("direct"), journal("unknown"));
    let export = Export::read(text.as_bytes());
    let runs: Vec<&str> = export.runs.iter().map(|run| run.run_id.as_str()).collect();
    assert_eq!(runs, ["run-000000000001", "run-000000000009", "run-000000000003"]);
    assert_eq!(defects(text.as_bytes()), []);
}

#[test]
fn a_line_that_is_no_event_is_named_and_the_others_are_read() {
    let text = journal("reads");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "{\"seq\":");
    lines.insert(5, "\"a string\"");
    let text = lines.join("\n");
    let mut bytes = text.into_bytes();
    bytes.extend(b"\n\xff\xfe\n");
    let said: Vec<(Invariant, String)> =
        defects(&bytes).into_iter().map(|defect| (defect.invariant, defect.text)).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    for ((invariant, text), begins) in said.iter().zip(["line 3 is", "line 6 is", "line 23 is no event: byte 0 is not"])
    {
        assert_eq!(*invariant, Invariant::Unreadable);
        assert!(text.starts_with(begins), "{text}");
    }
}

#[test]
fn the_protocol_view_is_no_whole_journal() {
    let protocol: Vec<String> = journal("reads").lines().skip(1).map(str::to_owned).collect();
    let found = defects(protocol.join("\n").as_bytes());
    let beginning = found.iter().find(|defect| defect.invariant == Invariant::Beginning).unwrap();
    assert!(beginning.text.contains("--all"), "{}", beginning.text);
}

#[test]
fn nothing_is_no_defect() {
    assert!(Export::read(b"").runs.is_empty());
    assert_eq!(defects(b"\n \n"), []);
}

/// Found by fuzzing: a run whose events were taken away was one that keeps every promise.
#[test]
fn a_run_without_events_has_no_beginning() {
    let found = check::events(&[]);
    assert_eq!(found.iter().map(|defect| defect.invariant).collect::<Vec<_>>(), [Invariant::Beginning]);
}
