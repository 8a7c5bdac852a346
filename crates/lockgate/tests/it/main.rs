//! The façade from outside.
#![expect(clippy::unwrap_used, reason = "tests")]

mod cases;
mod generated;
mod incident;
mod tool_attribute;
