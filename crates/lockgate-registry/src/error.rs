//! What registration and look-up refuse.

use thiserror::Error;

use crate::schema::SchemaRefused;

/// Why a tool was not registered. The registry is unchanged.
#[derive(Debug, Clone, Error)]
pub enum RegisterError {
    /// The name is empty or cannot be written down plainly.
    #[error("`{name}` is not a tool name: {problem}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The name is taken.
    #[error("tool `{name}` is registered already, from {existing}; the one from {refused} is refused")]
    Duplicate {
        /// The name.
        name: String,
        /// Where the registered one came from.
        existing: String,
        /// Where the refused one came from.
        refused: String,
    },
    /// A schema cannot be used as it is.
    #[error("the {which} schema of `{tool}` is refused: {cause}")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
        /// Why.
        #[source]
        cause: Box<SchemaRefused>,
    },
    /// An executor was already built from this registry, and this tool has no handler.
    #[error("tool `{0}` has no handler, and an executor was already built from this registry")]
    MissingHandler(String),
    /// There is nothing of this name to replace or revoke.
    #[error("there is no tool `{0}` to replace")]
    NothingToReplace(String),
}

impl RegisterError {
    /// A stable word for counting refusals by reason.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Name { .. } => "name",
            Self::Duplicate { .. } => "duplicate",
            Self::Schema { cause, .. } => cause.word(),
            Self::MissingHandler(_) => "missing_handler",
            Self::NothingToReplace(_) => "nothing_to_replace",
        }
    }
}

/// Why a name does not resolve for a run (C-1).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResolveError {
    /// No such tool.
    #[error("no tool `{0}` is registered")]
    NotRegistered(String),
    /// It exists, and this run may not call it.
    #[error("tool `{name}` {version} is not in the allowed set of {source_of_set}")]
    NotAllowed {
        /// The name.
        name: String,
        /// The registered version: for the audit only (C-10).
        version: String,
        /// Where the allowed set came from.
        source_of_set: String,
    },
    /// The run was bound to it, and it has been taken away.
    #[error("tool `{0}` was revoked")]
    Revoked(String),
    /// The definition is not the one that the run was bound to.
    #[error("tool `{name}` changed: the run is bound to {bound}, registered is {registered}")]
    ContractMismatch {
        /// The name.
        name: String,
        /// The registered version.
        version: String,
        /// The bound definition digest.
        bound: lockgate_contract::digest::Digest,
        /// The registered definition digest.
        registered: lockgate_contract::digest::Digest,
    },
}

impl ResolveError {
    /// The true reason, for the audit.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotRegistered(_) => "not_registered",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Revoked(_) => "revoked",
            Self::ContractMismatch { .. } => "definition_changed",
        }
    }

    /// The registered version, where there is one.
    pub fn registered_version(&self) -> Option<&str> {
        match self {
            Self::NotRegistered(_) | Self::Revoked(_) => None,
            Self::NotAllowed { version, .. } | Self::ContractMismatch { version, .. } => Some(version),
        }
    }
}

/// The tools that an executor cannot dispatch, all of them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("these tools have no handler: {}", .0.join(", "))]
pub struct MissingHandlers(pub Vec<String>);
