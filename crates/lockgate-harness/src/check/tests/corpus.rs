//! `testdata/journals`: good journals, and bad ones that were made of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lockgate_contract::document::Document;
use lockgate_contract::event::Event;

use super::good;
use super::table::{Bad, bad};
use crate::check::{self, Defect, Export, Invariant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/journals")
}

/// Compares a file of the corpus with what makes it, or writes it.
#[expect(clippy::disallowed_methods, reason = "the corpus is checked in")]
fn checked_in(path: &str, text: &str) {
    let full = folder().join(path);
    if std::env::var_os("LOCKGATE_GENERATE").is_some() {
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, text).unwrap();
    }
    let found = std::fs::read_to_string(&full).unwrap_or_default();
    assert!(found == text, "testdata/journals/{path} is not up to date: run `cargo xtask generate`");
}

/// The events as `lockgate runs show RUN --all --format jsonl` prints them.
pub(super) fn lines(events: &[Event]) -> String {
    let line = |event: &Event| format!("{}\n", Document::from_serialize(event).unwrap().text());
    events.iter().map(line).collect()
}

/// The good journal of this name.
pub(super) fn journal(name: &str) -> String {
    let journals = good::journals();
    lines(&journals.iter().find(|(known, _)| *known == name).unwrap().1)
}

/// What the checker says of a file.
pub(super) fn defects(text: &[u8]) -> Vec<Defect> {
    let Export { runs, unreadable } = Export::read(text);
    unreadable.into_iter().chain(runs.iter().flat_map(|run| check::events(&run.events))).collect()
}

#[test]
fn good_journals_are_up_to_date_and_have_no_defect() {
    for (name, events) in good::journals() {
        let text = lines(&events);
        checked_in(&format!("good/{name}.jsonl"), &text);
        assert_eq!(defects(text.as_bytes()), [], "{name}");
    }
}

#[test]
fn bad_journals_are_named_right() {
    let good = good::journals();
    for Bad { invariant, way, from, corrupt, seqs, also } in bad() {
        let name = format!("{invariant}--{way}");
        let (_, events) = good.iter().find(|(good, _)| *good == from).unwrap();
        let mut journal = super::corruption::Journal::of(&lines(events));
        corrupt(&mut journal);
        let text = journal.text();
        checked_in(&format!("bad/{name}.jsonl"), &text);
        let found = defects(text.as_bytes());
        // the invariant and its events.
        assert!(
            found.iter().any(|defect| defect.invariant == invariant && defect.seqs == seqs),
            "{name}: {invariant} {seqs:?} is not among {found:#?}"
        );
        // What follows from it is named too, and nothing else.
        let named: BTreeSet<Invariant> = found.iter().map(|defect| defect.invariant).collect();
        let expected: BTreeSet<Invariant> = also.iter().copied().chain([invariant]).collect();
        assert_eq!(named, expected, "{name}: {found:#?}");
    }
}

#[test]
fn every_invariant_has_a_bad_journal() {
    let mut covered: BTreeSet<Invariant> = bad().iter().map(|bad| bad.invariant).collect();
    // What is kept beside the events is in no list of events.
    covered.insert(Invariant::Records);
    assert_eq!(covered, Invariant::ALL.iter().copied().collect());
}

/// A file that nobody makes any more would be read by nobody.
#[test]
fn the_corpus_holds_nothing_else() {
    if std::env::var_os("LOCKGATE_GENERATE").is_some() {
        return; // The other tests write it just now.
    }
    let in_folder = |name: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder().join(name)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let good = good::journals().iter().map(|(name, _)| format!("{name}.jsonl")).collect();
    assert_eq!(in_folder("good"), good);
    let bad: Vec<String> = bad().iter().map(|bad| format!("{}--{}.jsonl", bad.invariant, bad.way)).collect();
    assert_eq!(in_folder("bad"), bad.iter().cloned().collect());
    assert_eq!(bad.len(), in_folder("bad").len(), "two bad journals have one name");
}

/// Section X of the requirements: nine invariants, each with a word (R-223…R-231).
#[test]
fn the_nine_invariants_have_words() {
    for number in 223..=231 {
        let requirement = format!("R-{number}");
        let standing: Vec<&Invariant> = Invariant::ALL
            .iter()
            .filter(|invariant| invariant.requirements().contains(&requirement.as_str()))
            .collect();
        assert_eq!(standing.len(), 1, "{requirement}: {standing:?}");
    }
}

#[test]
fn words_are_read_back() {
    for invariant in Invariant::ALL {
        assert_eq!(Invariant::from_word(invariant.word()), Some(*invariant));
        assert_eq!(serde_json::to_value(invariant).unwrap(), invariant.to_string());
    }
    assert_eq!(Invariant::from_word("order"), None);
}
