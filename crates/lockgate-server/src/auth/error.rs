//! Why nobody can be let in.

use std::path::Path;

use lockgate::host::private_files::PrivateFileError;
use thiserror::Error;

/// Why `[auth]` cannot be used.
#[derive(Debug, Clone, Error)]
pub enum AuthError {
    /// The table.
    #[error("{0}")]
    Table(String),
    /// A file that it names.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// Where an issuer's keys are.
    #[error("the keys of the issuer `{issuer}` cannot be at `{url}`: {wrong}")]
    KeysUrl {
        /// The issuer.
        issuer: String,
        /// Where they were to be.
        url: String,
        /// Why not.
        wrong: &'static str,
    },
}

impl AuthError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Table(_) | Self::KeysUrl { .. } => None,
            Self::File(problem) => problem.hint.clone(),
        }
    }
}

/// Why a file lets nobody in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct FileProblem {
    text: String,
    hint: Option<String>,
}

impl FileProblem {
    /// It is there, and makes no sense.
    pub(super) fn broken(path: &Path, detail: &str) -> Self {
        let text = format!("`{}` cannot be used: {detail}", path.display());
        Self { text, hint: Some("nobody comes in by it until it is mended".to_owned()) }
    }
}

impl From<PrivateFileError> for FileProblem {
    fn from(error: PrivateFileError) -> Self {
        Self { text: error.to_string(), hint: error.hint() }
    }
}
