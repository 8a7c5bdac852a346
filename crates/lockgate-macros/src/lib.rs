//! The attribute that turns an async function into a tool.
