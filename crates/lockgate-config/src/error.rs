//! What is wrong with a file that an operator wrote.

use std::path::{Path, PathBuf};

use lockgate_contract::nearest::nearest;
use thiserror::Error;

/// A file that cannot be used: what, where, and with [`ConfigError::hint`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// It is no TOML, or a value is of the wrong form.
    #[error("`{}`, line {line}: {detail}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        detail: String,
    },
    /// A key that does not exist.
    #[error("`{}`, line {line}: there is no key `{key}` here", .path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The keys that exist here.
        valid: Vec<String>,
    },
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } | Self::Invalid { .. } => None,
            Self::UnknownKey { key, valid, .. } => match nearest(key, valid.iter().map(String::as_str)) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None if valid.is_empty() => None,
                None => Some(format!("the keys here are {}", valid.join(", "))),
            },
        }
    }

    /// Says where and what, from what the TOML reader found.
    pub(crate) fn from_toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let (path, message) = (path.to_owned(), error.message());
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let mut words = message.split('`').skip(1).step_by(2).map(str::to_owned);
        match (message.starts_with("unknown field"), words.next()) {
            (true, Some(key)) => Self::UnknownKey { path, line, key, valid: words.collect() },
            _ => Self::Invalid { path, line, detail: message.trim_end().replace('\n', "; ") },
        }
    }
}
