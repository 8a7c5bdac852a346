//! The port to stored outputs.

use thiserror::Error;

use crate::ids::ArtifactId;
use crate::ports::BoxFuture;

/// Where the whole of a shortened output is kept. A handler that was given one sees only its own run's artifacts.
pub trait ArtifactStore: Send + Sync {
    /// The full scrubbed text of an artifact.
    fn read<'a>(&'a self, artifact: &'a ArtifactId) -> BoxFuture<'a, Result<String, ArtifactError>>;
}

/// Why an artifact cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArtifactError {
    /// This run has no such artifact.
    #[error("there is no artifact `{0}` in this run")]
    NotFound(ArtifactId),
    /// The store does not answer.
    #[error("artifacts cannot be read now: {0}")]
    Unavailable(String),
}
