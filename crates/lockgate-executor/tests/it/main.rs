//! The gate from outside: every check in its place, every ending once.
#![expect(clippy::unwrap_used, reason = "tests")]

mod approvals;
mod authority;
mod bench;
mod building;
mod cancelling;
mod considered;
mod content;
mod counts;
mod dropping;
mod faults;
mod handlers;
mod hooks;
mod order;
mod order_by_type;
mod outcomes;
mod output;
mod own_executor;
mod panics;
mod relaxation;
mod secrets;
mod time_outs;
mod turns;
