//! What a row knows about the world, and what it advises.

use crate::effect::{Effect, EffectState};

/// How a row knows what happened to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectRule {
    /// Nothing happened.
    None,
    /// It happened.
    Done,
    /// Nothing for a read; for the others nobody knows.
    UnknownUnlessRead,
    /// Nobody knows.
    Unknown,
    /// Nothing if the tool says so, else as [`EffectRule::UnknownUnlessRead`].
    NoneIfTheToolSaysSo,
    /// Nothing before the handler started, unknown after.
    ByProgress,
}

impl EffectRule {
    /// The words of the generated pages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Done => "done",
            Self::UnknownUnlessRead => "unknown unless the tool only reads",
            Self::Unknown => "unknown",
            Self::NoneIfTheToolSaysSo => "none if the tool says so, else unknown unless the tool only reads",
            Self::ByProgress => "none before the handler started, unknown after",
        }
    }

    /// The state after a call of a tool with this effect, where the tool said nothing itself.
    pub const fn state(self, effect: Effect, started: bool) -> EffectState {
        match self {
            Self::None => EffectState::None,
            Self::Done => EffectState::Done,
            Self::Unknown => EffectState::Unknown,
            Self::UnknownUnlessRead | Self::NoneIfTheToolSaysSo => match effect {
                Effect::Read => EffectState::None,
                Effect::Write | Effect::External => EffectState::Unknown,
            },
            Self::ByProgress => match (started, effect) {
                (false, _) | (true, Effect::Read) => EffectState::None,
                (true, _) => EffectState::Unknown,
            },
        }
    }
}

/// When a row advises to try again. Advice only: nobody below the harness acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It makes no sense.
    No,
    /// It may help.
    Yes,
    /// Only when nothing can have happened.
    IfNothingHappened,
}

impl Retry {
    /// The words of the generated pages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Yes => "yes",
            Self::IfNothingHappened => "only if nothing can have happened",
        }
    }

    /// The advice after a call that ended in this state.
    pub const fn advises(self, state: EffectState) -> bool {
        match self {
            Self::No => false,
            Self::Yes => true,
            Self::IfNothingHappened => matches!(state, EffectState::None),
        }
    }
}
