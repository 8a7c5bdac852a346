//! The three ways in which a handler fails, and no other (architecture section 4).

use crate::document::Document;
use crate::effect::EffectState;
use crate::outcome::{InvalidToolCode, ToolCode};

/// A business failure with the tool's own stable code.
#[derive(Debug, Clone)]
pub struct ToolExecutionError {
    pub(crate) code: Result<ToolCode, InvalidToolCode>,
    pub(crate) message: String,
    pub(crate) retryable: bool,
    pub(crate) effect_state: EffectState,
    pub(crate) details: Option<Document>,
}

impl ToolExecutionError {
    /// A failure that changed nothing and is not worth a retry. `message` reaches the model, scrubbed. A `code` that
    /// cannot be a tool's own makes this a bug of the tool instead.
    pub fn new(code: impl Into<std::borrow::Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: ToolCode::new(code),
            message: message.into(),
            retryable: false,
            effect_state: EffectState::None,
            details: None,
        }
    }

    /// Advises that trying again may help. Advice only.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Says what is known about the world after the failure; without it, nothing happened.
    #[must_use]
    pub fn effect_state(mut self, state: EffectState) -> Self {
        self.effect_state = state;
        self
    }

    /// Says more than a sentence can, such as the whole result in which a server reports the failure. It reaches the model, scrubbed
    /// and limited as an output is.
    #[must_use]
    pub fn details(mut self, details: Document) -> Self {
        self.details = Some(details);
        self
    }
}

/// The tool's environment is broken or out of reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEnvironmentError {
    pub(crate) message: String,
    pub(crate) nothing_happened: bool,
}

impl ToolEnvironmentError {
    /// `message` is for people: it goes to the audit.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), nothing_happened: false }
    }

    /// Vouches that no effect took place.
    #[must_use]
    pub fn nothing_happened(mut self) -> Self {
        self.nothing_happened = true;
        self
    }
}

/// Why a handler has no output. Any error that is neither of the two typed ones is a bug of the tool.
#[derive(Debug)]
pub enum Failure {
    /// The tool reports a business failure.
    Business {
        /// The tool's own code.
        code: ToolCode,
        /// For the model, scrubbed.
        message: String,
        /// Advice.
        retryable: bool,
        /// What is known about the world.
        effect_state: EffectState,
        /// What more the tool says, scrubbed and limited as an output is.
        details: Option<Document>,
    },
    /// The environment is broken.
    Environment {
        /// For people.
        message: String,
        /// The tool vouches that no effect took place.
        nothing_happened: bool,
    },
    /// Anything else.
    Bug {
        /// For the protected log: the whole chain of causes.
        text: String,
    },
    /// The connection was lost after the request was sent: nobody knows.
    OutcomeUnknown {
        /// For people.
        message: String,
    },
}

impl Failure {
    /// A bug of the tool, in words for the protected log.
    pub fn bug(text: impl Into<String>) -> Self {
        Self::Bug { text: text.into() }
    }

    /// What it says, for people.
    pub fn text(&self) -> &str {
        match self {
            Self::Business { message, .. } | Self::Environment { message, .. } | Self::OutcomeUnknown { message } => {
                message
            }
            Self::Bug { text } => text,
        }
    }
}

impl From<ToolExecutionError> for Failure {
    fn from(error: ToolExecutionError) -> Self {
        match error.code {
            Ok(code) => Self::Business {
                code,
                message: error.message,
                retryable: error.retryable,
                effect_state: error.effect_state,
                details: error.details,
            },
            Err(invalid) => Self::Bug { text: format!("{invalid}; its message was: {}", error.message) },
        }
    }
}

impl From<ToolEnvironmentError> for Failure {
    fn from(error: ToolEnvironmentError) -> Self {
        Self::Environment { message: error.message, nothing_happened: error.nothing_happened }
    }
}

// `Failure` itself is no `Error`, so that `?` turns every ordinary error into a bug of the tool.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        Self::Bug { text }
    }
}

#[cfg(test)]
mod tests;
