//! Peers of the MCP client, server and gateway in tests.
//!
//! [`fixture`] is a server on the official crate `rmcp` with everything that the conformance suite of the protocol asks a server for:
//! what it scores directly, the gateway in front of it has to score too. [`echo`] and [`count`] are servers that measure: how long a
//! call takes, and how often one happened. [`hostile`] are servers that no crate would write. [`load`] calls a server many times.
//!
//! None of it is shipped, and none of it knows the gateway: each is told on the command line whom it serves or calls.

pub mod count;
pub mod echo;
pub mod error;
pub mod fixture;
pub mod hostile;
pub mod listen;
pub mod load;
pub mod one_tool;
