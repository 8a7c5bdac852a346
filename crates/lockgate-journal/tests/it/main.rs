//! The journal from outside: one contract suite for both backends, and what only a file can do.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "files that are wrong, a second process, and how long was waited")]

mod contract;
mod equal;
mod sqlite;
mod support;
