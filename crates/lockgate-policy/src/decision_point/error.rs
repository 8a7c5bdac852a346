//! Why a decision point cannot be asked at all.

use thiserror::Error;

/// Why options make no decision point.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecisionPointError {
    /// A URL that is none, or that says something which does not belong there.
    #[error("the URL of the decision point cannot be used: {0}")]
    Url(&'static str),
    /// Plain HTTP to another machine.
    #[error("the decision point at `{0}` would be asked over plain HTTP")]
    Insecure(String),
    /// A variable that should hold the token.
    #[error("`{0}` holds no token that can be sent")]
    Token(String),
    /// A time-out of nothing.
    #[error("the time-out of the decision point is zero, so no answer could come")]
    Timeout,
    /// The client cannot be made.
    #[error("decision points cannot be asked: {0}")]
    Client(String),
}

impl DecisionPointError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Insecure(_) => Some("use https, or say that this network is trusted with `allow_insecure = true`"),
            Self::Token(_) => Some("set the variable, or take `token_env` out"),
            Self::Url(_) => Some("such as `http://127.0.0.1:8181/v1/data/lockgate/decision`"),
            Self::Timeout | Self::Client(_) => None,
        }
    }
}
