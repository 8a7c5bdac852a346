//! What a policy answered, where other things than its answer end a call or start it.

use serde_json::json;

use super::corpus::{defects, journal};
use super::corruption::Journal;
use crate::check::{Defect, Invariant};

/// A good journal, changed.
fn changed(name: &str, change: fn(&mut Journal)) -> String {
    let mut journal = Journal::of(&journal(name));
    change(&mut journal);
    journal.text()
}

/// Another engine has other words for a policy that asks: the approval is what counts.
#[test]
fn a_policy_of_another_engine_may_ask() {
    let text = changed("approval", |journal| {
        journal.edit(11, "/data/policies/0", "cedar:four-eyes");
        journal.edit(12, "/data/audit/policies/0", "cedar:four-eyes");
    });
    assert_eq!(defects(text.as_bytes()), []);
}

/// A cancel and a defect of the gate settle also what was denied; nothing else does.
#[test]
fn a_denied_call_can_end_otherwise() {
    let cancelled = changed("refusals", |journal| journal.edit(9, "/data/code", "cancelled"));
    let defect = changed("refusals", |journal| {
        journal.edit(9, "/data/code", "gate_internal_error");
        journal.add(9, "/data", "meta", json!({ "error_id": "err-1" }));
    });
    for text in [cancelled, defect] {
        assert_eq!(defects(text.as_bytes()), []);
    }
    let text = changed("refusals", |journal| journal.edit(9, "/data/code", "blocked"));
    assert!(!defects(text.as_bytes()).is_empty());
}

/// A start without an approval is said once, where it starts, and not again where it ends.
#[test]
fn a_start_without_an_approval_is_said_once() {
    let text = changed("approval", |journal| journal.drop_and_close(10));
    let found = defects(text.as_bytes());
    let said = found.iter().filter(|defect| defect.invariant == Invariant::Authorisation);
    assert_eq!(said.map(|defect| defect.seqs.last().copied()).collect::<Vec<_>>(), [Some(10)], "{found:#?}");
}

/// Each refusal because of an approval needs an event that says so of one.
#[test]
fn a_refusal_because_of_an_approval_is_backed() {
    let withdrawn = changed("refusals", |journal| journal.edit(16, "/data/code", "approval_withdrawn"));
    let used = changed("refusals", |journal| journal.edit(16, "/data/code", "approval_used"));
    // Nobody was asked about this one.
    let expired = changed("refusals", |journal| journal.edit(9, "/data/code", "approval_expired"));
    for (text, seq) in [(withdrawn, 16), (used, 16), (expired, 9)] {
        let found = defects(text.as_bytes());
        let is_said = |defect: &Defect| defect.invariant == Invariant::ApprovalOrder && defect.seqs.contains(&seq);
        assert!(found.iter().any(is_said), "{found:#?}");
    }
}
