//! What a mock does on one entry.

use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Document;
use lockgate_contract::effect::EffectState;
use lockgate_contract::outcome::ToolCode;
use lockgate_contract::tool::{Failure, Output, ToolEnvironmentError};

/// One entry, checked.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// How long it waits first.
    pub(super) sleeps: Option<Duration>,
    /// How it ends then.
    pub(super) ending: Ending,
}

/// How the handler ends.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// With a value.
    Returns(Document),
    /// With a text that may be long, and is made only when it is asked for.
    ReturnsText {
        /// The text.
        text: String,
        /// How many times over.
        repeat: usize,
    },
    /// With a text that claims to be JSON.
    ReturnsRaw(String),
    /// With bytes that may be no text.
    ReturnsBytes(Vec<u8>),
    /// With its arguments.
    Echoes,
    /// With a business failure.
    Fails {
        /// The tool's own code.
        code: ToolCode,
        /// For the model.
        message: String,
        /// Advice.
        retryable: bool,
        /// What is known about the world.
        effect_state: EffectState,
    },
    /// With a broken environment.
    EnvironmentError {
        /// For people.
        message: String,
        /// It vouches that no effect took place.
        nothing_happened: bool,
    },
    /// With a panic.
    Panics(String),
    /// With an ordinary error.
    Errors(String),
}

impl Step {
    /// Does it. Dropping the future ends the wait.
    pub(super) async fn act(&self, arguments: &Arguments) -> Result<Output, Failure> {
        if let Some(span) = self.sleeps {
            tokio::time::sleep(span).await;
        }
        self.ending.reach(arguments)
    }
}

impl Ending {
    fn reach(&self, arguments: &Arguments) -> Result<Output, Failure> {
        match self {
            Self::Returns(value) => Ok(Output::new(value.clone())),
            Self::ReturnsText { text, repeat } => Ok(Output::new(Document::string(&text.repeat(*repeat)))),
            Self::ReturnsRaw(text) => Ok(Output::raw(text.as_str())),
            Self::ReturnsBytes(bytes) => Ok(Output::text_from_bytes(bytes)),
            Self::Echoes => Ok(Output::new(arguments.document().clone())),
            Self::Fails { code, message, retryable, effect_state } => Err(Failure::Business {
                code: code.clone(),
                message: message.clone(),
                retryable: *retryable,
                details: None,
                effect_state: *effect_state,
            }),
            Self::EnvironmentError { message, nothing_happened } => {
                let error = ToolEnvironmentError::new(message.as_str());
                Err(if *nothing_happened { error.nothing_happened() } else { error }.into())
            }
            Self::Panics(message) => panic!("{message}"),
            Self::Errors(text) => Err(Failure::bug(text.as_str())),
        }
    }
}
