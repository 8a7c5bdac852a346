//! Every engine keeps the promises of its port; and the decision point, over real connections.
#![expect(clippy::unwrap_used, reason = "tests")]

mod decision_point;
mod engines;
mod server;
