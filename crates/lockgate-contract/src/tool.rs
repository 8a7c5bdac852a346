//! A tool: what it is ([`ToolSpec`]) and how it acts ([`Handler`]).

mod context;
mod failure;
mod handler;
mod idempotency_key;
mod spec;

pub use context::{Progress, ToolContext};
pub use failure::{Failure, ToolEnvironmentError, ToolExecutionError};
pub use handler::{Handler, Output, OutputContent, Prepared};
pub use idempotency_key::IdempotencyKey;
pub use spec::{
    Audience, BindsFiles, HarmlessWhen, InvalidSpec, PreCheck, Reconcile, Reconciled, ToolSpec, ToolSpecBuilder,
};
