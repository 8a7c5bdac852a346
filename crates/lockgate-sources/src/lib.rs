//! Where tools come from: core sets, catalog rows, mocks, typed functions.
//!
//! It owns how a definition and its handler are made, once, from trusted configuration or from Rust types. It registers
//! nothing, and nothing here is looked up when a model calls.

pub mod catalog;
pub mod core;
pub mod error;
pub mod mock;
pub mod typed;
