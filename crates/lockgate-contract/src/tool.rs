//! A tool: what it is ([`ToolSpec`]) and how it acts ([`Handler`]).

mod context;
mod failure;
mod handler;
mod spec;

pub use context::{Progress, ToolContext};
pub use failure::{Failure, ToolEnvironmentError, ToolExecutionError};
pub use handler::{Handler, Output, OutputContent, Prepared};
pub use spec::{Audience, HarmlessWhen, InvalidSpec, PreCheck, ToolSpec, ToolSpecBuilder};
