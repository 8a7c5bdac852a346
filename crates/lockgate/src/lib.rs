//! The gate every tool call of an AI agent passes.
//!
//! One façade over the parts: [`prelude`] has what a program needs that embeds Lockgate, the modules have everything else
//! under the names of the crates that own it, and [`assembly`] puts a run file together.

pub mod assembly;
pub mod deciding;
pub mod prelude;
pub mod worker;

#[doc(inline)]
pub use lockgate_config as config;
#[doc(inline)]
pub use lockgate_contract as contract;
#[doc(inline)]
pub use lockgate_executor as executor;
#[doc(inline)]
pub use lockgate_harness as harness;
#[doc(inline)]
pub use lockgate_host as host;
#[doc(inline)]
pub use lockgate_journal as journal;
#[doc(inline)]
pub use lockgate_mcp as mcp;
#[doc(inline)]
pub use lockgate_models as models;
#[doc(inline)]
pub use lockgate_notify as notify;
#[doc(inline)]
pub use lockgate_policy as policy;
#[doc(inline)]
pub use lockgate_redact as redact;
#[doc(inline)]
pub use lockgate_registry as registry;
#[doc(inline)]
pub use lockgate_sandbox as sandbox;
#[doc(inline)]
pub use lockgate_sources as sources;

mod tool_attribute;

/// What the expansion of `#[tool]` names; not for use by hand.
#[doc(hidden)]
pub mod private {
    pub use crate::tool_attribute::*;
}

pub use lockgate_contract::tool::{
    Failure, Handler, Output, ToolContext, ToolEnvironmentError, ToolExecutionError, ToolSpec, ToolSpecBuilder,
};
/// Turns an asynchronous function into a tool.
pub use lockgate_macros::tool;

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The guide's code compiles and runs.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/write-a-tool.md")]
    struct WriteATool;

    #[doc = include_str!("../../../docs/guide/embed.md")]
    struct Embed;
}
