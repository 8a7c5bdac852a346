//! The built command, from outside: what is typed, what is printed, what it exits with.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stand outside: real files, real processes, real time"
)]

mod approvals;
mod call;
mod command;
mod compatibility;
mod errors;
mod examples;
mod explain;
#[cfg(unix)]
mod guide;
mod help;
mod interrupts;
mod journal;
#[cfg(feature = "cedar")]
mod policy;
mod redact;
mod resuming;
mod run;
mod runs;
mod secrets;
mod signatures;
mod tools;
mod worker;
