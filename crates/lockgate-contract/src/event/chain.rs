//! The hashes that tie the events of a run to each other: one that is altered, removed or put in between shows.
//!
//! ```text
//! hash of event n = SHA-256("lockgate.event.v1", hash of event n-1, a line feed, event n)
//! ```
//!
//! Event n is its line in an export without its hash, with its body to the byte. Before the first one stands a hash of the
//! run's id. Who can rewrite every event can rewrite every hash: the last one is worth something where it is kept elsewhere.

use crate::digest::Digest;
use crate::event::Event;
use crate::export::hashed_text;
use crate::ids::RunId;

/// The hash of the last event so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain(Digest);

impl Chain {
    /// Before the first event of a run.
    pub fn begin(run: &RunId) -> Self {
        Self(Digest::of_text("lockgate.chain.v1", run.as_str()))
    }

    /// Behind the event that has this hash.
    pub fn behind(hash: Digest) -> Self {
        Self(hash)
    }

    /// The hash that an event has here. What it says about its own hash does not count.
    pub fn hash(self, event: &Event) -> Digest {
        Digest::of_text("lockgate.event.v1", &format!("{}\n{}", self.0, hashed_text(event)))
    }

    /// Ties the next event to those before it.
    pub fn tie(&mut self, event: &mut Event) {
        self.0 = self.hash(event);
        event.hash = Some(self.0);
    }

    /// The hash of the last event.
    pub fn head(self) -> Digest {
        self.0
    }
}
