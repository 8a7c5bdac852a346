//! The durable truth: events, calls, approvals, artifacts.
//!
//! Owns how the [`Journal`](lockgate_contract::ports::Journal) port is kept: [`SqliteJournal`] in one file that several
//! local processes may share, [`MemoryJournal`] for tests and dry runs. Both answer alike (one contract suite runs against
//! both), because what a claim or a decision needs is written once, in `rules`, without any storage. It owns no decision
//! about what happens next in a run, and it never makes an id.

mod error;
mod memory;
mod migration;
mod open;
mod rules;
mod sqlite;
mod stored;

pub use error::OpenError;
pub use memory::MemoryJournal;
pub use open::open;
pub use sqlite::{SqliteJournal, SqliteOptions};
