//! Cuts the power of a journal's disk, fills it and breaks it, and counts what was lost.
//!
//! ```text
//!   child ── writes events, says which were acknowledged ──► recorder.c (LD_PRELOAD) ──► recording
//!   recording ── up to a cut: what was synced, and any part of what was not ──► image ── opened by the product ──► verdict
//! ```
//!
//! Owns the recorder, the model of a disk (`disk`), the program that is watched (`child`) and the judge. `cargo xtask
//! power-cut` runs all of it; a part are ordinary tests.
#![expect(clippy::disallowed_methods, reason = "a proof starts a compiler and children, and makes and reads raw files")]

pub mod child;
pub mod cuts;
mod disk;
mod judge;
mod recorder;
mod recording;
mod seed;
pub mod small_disk;

pub use cuts::{Promise, Tally, cut};
pub use recorder::{Fault, Recorder};
pub use recording::Recording;

/// What goes wrong in a proof itself.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
