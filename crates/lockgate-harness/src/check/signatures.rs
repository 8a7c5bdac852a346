//! Whether every decision of a run is signed, where one is. Who signed it is looked at by whoever has the public key.

use lockgate_contract::event::Event;

use crate::check::{Defect, Invariant};

/// What is wrong with the signatures; nothing where the run has none.
pub(super) fn defect(events: &[&Event]) -> Option<Defect> {
    if events.iter().all(|event| event.signature().is_none()) {
        return None;
    }
    let is_signed = |event: &Event| event.signature().is_some_and(|signed| signed.text.is_some());
    let unsigned: Vec<u64> =
        events.iter().filter(|event| event.is_decision() != is_signed(event)).map(|event| event.seq).collect();
    let text = match unsigned.as_slice() {
        [] => return None,
        [one] => format!("event {one} is a decision without a signature, or has one and is none"),
        [first, ..] => {
            format!("events are decisions without a signature, or have one and are none, first event {first}")
        }
    };
    Some(Defect { invariant: Invariant::Signatures, seqs: unsigned, call_id: None, text })
}
