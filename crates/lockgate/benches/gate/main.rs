//! What the gate costs: `cargo bench -p lockgate --bench gate`, or a part of it: `… -- registry`. What rules of Cedar add:
//! `cargo bench -p lockgate --features cedar --bench gate -- '^policy/'`.
//!
//! Ratios within one run are what counts: machines differ, and so does one machine from minute to minute. What was measured
//! stands in `docs/performance.md`.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

mod calls;
mod parts;
#[cfg(feature = "cedar")]
mod policies;
mod registry;
mod setup;
mod sqlite;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, calls::each, calls::turn, parts::each, registry::sizes, sqlite::callers);
#[cfg(feature = "cedar")]
criterion_group!(rules, policies::beside_native);
#[cfg(feature = "cedar")]
criterion_main!(benches, rules);
#[cfg(not(feature = "cedar"))]
criterion_main!(benches);
