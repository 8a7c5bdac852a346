//! The peers do what they say, so that a test that fails against one has found something else; and the gateway does what it says
//! before each of them.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do, and stand outside: real files, real time"
)]

mod attacks;
mod beside_hostile;
mod client;
mod counting;
mod echoes;
mod gateway;
mod hostile;
mod killed;
mod loading;
mod others;
mod peer;
mod reports;
mod revoked;
mod table;
mod upstreams;
