//! The gate every tool call of an AI agent passes.
