//! The journal from outside: one contract suite for every backend, and what only a file or a database can do.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "files that are wrong, a second process, and how long was waited")]

mod contract;
mod equal;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
mod support;
