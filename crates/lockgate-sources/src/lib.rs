//! Where tools come from: core sets, catalog rows, mocks.

pub mod core;
