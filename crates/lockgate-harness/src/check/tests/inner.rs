//! Calls that are made inside another. Nothing makes them yet; their ids and events are defined.

use super::corpus::{defects, lines};
use super::corruption::Journal;
use super::good;
use crate::check::Invariant;

/// The reading run, with a second look inside the first one.
fn with_inner_call(parent: &str, id: &str) -> String {
    let journals = good::journals();
    let (_, events) = journals.iter().find(|(name, _)| *name == "reads").unwrap();
    let mut journal = Journal::of(&lines(events));
    // Requested, started, finished: inside the start of the outer call.
    for (from, behind) in [(4, 5), (5, 6), (8, 7)] {
        journal.repeat(from, behind);
    }
    for seq in 6..=8 {
        journal.edit(seq, "/call_id", id);
    }
    journal.add(6, "/data", "parent_call_id", parent);
    journal.text()
}

#[test]
fn an_inner_call_is_one_of_its_own() {
    let text = with_inner_call("run-000000000001:step-0:call-0", "run-000000000001:step-0:call-0.0");
    assert_eq!(defects(text.as_bytes()), []);
}

#[test]
fn an_inner_call_has_a_parent_that_its_id_names() {
    let parent = "run-000000000001:step-0:call-0";
    for (parent, id) in [(parent, "run-000000000001:step-0:call-1.0"), ("run-000000000001:step-0:call-7", "x.0")] {
        let found = defects(with_inner_call(parent, id).as_bytes());
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!((found[0].invariant, found[0].seqs.as_slice()), (Invariant::CallIds, &[6][..]));
    }
}
