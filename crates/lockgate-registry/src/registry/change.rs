//! What happened to a registry.

use lockgate_contract::digest::Digest;

use crate::error::RegisterError;

/// What becomes of the runs that are bound to a replaced definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementRule {
    /// They go on with the old definition.
    Finish,
    /// Their calls reach the new definition.
    Migrate,
    /// Their calls are refused with `definition_changed`.
    Stop,
}

/// What happened to the registry, in order: nothing is overwritten or refused silently.
#[derive(Debug, Clone)]
pub enum Change {
    /// A tool was registered.
    Registered {
        /// Its name.
        name: String,
        /// Its definition digest.
        definition: Digest,
    },
    /// A tool was not registered.
    Refused {
        /// Its name.
        name: String,
        /// Why.
        error: RegisterError,
    },
    /// A definition stopped being valid.
    Replaced {
        /// The name.
        name: String,
        /// The old definition.
        from: Digest,
        /// The new one.
        to: Digest,
        /// What becomes of bound runs.
        rule: ReplacementRule,
    },
    /// A tool was taken away.
    Revoked {
        /// Its name.
        name: String,
        /// Its definition.
        definition: Digest,
    },
}
