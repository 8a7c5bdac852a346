//! Why an adapter cannot be built.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use lockgate_contract::ports::ModelError;
use thiserror::Error;

/// Why a script is not accepted. Turns and calls are counted from 0, like the steps and calls of a run.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{}` cannot be read: {}", path.display(), why_unreadable(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The script is larger than [`MAX_SCRIPT_BYTES`](crate::MAX_SCRIPT_BYTES).
    #[error("the script is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that a script may have.
        limit: usize,
    },
    /// The script is not JSON, or JSON that says two things at once (a key that stands twice).
    #[error("the script is not acceptable JSON: {detail}")]
    NotJson {
        /// What is wrong, and where.
        detail: String,
    },
    /// A key that the format does not have.
    #[error("unknown key `{key}` in {place}{}", did_you_mean(nearest.as_deref()))]
    UnknownKey {
        /// Where it stands, such as `turn 2, call 0`.
        place: String,
        /// The key.
        key: String,
        /// The valid key that is spelled most like it.
        nearest: Option<&'static str>,
    },
    /// A key that must be there and is not.
    #[error("{place} has no `{key}`")]
    MissingKey {
        /// Where it is missing.
        place: String,
        /// The key.
        key: &'static str,
    },
    /// A value of the wrong type.
    #[error("{place} must be {expected}")]
    WrongType {
        /// Which value.
        place: String,
        /// What it must be, such as `a string`.
        expected: &'static str,
    },
    /// Keys that exclude each other.
    #[error("{place} has both `{first}` and `{second}`")]
    Conflict {
        /// Where they stand.
        place: String,
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A `${…}` in a text that is no placeholder. A literal `${` is written `$${`.
    #[error("{place}: {detail}")]
    Placeholder {
        /// Which text.
        place: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl ScriptError {
    /// What to do about it, where that is not plain from the message.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotJson { .. } => {
                Some("arguments that are broken on purpose are written as a string under `arguments_text`")
            }
            _ => None,
        }
    }
}

fn why_unreadable(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
        _ => cause.to_string(),
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

/// Why an adapter cannot be built from its options.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// No model was named.
    #[error("no model is named")]
    NoModel,
    /// The base URL cannot be used.
    #[error("the base URL {origin} cannot be used: {detail}")]
    BaseUrl {
        /// Where it came from: the options, or a variable. The URL itself may hold secrets and is not repeated.
        origin: String,
        /// Why not.
        detail: String,
    },
    /// Plain HTTP to another machine.
    #[error(
        "the base URL is plain http to another machine (`{host}`), where anyone on the way can read and change the traffic"
    )]
    Insecure {
        /// The other machine.
        host: String,
    },
    /// The variable that holds the key is not set.
    #[error("the environment variable `{variable}`, which should hold the API key, is not set")]
    NoKey {
        /// Its name.
        variable: String,
    },
    /// The key has characters that cannot stand in a header.
    #[error("the API key in `{variable}` has characters that cannot stand in a header")]
    UnusableKey {
        /// The variable's name.
        variable: String,
    },
    /// A number out of its range.
    #[error("{option} must be {expected}")]
    OutOfRange {
        /// Which option.
        option: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// The extra body is not an object, or has a member that belongs to the adapter.
    #[error("the extra body {detail}")]
    ExtraBody {
        /// What is wrong with it.
        detail: String,
    },
    /// The HTTP client cannot be set up.
    #[error("the HTTP client cannot be set up: {detail}")]
    Client {
        /// What failed.
        detail: String,
    },
}

impl OptionsError {
    /// What to do about it, where that is not plain from the message.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BaseUrl { .. } => Some("a base URL looks like `https://api.openai.com/v1`"),
            Self::Insecure { .. } => Some("use https, or allow insecure connections explicitly"),
            _ => None,
        }
    }
}

impl From<OptionsError> for ModelError {
    fn from(error: OptionsError) -> Self {
        Self::Configuration { detail: error.to_string() }
    }
}
