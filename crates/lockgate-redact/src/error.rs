//! What can go wrong while a scrubber is built; scrubbing itself cannot fail.

use crate::builder::MINIMUM_LENGTH;

/// Why a [`ScrubberBuilder`](crate::ScrubberBuilder) refused something. No message ever holds a secret's value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The value is so short that it would be found everywhere by chance.
    #[error(
        "secret `{name}` has {length} characters after trimming; at least {MINIMUM_LENGTH} are needed to find it safely"
    )]
    SecretTooShort {
        /// The refused secret's name.
        name: String,
        /// Its length in characters, after trimming.
        length: usize,
    },

    /// The name cannot stand in a marker.
    #[error("secret name `{name}` is not 1 to 64 characters out of ASCII letters, digits, `_`, `-`, `.`, `:` and `/`")]
    UnusableName {
        /// The refused name.
        name: String,
    },

    /// The value is part of the text that markers are made of, so that a marker would show it.
    #[error("the value of secret `{name}` is part of a marker's own text or of a secret's name")]
    ValueInMarker {
        /// The refused secret's name.
        name: String,
    },

    /// The allow-list entry is not a SHA-256 digest.
    #[error("allow-list entry `{entry}` is not a SHA-256 digest of 64 hexadecimal digits")]
    UnusableDigest {
        /// The refused entry.
        entry: String,
    },

    /// A file with rules that is none.
    #[error("the redaction rules in `{file}` cannot be read: {problem}")]
    RuleFile {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },

    /// A rule of a file that would not do what it is meant for.
    #[error("redaction rule `{rule}` in `{file}` cannot be used: {problem}")]
    Rule {
        /// The file.
        file: String,
        /// The rule's id.
        rule: String,
        /// What is wrong with it.
        problem: String,
    },

    /// The rules that come with the program, which its tests rule out.
    #[error(transparent)]
    OwnRules(&'static Self),

    /// So many literals or secrets that no automaton can be built over them.
    #[error("no search automaton can be built over {count} literals")]
    Automaton {
        /// How many literals were to be searched for.
        count: usize,
        /// What the automaton's builder says.
        #[source]
        source: Box<aho_corasick::BuildError>,
    },
}

impl RedactError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::SecretTooShort { .. } => Some("use a longer secret"),
            Self::ValueInMarker { .. } => Some("use another secret, or name it and the rules differently"),
            Self::UnusableDigest { .. } => Some("write what `printf %s VALUE | sha256sum` prints"),
            Self::RuleFile { .. } | Self::Rule { .. } => Some("docs/redaction.md shows how rules are written"),
            Self::UnusableName { .. } | Self::OwnRules(_) | Self::Automaton { .. } => None,
        }
    }
}
