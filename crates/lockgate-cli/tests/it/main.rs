//! The built command, from outside: what is typed, what is printed, what it exits with.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod approvals;
mod call;
mod command;
mod errors;
mod explain;
mod help;
mod interrupts;
mod resuming;
mod run;
mod runs;
mod tools;
