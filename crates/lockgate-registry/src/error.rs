//! What registration and look-up refuse.

use lockgate_contract::approval::visible;
use lockgate_contract::digest::Digest;
use thiserror::Error;

use crate::schema::SchemaRefused;

/// Why a tool was not registered. The registry is unchanged.
#[derive(Debug, Clone, Error)]
pub enum RegisterError {
    /// The name is empty or cannot be written down plainly.
    #[error("`{}` is not a tool name: {problem}", shown(name))]
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
    /// There is nothing of this name to replace.
    #[error("there is no tool `{0}` to replace")]
    NothingToReplace(String),
    /// Bound runs were to finish or stop, and could not be told from new ones.
    #[error("the new `{0}` has the very definition of the old one, which runs are bound to: give it another version")]
    SameDefinition(String),
    /// Bound runs were to migrate, and would go on with what is no longer true.
    #[error("runs cannot migrate to the new `{name}`, because its {fact} differs: let them finish or stop")]
    CannotMigrate {
        /// The name.
        name: String,
        /// What runs took over from the old definition.
        fact: &'static str,
    },
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
            Self::SameDefinition(_) => "same_definition",
            Self::CannotMigrate { .. } => "cannot_migrate",
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
        bound: Digest,
        /// The registered definition digest.
        registered: Digest,
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

/// The names that a registry was to be restricted to and does not have, all of them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no such tools: {}", .0.join(", "))]
pub struct UnknownTools(pub Vec<String>);

/// A refused name as it can be printed: its start, with what cannot be seen made visible.
fn shown(name: &str) -> String {
    const MOST: usize = 64;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", visible(&name[..end])),
        None => visible(name),
    }
}
