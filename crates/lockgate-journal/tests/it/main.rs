//! The journal from outside: one contract suite for both backends, and what only a file can do.
#![expect(clippy::unwrap_used, reason = "tests")]

mod contract;
mod equal;
mod sqlite;
mod support;
