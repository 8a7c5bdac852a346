//! Why an approval is not remembered.

use thiserror::Error;

/// Why an approval is not remembered. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotRemembered {
    /// It would never apply.
    #[error("it would be remembered for no call")]
    NoUse,
    /// It would never apply, or for too long.
    #[error("an approval is remembered for some time, and for 90 days at most")]
    Lasts,
    /// The tool was replaced.
    #[error("tool `{0}` is not what it was when the question was asked")]
    OtherTool(String),
    /// The record does not have what was approved.
    #[error("a secret was taken out of the stored arguments: they are not what was approved")]
    Secret,
    /// Rules know nothing of it.
    #[error("it was given for one environment, or for files as they were, and rules compare neither")]
    Circumstances,
    /// There is no such argument.
    #[error("tool `{tool}` declares no argument `{name}`")]
    NoSuchArgument {
        /// The tool.
        tool: String,
        /// As it was typed.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
    },
    /// Any value may be too much.
    #[error("`{0}` has effect external, and may destroy: each of its arguments stays what was approved")]
    Destructive(String),
    /// Nothing of the call would be left.
    #[error("every argument of `{0}` could have any value: that is no approval of a call any more")]
    Everything(String),
    /// An argument that rules cannot compare exactly.
    #[error("the argument `{path}` cannot be compared exactly: {why}")]
    Argument {
        /// Where it stands; empty for the arguments as a whole.
        path: String,
        /// Why not.
        why: &'static str,
    },
    /// Other rules stand against it.
    #[error("the rules would still answer `{answer}`: {reason}")]
    StillRefused {
        /// `ask` or `deny`.
        answer: &'static str,
        /// Why.
        reason: String,
    },
    /// It would do more than it is meant to.
    #[error("the rule would allow more than the approved call")]
    TooWide,
}

impl NotRemembered {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSuchArgument { nearest: Some(nearest), .. } => return Some(format!("did you mean `{nearest}`?")),
            Self::NoSuchArgument { .. } => "`lockgate tools describe` shows what it takes",
            Self::Destructive(_) | Self::Everything(_) => "write a rule of your own, if that is what is meant",
            Self::Argument { .. } | Self::Circumstances => "write a rule of your own, or go on being asked",
            Self::StillRefused { .. } => "a rule that forbids is stronger than any that permits",
            Self::OtherTool(_) => "approve a call of the tool as it is now, and remember that",
            Self::NoUse | Self::Lasts | Self::Secret | Self::TooWide => return None,
        };
        Some(hint.to_owned())
    }
}
