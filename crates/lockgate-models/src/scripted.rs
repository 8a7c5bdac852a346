//! A model that says what a script says: for trying agents offline and for tests (R-192, R-193).

mod script;
mod template;

use std::io;
use std::path::Path;

use lockgate_contract::ports::{BoxFuture, ModelAdapter, ModelError, ModelRequest, ModelResponse, Usage};

pub use self::script::MAX_SCRIPT_BYTES;
use self::script::Turn;
use crate::error::ScriptError;

/// A model whose turns are written down. Which turn is next follows from the request's step alone, so a run that was
/// interrupted goes on where it was, and one value serves any number of runs.
///
/// ```json
/// {"turns": [
///   {"text": "Looking.", "calls": [{"id": "p1", "name": "lookup_incident", "arguments": {"incident_id": "INC-001"}}]},
///   {"calls": [{"id": "p2", "name": "create_ticket", "arguments_text": "{\"title\": \"a\", \"title\": \"b\"}"}]},
///   {"calls": [{"id": "p3", "name": "python", "code": "print(1)"}]},
///   {"error": "overloaded"},
///   {"text": "The owner is ${step-0.call-0#/owner}."}
/// ]}
/// ```
///
/// A call has at most one of `arguments` (JSON), `arguments_text` (the raw text, which may be broken) and `code`, an action in
/// another language than the tool call (R-106). With none of them it is a call whose argument text is empty.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    turns: Vec<Turn>,
}

impl ScriptedModel {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Ok(Self { turns: script::parse(text)? })
    }

    /// Reads a script from a file.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable { path: path.to_owned(), source };
        // One byte more than allowed is enough to see that it is too large.
        let bytes = lockgate_host::files::read_start(path, MAX_SCRIPT_BYTES as u64 + 1).map_err(unreadable)?;
        let text =
            String::from_utf8(bytes).map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Self::parse(&text)
    }

    /// How many turns the script has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Whether the script has no turn at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    fn turn(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        let turn = usize::try_from(request.step).ok().and_then(|step| self.turns.get(step));
        match turn.ok_or(ModelError::ScriptExhausted)? {
            Turn::Fails(error) => Err(error.clone()),
            Turn::Says { text, calls } => Ok(ModelResponse {
                items: Vec::new(),
                text: text.as_ref().map(|text| text.fill(&request.messages)).transpose()?,
                calls: calls.clone(),
                usage: Usage::default(),
            }),
        }
    }
}

impl ModelAdapter for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(std::future::ready(self.turn(request)))
    }
}

#[cfg(test)]
mod tests;
