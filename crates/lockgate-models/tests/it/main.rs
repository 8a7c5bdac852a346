//! The adapters against a real HTTP server on this machine.
#![expect(clippy::unwrap_used, reason = "tests")]

mod faults;
mod recorded;
mod server;
