//! Why a mock or a catalog is refused when it is loaded.

use std::fmt;
use std::io;
use std::path::PathBuf;

use lockgate_contract::outcome::InvalidToolCode;
use lockgate_contract::tool::InvalidSpec;
use thiserror::Error;

/// Why tools from a file cannot be used. Nothing of the file is used then (architecture rule 9).
///
/// For people: paths and values are shown in full.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The catalog's file cannot be read.
    #[error("the catalog `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The catalog's file is no TOML, and no SQLite database either.
    #[error("the catalog `{}` is neither TOML nor a SQLite database: {detail}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// What the TOML reader said, with line and column.
        detail: String,
    },
    /// The SQLite database cannot be read as a catalog.
    #[error("the catalog `{}` is a SQLite database whose table `tools` cannot be read: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Something is wrong with the file as a whole.
    #[error("the catalog `{}`: {problem}", path.display())]
    Catalog {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// One row of a catalog is refused.
    #[error("{row} of the catalog `{}`: {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Which row.
        row: RowLabel,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// A mock is refused.
    #[error("mock tool `{tool}`: {problem}")]
    Mock {
        /// Its name.
        tool: String,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// A resolver or a handler was to take a name that is taken.
    #[error("the {what} `{name}` is registered already")]
    Registered {
        /// `kind` or `native handler`.
        what: &'static str,
        /// The name.
        name: String,
    },
}

impl SourceError {
    /// What to do about it, where that is not plain from the message.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => {
                Some("check the path in `[tools] catalog`; it is relative to the run file".into())
            }
            Self::NotToml { .. } | Self::Registered { .. } => None,
            Self::Database { .. } => Some("a catalog database has one table `tools` with a row for each tool".into()),
            Self::Catalog { problem, .. } | Self::Row { problem, .. } | Self::Mock { problem, .. } => problem.hint(),
        }
    }
}

/// A row as people find it: by its name, or by its place where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowLabel {
    /// The row's own name.
    Named(String),
    /// Its place, counted from 1.
    Numbered(usize),
}

impl fmt::Display for RowLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "tool `{name}`"),
            Self::Numbered(number) => write!(f, "row {number}"),
        }
    }
}

/// What is wrong with a tool's declaration, target or behaviour.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The tool has no name.
    #[error("the name is empty")]
    EmptyName,
    /// Two tools of one file have one name.
    #[error("row {first} has the same name")]
    DuplicateName {
        /// The place of the first of them, counted from 1.
        first: usize,
    },
    /// A key that nobody reads.
    #[error("unknown key `{key}`{}", place(within))]
    UnknownKey {
        /// The key.
        key: String,
        /// A JSON pointer to the table it stands in; empty for the tool itself.
        within: String,
        /// The valid key that is spelled most like it.
        nearest: Option<String>,
        /// All valid keys.
        valid: Vec<String>,
    },
    /// A value of the wrong type or form, or a key that is missing.
    #[error("{detail}")]
    Invalid {
        /// What is wrong, and where.
        detail: String,
    },
    /// No resolver has this name.
    #[error("unknown kind `{kind}`")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// The kind that is spelled most like it.
        nearest: Option<String>,
        /// All kinds.
        valid: Vec<String>,
    },
    /// The program registered no handler under this key.
    #[error("there is no native handler `{key}`")]
    UnknownHandler {
        /// The key.
        key: String,
        /// The key that is spelled most like it.
        nearest: Option<String>,
        /// All keys.
        valid: Vec<String>,
    },
    /// The tool's definition contradicts itself.
    #[error(transparent)]
    Spec(#[from] InvalidSpec),
    /// A schema cannot be used.
    #[error("the {which} schema is refused: {detail}")]
    Schema {
        /// `input` or `output`.
        which: &'static str,
        /// Why.
        detail: String,
    },
    /// A path that a target may not name.
    #[error("`{key} = \"{path}\"` is refused: {reason}")]
    Path {
        /// The key that holds the path.
        key: &'static str,
        /// The path as it stands in the file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A data file cannot be used.
    #[error("the data file `{}` {detail}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A code that a tool may not use as its own.
    #[error("{0}")]
    Code(#[from] InvalidToolCode),
    /// The list of behaviour is empty.
    #[error("`behaviour` is an empty list")]
    NoBehaviour,
    /// One entry of the behaviour is refused.
    #[error("behaviour entry {number} {problem}")]
    Behaviour {
        /// Its place, counted from 1.
        number: usize,
        /// What is wrong with it.
        problem: EntryProblem,
    },
}

/// What is wrong with one entry of a mock's behaviour. The sentences follow on from "behaviour entry 2".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryProblem {
    /// It says nothing.
    #[error("says nothing")]
    NoOutcome,
    /// It says two things at once.
    #[error("has two outcomes, `{first}` and `{second}`")]
    TwoOutcomes {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A key that says nothing without another.
    #[error("has `{key}` without `{without}`")]
    Alone {
        /// The key.
        key: &'static str,
        /// What it belongs to.
        without: &'static str,
    },
    /// An environment failure that claims to have had its effect.
    #[error("is an environment failure with `effect_state = \"done\"`, which no handler can claim")]
    DoneByFailure,
    /// The hex text is no bytes.
    #[error("has a `returns_hex` that is not pairs of hex digits: {detail}")]
    Hex {
        /// What is wrong with it.
        detail: String,
    },
    /// The failure's code cannot be a tool's own.
    #[error("has an unusable code: {0}")]
    Code(#[from] InvalidToolCode),
    /// The repeated text is larger than is sensible.
    #[error("returns a text of more than {limit} bytes")]
    TextTooLong {
        /// The most bytes.
        limit: usize,
    },
}

impl Problem {
    /// What to do about it, where that is not plain from the message.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::EmptyName => Some("every tool needs a name of its own".into()),
            Self::DuplicateName { .. } => {
                Some("rename one of them, or set `enabled = false` on the one that is not wanted".into())
            }
            Self::UnknownKey { nearest, valid, .. } => Some(nearest_or_all(nearest.as_deref(), "keys", valid)),
            Self::UnknownKind { nearest, valid, .. } => Some(nearest_or_all(nearest.as_deref(), "kinds", valid)),
            Self::UnknownHandler { valid, .. } if valid.is_empty() => Some(
                "native handlers are registered by the program that embeds Lockgate; this one registered none".into(),
            ),
            Self::UnknownHandler { nearest, valid, .. } => {
                Some(nearest_or_all(nearest.as_deref(), "native handlers", valid))
            }
            Self::Path { .. } => Some("use a relative path to a place inside the catalog's folder".into()),
            Self::NoBehaviour => Some("leave `behaviour` out to return `{}`".into()),
            Self::Behaviour { problem, .. } => problem.hint().map(str::to_owned),
            Self::Invalid { .. } | Self::Spec(_) | Self::Schema { .. } | Self::Data { .. } | Self::Code(_) => None,
        }
    }
}

impl EntryProblem {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoOutcome => Some(
                "an entry has one of `returns`, `fails`, `environment_error`, `panics`, `errors`, `sleeps`, `echoes`, `returns_text`, `returns_raw`, `returns_hex`",
            ),
            Self::TwoOutcomes { .. } => Some("give each outcome an entry of its own: one entry is used a call"),
            Self::DoneByFailure => Some("`effect_state` of an environment failure is `none` or `unknown`"),
            Self::Alone { .. } | Self::Hex { .. } | Self::Code(_) | Self::TextTooLong { .. } => None,
        }
    }
}

fn nearest_or_all(nearest: Option<&str>, what: &str, valid: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the {what} are `{}`", valid.join("`, `")),
    }
}

fn place(within: &str) -> String {
    if within.is_empty() { String::new() } else { format!(" in `{within}`") }
}
