//! What a program needs that writes tools, or runs agents, with Lockgate.

pub use std::sync::Arc;

pub use lockgate_contract::document::Document;
pub use lockgate_contract::effect::{Effect, Permission, ReplayPolicy};
pub use lockgate_contract::ports::{Journal, ModelAdapter, PolicyEngine, Redactor, Visibility};
pub use lockgate_contract::result::ToolResult;
pub use lockgate_contract::run::Budget;
pub use lockgate_contract::subject::Subject;
pub use lockgate_contract::tool::{
    Failure, Handler, Output, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec,
};
pub use lockgate_executor::{Gate, GateOptions};
pub use lockgate_harness::{AgentRun, DirectCall, RunResult, Runner, RunnerOptions};
pub use lockgate_host::clock::SystemClock;
pub use lockgate_host::randomness::RandomIds;
pub use lockgate_journal::open as open_journal;
pub use lockgate_macros::tool;
pub use lockgate_models::{ChatCompletions, ScriptedModel};
pub use lockgate_policy::NativePolicy;
pub use lockgate_redact::ScrubberBuilder;
pub use lockgate_registry::{Registry, RegistryRules};
