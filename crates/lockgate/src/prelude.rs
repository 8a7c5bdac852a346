//! What a program needs that writes tools, or runs agents, with Lockgate.

pub use std::sync::Arc;

pub use lockgate_contract::approval::{Approval, ApprovalState};
pub use lockgate_contract::arguments::Arguments;
pub use lockgate_contract::call::{ActionLanguage, ToolCall};
pub use lockgate_contract::document::Document;
pub use lockgate_contract::effect::{Effect, OnUnknown, Permission, ReplayPolicy};
pub use lockgate_contract::ports::{
    ActionExecutor, ActionReport, ApprovalFilter, BoxFuture, Clock, Decision, HookAnswer, HookedCall, Ids, Journal,
    ModelAdapter, ModelError, ModelRequest, ModelResponse, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict,
    ProposedCall, Redactor, RunFilter, VetoHook, Visibility,
};
pub use lockgate_contract::result::ToolResult;
pub use lockgate_contract::run::{Budget, Completion, Limit, RunStatus};
pub use lockgate_contract::subject::Subject;
pub use lockgate_contract::tool::{
    Failure, Handler, Output, Reconciled, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec,
};
pub use lockgate_executor::{Dispatch, Gate, GateOptions, Veto};
pub use lockgate_harness::{AgentRun, DirectCall, Resume, RunResult, RunState, Runner, RunnerOptions, Stop};
pub use lockgate_host::clock::SystemClock;
pub use lockgate_host::randomness::RandomIds;
pub use lockgate_journal::open as open_journal;
pub use lockgate_macros::tool;
pub use lockgate_models::{Provider, RemoteModel, RemoteOptions, ScriptedModel};
pub use lockgate_policy::NativePolicy;
pub use lockgate_redact::{ScrubberBuilder, SecretValue};
pub use lockgate_registry::{Registry, RegistryRules};
