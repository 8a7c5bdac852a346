//! Why a gate cannot be built.

use lockgate_registry::MissingHandlers;
use thiserror::Error;

/// A gate that would not hold is not built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// The executor was derived from another registry than the one that the gate looks names up in.
    #[error("the executor dispatches to another registry than the gate resolves names in")]
    RegistryMismatch,
    /// Some tools cannot be dispatched.
    #[error(transparent)]
    MissingHandlers(#[from] MissingHandlers),
    /// A hook that audits could not name.
    #[error("`{0}` is no name for a hook: letters, digits, `.`, `_` and `-` make one")]
    HookName(String),
    /// Two hooks that audits could not tell apart.
    #[error("two hooks are called `{0}`")]
    HookTwice(String),
}
