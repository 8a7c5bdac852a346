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
}
