//! What a tool may do to the world, and what follows from it.

use serde::{Deserialize, Serialize};

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in files, events and texts.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use word_enum;

word_enum! {
    /// The side-effect class of a tool, from harmless to far-reaching.
    Effect {
        /// Changes nothing.
        Read = "read",
        /// Changes something that this installation owns.
        Write = "write",
        /// Reaches beyond it. What declares nothing is this.
        External = "external",
    }
}

word_enum! {
    /// May an action whose result was lost be run again? Used in recovery only.
    ReplayPolicy {
        /// Repetition does no harm.
        Safe = "safe",
        /// It is never run a second time.
        Never = "never",
    }
}

word_enum! {
    /// What a tool declares about permission, from lax to strict: it never checks it.
    Permission {
        /// Runs without a question.
        Allow = "allow",
        /// A person is asked.
        Ask = "ask",
        /// Never runs.
        Deny = "deny",
    }
}

word_enum! {
    /// What a tool's output is.
    OutputForm {
        /// A value: the output schema speaks of all of it.
        Value = "value",
        /// Content for people and models, as the result of an MCP tool has it: `content`, blocks of text, images, audio and
        /// resources, and `structuredContent`, of which the output schema speaks.
        Content = "content",
    }
}

word_enum! {
    /// What is known about the world after a call.
    EffectState {
        /// Nothing happened.
        None = "none",
        /// It happened.
        Done = "done",
        /// It may or may not have happened.
        Unknown = "unknown",
    }
}

word_enum! {
    /// What identical writes of one turn do.
    OnDuplicate {
        /// Each runs.
        RunEach = "run_each",
        /// The first runs, the others get its result, marked as reused.
        ShareResult = "share_result",
        /// The first runs, the others are refused.
        Reject = "reject",
    }
}

word_enum! {
    /// What a run does after a call whose effect is unknown.
    OnUnknown {
        /// It stops in `needs_reconciliation`.
        Stop = "stop",
        /// It goes on, and the model is told.
        TellModel = "tell_model",
    }
}

word_enum! {
    /// Whether the text of a tool's unexpected errors may reach the model.
    ErrorText {
        /// It may not: the model gets a code and an error id.
        Hidden = "hidden",
        /// The author vouches for it: it is scrubbed, stripped of paths, and shown.
        Vouched = "vouched",
    }
}

word_enum! {
    /// Whether a tool may be left out of the prompt and found by search.
    Deferral {
        /// Always in the prompt.
        Never = "never",
        /// May be left out when there are many.
        Eligible = "eligible",
        /// Left out whenever deferral is active.
        Deferred = "deferred",
    }
}

word_enum! {
    /// Who sees to it that a repeated request has one effect.
    Idempotency {
        /// Nobody.
        None = "none",
        /// The tool says that repetition does no harm.
        Declared = "declared",
        /// The provider does, by the key it is sent.
        Provider = "provider",
    }
}

impl Effect {
    /// The replay policy of a tool that declares none (C-7).
    pub const fn default_replay(self) -> ReplayPolicy {
        match self {
            Self::Read => ReplayPolicy::Safe,
            Self::Write | Self::External => ReplayPolicy::Never,
        }
    }

    /// The permission of a tool that declares none.
    pub const fn default_permission(self) -> Permission {
        match self {
            Self::Read => Permission::Allow,
            Self::Write | Self::External => Permission::Ask,
        }
    }

    /// Whether this changes the world.
    pub const fn changes_something(self) -> bool {
        !matches!(self, Self::Read)
    }
}

#[cfg(test)]
mod tests;
