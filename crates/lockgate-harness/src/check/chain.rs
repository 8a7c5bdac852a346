//! The hashes that tie the events of a run to each other.

use lockgate_contract::event::{Body, Chain, Event};

use crate::check::{Defect, Invariant};

/// What is wrong with the hashes; nothing where the run has none and promised none.
pub(super) fn defect(events: &[&Event]) -> Option<Defect> {
    let first = events.first()?;
    let is_promised = matches!(first.body(), Ok(Body::RunStarted(start)) if start.chained);
    if !is_promised && events.iter().all(|event| event.hash.is_none()) {
        return None;
    }
    let mut chain = Chain::begin(&first.run_id);
    let mut broken = Vec::new();
    for event in events {
        let hash = chain.hash(event);
        if event.hash != Some(hash) {
            broken.push(event.seq);
        }
        // Behind what stands there: so one altered event does not make all that follow it look altered.
        chain = Chain::behind(event.hash.unwrap_or(hash));
    }
    let text = match broken.as_slice() {
        [] => return None,
        [one] => format!("event {one} is not the one that was tied to those before it"),
        [first, ..] => format!("events are not those that were tied to the ones before them, first event {first}"),
    };
    Some(Defect { invariant: Invariant::Chain, seqs: broken, call_id: None, text })
}
