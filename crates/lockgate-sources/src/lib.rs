//! Where tools come from: core sets, catalog rows, mocks.

pub mod catalog;
pub mod core;
pub mod error;
pub mod mock;
