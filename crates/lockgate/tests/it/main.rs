//! The façade from outside.
#![expect(clippy::unwrap_used, reason = "tests")]

mod generated;
mod incident;
mod tool_attribute;
