//! THE GATE: one fixed order of checks around every handler.
//!
//! ```text
//! model text ─► proposed ─► resolved ─► validated ─► authorized ─► recorded ─► ran ─► checked ─► released
//! ```
//!
//! One file a stage, named after the token that it makes. A token can only be made in its stage's module, and owns the
//! token before it: code that skips or swaps a stage does not compile. [`Gate::call`] in `pipeline.rs` reads like this
//! picture. The crate sees the contract, the registry and the ports; it knows no model, no run and no database.

mod authorized;
mod caller;
mod checked;
mod considered;
mod decided;
mod error;
mod exit;
mod gate;
mod hooks;
mod keys;
mod limit;
mod pipeline;
mod proposed;
mod ran;
mod reconciled;
mod recorded;
mod released;
mod resolved;
mod run_log;
mod scope;
mod trail;
mod validated;
mod vouched;

pub use considered::Considered;
pub use error::GateError;
pub use gate::{ArgumentErrors, Dispatch, Gate, GateBuilder, GateOptions};
pub use hooks::{ToolNames, Veto};
pub use released::{Open, Released, Settlement};
pub use run_log::{Observer, RunLog, show};
pub use scope::{EarlierCall, Request, Scope, Terms, Then};
pub use trail::StageTimes;
