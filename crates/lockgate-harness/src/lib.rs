//! Bounded runs: the pure state machine, its drivers, budgets, waiting and resuming.
//!
//! ```text
//!            events                     commands
//! journal ──────────► RunState::apply ──► RunState::next ──────────► driver ─► model, gate
//!    ▲                (the only change)   (a pure question)             │
//!    └──────────────────────────────────────────────────────────────────┘ appends
//! ```
//!
//! It owns what happens next in a run, and nothing of how a call is checked or run: tools are known to it as
//! [`ToolCall`](lockgate_contract::call::ToolCall), [`ToolResult`](lockgate_contract::result::ToolResult) and
//! [`RunBinding`](lockgate_contract::run::RunBinding) only.

pub mod check;
mod direct;
mod driver;
mod error;
mod history;
mod plan;
mod result;
#[cfg(test)]
mod sketch;
mod state;
mod stream;

pub use direct::{DirectAnswer, DirectCall};
pub use driver::{AgentRun, Resume, Runner, RunnerOptions};
pub use error::{FoldError, RunError};
pub use plan::{Command, Facts, Planned, Verdict};
pub use result::{CallSummary, NeutralCall, NeutralMessage, RunResult};
pub use state::{Call, OpenApproval, RunState, Stop, Turn};
pub use stream::RunStream;
