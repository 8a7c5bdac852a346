//! The tools that exist: registration, look-up, description, discovery.
//!
//! It owns the one map from names to definitions and the admission of their schemas. It does not judge whether anybody may
//! call a tool, and it runs nothing.

pub mod describe;
pub mod discovery;
pub mod error;
pub mod registry;
pub mod schema;

pub use describe::{Description, InternalView, ModelView};
pub use discovery::{Capability, Discovery, Standing};
pub use error::{MissingHandlers, RegisterError, ResolveError, UnknownTools};
pub use registry::{Change, RegisteredTool, Registry, RegistryExecutor, RegistryRules, ReplacementRule};
