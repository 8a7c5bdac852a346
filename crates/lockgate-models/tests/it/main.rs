//! The adapters against a real HTTP server on this machine.
#![expect(clippy::unwrap_used, reason = "tests")]

mod anthropic;
mod faults;
mod gemini;
mod local;
mod recorded;
mod server;
