//! Runs from their first event to their last: drivers, approvals, cancels, crashes, direct calls, secrets.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod approvals;
mod approvers;
mod bench;
mod cancelling;
mod chance;
mod crashes;
mod direct;
mod invariants;
mod journals;
mod languages;
mod model;
mod models;
mod observers;
mod parallel;
mod past;
mod recovery;
mod runs;
mod secrets;
mod tools;
