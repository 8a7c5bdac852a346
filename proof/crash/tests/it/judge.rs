//! The judge is no rubber stamp: what it must notice, it notices.

use crash::bench::Driven;
use crash::case::Case;
use crash::judge::{End, Outcome, broken, faults};
use crash::kill::{self, Spot};
use crash::path::{Progress, undisturbed};
use crash::scenario::{Crash, Played, Scenario};
use crash::stage::Store;

use crate::stage;

/// A scenario, and what the judge says once something of it is changed.
fn said(case: Case, change: impl Fn(&mut Played)) -> Vec<String> {
    let mut played = Scenario { case, store: Store::Sqlite, crashes: Vec::new() }.play(&stage()).unwrap();
    assert_eq!(faults(&played, Some(Progress::Next)), Vec::<String>::new());
    change(&mut played);
    faults(&played, Some(Progress::Next))
}

fn assert_says(said: &[String], words: &str) {
    assert!(said.iter().any(|fault| fault.contains(words)), "{said:?}");
}

#[test]
fn it_notices_what_does_not_hold() {
    let twice = said(Case::External, |played| played.end.effects = 2);
    assert_says(&twice, "2 effects, and at most 1 are allowed");
    let never = said(Case::Read, |played| played.end.effects = 0);
    assert_says(&never, "done without an effect");
    let lost = said(Case::External, |played| played.drivers[0].acknowledged.push((99, "run.completed".to_owned())));
    assert_says(&lost, "was told of event 99 `run.completed`, and it is not in the journal");
    let gap = said(Case::External, |played| drop(played.events.remove(3)));
    assert_says(&gap, "journal: ");
    let keys = said(Case::Keyed, |played| {
        let mut other = played.end.log[0].clone();
        other.key.push('x');
        played.end.log.push(other);
    });
    assert_says(&keys, "its attempts came with different keys");
    let stuck = said(Case::Direct, |played| played.end = End::of(&played.events[..2], &[]));
    assert_says(&stuck, "it may not end as no stop");
    let gave_up = said(Case::Write, |played| {
        played.drivers.push(Driven { error: Some("stuck".to_owned()), ..Driven::default() });
    });
    assert_says(&gave_up, "a driver gave up: stuck");
    let refused = said(Case::External, |played| played.end.outcome = Outcome::Refused);
    assert_says(&refused, "the journal was there all the time");
}

#[test]
fn unknown_is_no_end_of_what_can_be_found_out() {
    let crashes = vec![Crash { driver: 0, at: Spot::At(kill::EFFECT_SENT.to_owned(), 1) }];
    let mut played = Scenario { case: Case::External, store: Store::Sqlite, crashes }.play(&stage()).unwrap();
    assert_eq!(played.recovered.as_ref().map(|end| (end.outcome, end.effects)), Some((Outcome::Unknown, 1)));
    assert_eq!(faults(&played, Some(Progress::Sent)), Vec::<String>::new());
    // It is no cell of a call that was not sent, and none of a call whose provider knows its key.
    assert_says(&faults(&played, Some(Progress::Intended)), "should have come to Unknown with 0 effects");
    played.case = Case::Keyed;
    assert_says(&broken(&played), "it may not come to needs_reconciliation, outcome_unknown");
}

#[test]
fn the_way_of_a_call_has_every_step_in_order() {
    let played = Scenario { case: Case::ExternalApproved, store: Store::Sqlite, crashes: Vec::new() };
    let played = played.play(&stage()).unwrap();
    let mut steps: Vec<Progress> = undisturbed(&played).iter().filter_map(|position| position.progress).collect();
    assert!(steps.is_sorted(), "{steps:?}");
    steps.dedup();
    assert_eq!(steps, Progress::ALL);
}

#[test]
fn a_spot_is_a_point_and_a_number() {
    for text in ["journal.claim.call:2", "any:7", "tool.effect.sent:1"] {
        assert_eq!(text.parse::<Spot>().unwrap().to_string(), text);
    }
    for text in ["journal.claim.call", "journal.claim.call:x", "journal.nowhere:1"] {
        assert!(text.parse::<Spot>().is_err(), "{text}");
    }
}
