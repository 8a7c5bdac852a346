//! The built command, from outside: what is typed, what is printed, what it exits with.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stand outside: real files, real processes, real time"
)]

mod approvals;
mod backtest;
mod call;
mod command;
mod compatibility;
#[cfg(feature = "http-policy")]
mod decision_point;
mod errors;
mod examples;
mod explain;
mod explaining;
#[cfg(unix)]
mod guide;
mod help;
#[cfg(unix)]
mod hooks;
mod interrupts;
mod journal;
mod login;
#[cfg(feature = "cedar")]
mod policy;
mod redact;
mod remember;
mod resuming;
mod run;
mod runs;
mod secrets;
mod signatures;
mod token;
mod tools;
mod watch;
mod worker;
