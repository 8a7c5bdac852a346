//! Why nothing can be sent there.

use thiserror::Error;

/// Why a target cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// No URL.
    #[error("`{0}` is no URL of a webhook: it begins with https://, or with http:// on this machine")]
    Url(String),
    /// The client cannot be made.
    #[error("webhooks cannot be called: {0}")]
    Client(String),
    /// A command of nothing.
    #[error("a command has a program")]
    NoProgram,
}
