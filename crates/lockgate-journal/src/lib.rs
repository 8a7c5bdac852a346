//! The durable truth: events, calls, approvals, artifacts.
//!
//! Owns how the [`Journal`](lockgate_contract::ports::Journal) port is kept: [`SqliteJournal`] in one file that several
//! local processes may share, [`MemoryJournal`] for tests and dry runs; with the feature `postgres`, `PostgresJournal` in a
//! database that several machines may share. All answer alike (one contract suite runs against each), because what a claim
//! or a decision needs is written once, in `rules`, without any storage. It owns no decision about what happens next in a
//! run, and it never makes an id.

mod error;
mod followers;
mod keeping;
mod memory;
mod migration;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
mod rules;
mod signing;
mod sqlite;
mod stored;

pub use error::OpenError;
pub use keeping::holds_together;
pub use memory::MemoryJournal;
pub use open::open;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresClock, PostgresDurability, PostgresJournal, PostgresOptions};
pub use signing::{InvalidKey, PublicKey, SigningJournal, SigningKey, Unsound};
pub use sqlite::{SqliteJournal, SqliteOptions};
