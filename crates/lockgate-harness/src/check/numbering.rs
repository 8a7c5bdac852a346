//! The numbers of the events: 1, 2, 3….

use std::collections::BTreeMap;

use lockgate_contract::event::Event;

use crate::check::{Defect, Invariant};

/// The events by their numbers, each number once, and what is wrong with the numbers.
pub(super) fn in_order(events: &[Event]) -> (Vec<&Event>, Vec<Defect>) {
    let mut defects = Vec::new();
    let mut found: BTreeMap<u64, &Event> = BTreeMap::new();
    let mut before: Option<u64> = None;
    for event in events {
        let seq = event.seq;
        if found.contains_key(&seq) {
            defects.push(defect([seq].into(), format!("number {seq} is there twice: a second `{}`", event.kind)));
            continue;
        }
        if let Some(before) = before.filter(|before| *before > seq) {
            defects.push(defect([seq, before].into(), format!("event {seq} stands behind event {before}")));
        }
        found.insert(seq, event);
        before = Some(seq);
    }
    defects.extend(gaps(found.keys().copied()));
    (found.into_values().collect(), defects)
}

/// Where ascending numbers leave some out.
fn gaps(numbers: impl Iterator<Item = u64>) -> Vec<Defect> {
    let mut gaps = Vec::new();
    let mut before = 0;
    for number in numbers {
        if number == 0 {
            gaps.push(defect(vec![0], "an event has the number 0: numbers begin at 1".to_owned()));
            continue;
        }
        let missing = number - before - 1;
        if missing > 0 {
            let numbers = if missing == 1 { "a number is".to_owned() } else { format!("{missing} numbers are") };
            let (seqs, between) = match before {
                0 => (vec![number], format!("before event {number}")),
                before => (vec![before, number], format!("between event {before} and event {number}")),
            };
            gaps.push(defect(seqs, format!("{numbers} missing {between}")));
        }
        before = number;
    }
    gaps
}

fn defect(seqs: Vec<u64>, text: String) -> Defect {
    Defect { invariant: Invariant::Numbering, seqs, call_id: None, text }
}
