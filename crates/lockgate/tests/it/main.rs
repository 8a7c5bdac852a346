//! The façade from outside.
#![expect(clippy::unwrap_used, reason = "tests")]

mod assembly;
mod cases;
#[cfg(feature = "cedar")]
mod counts;
mod fuzz_corpus;
mod generated;
mod incident;
mod keys;
mod quotas;
mod real;
mod servers;
mod tool_attribute;
mod tool_sets;
mod worker;
mod world;
