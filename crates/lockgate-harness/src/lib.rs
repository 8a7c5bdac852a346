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

mod agent_run;
pub mod check;
mod direct;
mod driver;
mod error;
mod history;
mod live;
mod past;
mod plan;
mod reconcile;
mod result;
#[cfg(test)]
mod sketch;
mod state;
mod stop;
mod stream;
mod turn;

pub use agent_run::AgentRun;
pub use direct::{DirectAnswer, DirectCall};
pub use driver::{Resume, Runner, RunnerOptions};
pub use error::{FoldError, RunError};
pub use past::{Past, PastCall, PastDecision, PastVeto};
pub use plan::{Command, Facts, Planned, Verdict};
pub use reconcile::Reconciliation;
pub use result::{CallSummary, NeutralCall, NeutralMessage, RunResult};
pub use state::RunState;
pub use stop::Stop;
pub use stream::RunStream;
pub use turn::{Call, OpenApproval, Turn};
