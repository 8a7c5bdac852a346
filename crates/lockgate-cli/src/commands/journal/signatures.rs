//! What `check --public-key` makes of the signatures of decisions.

use std::path::Path;

use lockgate::contract::event::{Event, signed_with};
use lockgate::harness::check::{Defect, Invariant};
use lockgate::host::files;
use lockgate::journal::PublicKey;

use crate::error::CliError;

pub(super) fn public_key(path: &Path) -> Result<PublicKey, CliError> {
    let text = files::read_to_string(path).map_err(|cause| CliError::File { path: path.to_owned(), cause })?;
    PublicKey::parse(&text).map_err(|cause| CliError::Key { path: path.to_owned(), cause })
}

/// Which of the keys a run is held to: the one that it begins with, or else the first.
pub(super) fn key_of<'k>(events: &[Event], keys: &'k [PublicKey]) -> Option<&'k PublicKey> {
    let began_with = signed_with(events);
    let own = keys.iter().find(|key| began_with.as_ref().is_some_and(|began_with| *began_with == key.to_string()));
    own.or(keys.first())
}

/// Every decision that is not what the holder of the key signed.
pub(super) fn defects<'e>(key: &'e PublicKey, events: &'e [Event]) -> impl Iterator<Item = Defect> + 'e {
    // What has a signature and is no decision any more was altered.
    events.iter().filter(|event| event.is_decision() || event.signature().is_some()).filter_map(|event| {
        let unsound = key.verify(event).err()?;
        Some(Defect {
            invariant: Invariant::Signatures,
            seqs: vec![event.seq],
            call_id: event.call_id.clone(),
            text: format!("the decision in event {}, `{}`: {unsound}", event.seq, event.kind),
        })
    })
}
