//! Exported events, as `lockgate journal check --file` reads them.

use std::collections::BTreeSet;
use std::path::Path;

use lockgate::contract::document::Document;
use lockgate::contract::event::Event;
use lockgate::contract::time::Timestamp;
use lockgate::harness::check::{self, Export};
use lockgate::harness::{Facts, RunResult, RunState};

/// Reads the lines and judges each run.
pub fn run(bytes: &[u8]) {
    let export = Export::read(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let events: usize = export.runs.iter().map(|run| run.events.len()).sum();
    assert!(export.unreadable.len() + events <= lines);
    for run in &export.runs {
        judge(&run.events);
    }
}

/// Checks the events, folds them, and asks what comes next. What can be read is written as it was read.
pub(crate) fn judge(events: &[Event]) {
    for event in events {
        let _ = event.body();
        let written = Document::from_serialize(event).unwrap();
        let again: Event = written.decode().unwrap();
        assert_eq!(Document::from_serialize(&again).unwrap().text(), written.text());
    }
    let defects = check::events(events);
    for defect in &defects {
        assert!(!defect.text.is_empty() && serde_json::to_string(defect).is_ok());
        assert!(defect.seqs.is_sorted());
    }
    let state = match RunState::fold(events) {
        Ok(state) => state,
        Err(error) => {
            assert!(!defects.is_empty(), "the checker finds nothing in what cannot be taken up: {error}");
            return;
        }
    };
    let facts = Facts {
        now: Timestamp::from_millis(1_800_000_000_000),
        cancelled: false,
        held: &BTreeSet::new(),
        unredacted: &BTreeSet::new(),
        parallel_reads: 4,
    };
    let _ = state.next(&facts);
    let result = RunResult::of(&state).with_messages(&state);
    assert!(serde_json::to_string(&result).is_ok());
}

/// The journals of the checker's own corpus.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    super::files(&root.join("testdata/journals"), ".jsonl").iter().map(|path| super::text(path).into_bytes()).collect()
}
