//! What kind of call is on its way when its driver dies.

use std::time::Duration;

use clap::ValueEnum;
use lockgate::contract::effect::{Effect, Idempotency, Permission};

use crate::counter::Mode;

/// The columns of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Case {
    /// A read; replay `safe`.
    Read,
    /// A write that may be repeated; replay `safe`, declared idempotent.
    Write,
    /// An external effect; replay `never`, and nobody recognises its key.
    External,
    /// An external effect; replay `never`, and its provider recognises the key.
    Keyed,
    /// An external effect; replay `never`, and the tool can be asked what became of it.
    Probed,
    /// Like `external`, and a person is asked.
    ExternalApproved,
    /// Like `keyed`, and a person is asked.
    KeyedApproved,
    /// Like `probed`, and a person is asked.
    ProbedApproved,
    /// Like `external`, as a direct call under a caller's key.
    Direct,
}

impl Case {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Write,
        Self::External,
        Self::Keyed,
        Self::Probed,
        Self::ExternalApproved,
        Self::KeyedApproved,
        Self::ProbedApproved,
        Self::Direct,
    ];

    /// The head of its column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read/safe",
            Self::Write => "write/safe",
            Self::External => "never",
            Self::Keyed => "never + key",
            Self::Probed => "never + reconcile",
            Self::ExternalApproved => "never, asked",
            Self::KeyedApproved => "never + key, asked",
            Self::ProbedApproved => "never + reconcile, asked",
            Self::Direct => "never, direct call",
        }
    }

    /// What the command line calls it.
    pub fn option(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether a person is asked.
    pub fn asks(self) -> bool {
        matches!(self, Self::ExternalApproved | Self::KeyedApproved | Self::ProbedApproved)
    }

    /// How far a lost attempt can be made good.
    pub fn replay(self) -> Replay {
        match self {
            Self::Read => Replay::Repeats,
            Self::Write | Self::Keyed | Self::KeyedApproved => Replay::Keyed,
            Self::Probed | Self::ProbedApproved => Replay::Probed,
            Self::External | Self::ExternalApproved | Self::Direct => Replay::Never,
        }
    }

    pub(crate) fn permission(self) -> Permission {
        if self.asks() { Permission::Ask } else { Permission::Allow }
    }

    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::Read => Effect::Read,
            Self::Write => Effect::Write,
            _ => Effect::External,
        }
    }

    pub(crate) fn idempotency(self) -> Option<(Idempotency, Option<Duration>)> {
        match self {
            Self::Write => Some((Idempotency::Declared, None)),
            Self::Keyed | Self::KeyedApproved => Some((Idempotency::Provider, Some(Duration::from_hours(1)))),
            _ => None,
        }
    }

    /// How the server takes its requests.
    pub(crate) fn mode(self) -> Mode {
        if self.replay() == Replay::Keyed { Mode::Once } else { Mode::Each }
    }
}

/// What recovery may do about a lost attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Do it again.
    Repeats,
    /// Do it again under the same key; whoever gets it does it once.
    Keyed,
    /// Ask what became of it.
    Probed,
    /// Nothing.
    Never,
}
