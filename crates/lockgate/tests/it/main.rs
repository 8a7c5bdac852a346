//! The façade from outside.
#![expect(clippy::unwrap_used, reason = "tests")]

mod tool_attribute;
