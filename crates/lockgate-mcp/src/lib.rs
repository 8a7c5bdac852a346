//! The Model Context Protocol (MCP), both ways and both eras, lossless.
//!
//! [`wire`] has the words of the protocol, [`client`] speaks with servers, [`server`] answers clients,
//! [`upstream`] turns what servers offer into tools. What a message carries is a
//! [`Document`](lockgate_contract::document::Document), and members that nobody here knows are passed on as they came.
//!
//! It owns the protocol. It does not own tools, permissions, names or configuration, and it never decides whether a call runs.

pub mod client;
pub mod oauth;
pub mod server;
pub mod upstream;
pub mod wire;
