//! The port for projects that execute actions themselves (C-18).

use crate::arguments::Arguments;
use crate::call::ToolCall;
use crate::ports::BoxFuture;
use crate::tool::{Failure, Output, ToolContext};

/// Executes actions in place of the registered handlers. It stands at the run stage, behind every other check, and sees
/// only calls that passed them.
pub trait ActionExecutor: Send + Sync {
    /// Performs one action. The only place that may say that the environment reported completion.
    fn execute<'a>(
        &'a self,
        call: &'a ToolCall,
        arguments: &'a Arguments,
        context: ToolContext,
    ) -> BoxFuture<'a, Result<ActionReport, Failure>>;
}

/// What a project's own executor answers with.
#[derive(Debug)]
pub struct ActionReport {
    /// The output.
    pub output: Output,
    /// The environment itself said that the goal is reached.
    pub env_reported_completion: bool,
}
