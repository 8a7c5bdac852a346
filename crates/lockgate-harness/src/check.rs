//! The journal checker: which invariant do these events break, and which events break it (R-214).
//!
//! ```text
//! events ──► in order of their numbers ──► Ledger, one event after the other ──► defects
//!            (gaps, doubles, swaps)        (what must stand before this event,
//!                                           and what must not)
//! ```
//!
//! It is a fold of its own, and a tolerant one: where [`RunState`](crate::RunState) refuses the first event that does not
//! fit, the ledger writes a defect down and goes on as if the event had been right, so that one defect is named once. It
//! knows what Lockgate writes and in which order; whoever changes what is written changes the rule here too. It reads no
//! clock, asks nobody, and takes any events: what it cannot read is a defect, never a panic.
//!
//! It owns the rules over a whole stream of events. What one event may say is typed in the contract; where events are kept
//! is the journal's business.

mod approval;
mod authorisation;
mod call;
mod chain;
mod export;
mod invariant;
mod ledger;
mod model;
mod numbering;
mod outcome;
mod place;
mod recovered;
mod run;
mod settled;
mod signatures;
mod started;
mod stop;

use lockgate_contract::event::Event;
use lockgate_contract::ids::CallId;
use serde::Serialize;

pub use self::export::{Export, ExportedRun};
pub use self::invariant::Invariant;
use self::ledger::Ledger;

/// One invariant that is broken, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Defect {
    /// What does not hold.
    pub invariant: Invariant,
    /// The numbers of the events that show it, ascending: where something is missing, those that it is missing between.
    /// Empty where a line of an export has no readable number, and where there are no events at all.
    pub seqs: Vec<u64>,
    /// The call that it is about.
    pub call_id: Option<CallId>,
    /// What is wrong, for people. It quotes the events, which may hold anything.
    pub text: String,
}

/// The defects of one run's events, in the order in which the events show them; none where every invariant holds.
///
/// The events are taken in the order in which they were stored. A run that has not ended yet, or whose driver died, is no
/// defect.
pub fn events(events: &[Event]) -> Vec<Defect> {
    let (in_order, mut defects) = numbering::in_order(events);
    if events.is_empty() {
        let text = "the run has no events, not even `run.started`".to_owned();
        defects.push(Defect { invariant: Invariant::Beginning, seqs: Vec::new(), call_id: None, text });
    }
    defects.extend(chain::defect(&in_order));
    defects.extend(signatures::defect(&in_order));
    let mut ledger = Ledger::default();
    for event in in_order {
        ledger.take(event);
    }
    ledger.close();
    defects.append(&mut ledger.defects);
    defects.sort_by(|one, other| one.seqs.cmp(&other.seqs).then(one.invariant.cmp(&other.invariant)));
    defects
}

#[cfg(test)]
mod tests;
