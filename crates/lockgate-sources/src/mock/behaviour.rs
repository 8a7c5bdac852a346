//! One entry of a mock's behaviour, as it stands in the file.

use lockgate_contract::document::Document;
use lockgate_contract::effect::EffectState;
use lockgate_contract::outcome::ToolCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::TimeSpan;
use super::declaration::one_of;
use super::step::{Ending, Step};
use crate::error::EntryProblem;

/// The most bytes of a repeated text: four times what a handler may return, so that the limit itself can be tried.
const MAX_TEXT_BYTES: usize = 256 << 20;

/// What the mock does on one entry. One outcome; `sleeps` may stand before it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Entry {
    /// It succeeds with this value.
    #[serde(deserialize_with = "present")]
    #[schemars(with = "serde_json::Value")]
    returns: Option<Document>,
    /// It reports a business failure.
    fails: Option<Fails>,
    /// Its environment is broken; in words for people.
    environment_error: Option<String>,
    /// With `environment_error`: whether it vouches that nothing happened. Absent: unknown.
    #[schemars(schema_with = "effect_state_words")]
    effect_state: Option<EffectState>,
    /// It panics with this message.
    panics: Option<String>,
    /// It fails with an ordinary error of this text: a bug of the tool.
    errors: Option<String>,
    /// It waits this long first, such as `5s`. Alone: and then returns `{}`.
    sleeps: Option<TimeSpan>,
    /// It returns its arguments.
    echoes: bool,
    /// It returns this text.
    returns_text: Option<String>,
    /// With `returns_text`: how many times over.
    repeat: Option<usize>,
    /// It returns this text as raw output, broken JSON if you like.
    returns_raw: Option<String>,
    /// It returns these bytes, in hex digits, as a text. What is not UTF-8 is replaced.
    returns_hex: Option<String>,
}

/// A business failure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fails {
    /// The tool's own code.
    code: String,
    /// For the model.
    #[serde(default)]
    message: String,
    /// Advises that trying again may help.
    #[serde(default)]
    retryable: bool,
    /// What is known about the world. Absent: nothing happened.
    #[serde(default)]
    #[schemars(schema_with = "effect_state_words")]
    effect_state: Option<EffectState>,
}

impl Entry {
    /// What the handler does, once it is certain that the entry says one thing.
    pub(super) fn into_step(self) -> Result<Step, EntryProblem> {
        self.check_companions()?;
        let sleeps = self.sleeps.map(TimeSpan::as_duration);
        let effect_state = self.effect_state;
        let repeat = self.repeat.unwrap_or(1);
        let mut outcomes: Vec<(&'static str, Ending)> = Vec::new();
        if let Some(value) = self.returns {
            outcomes.push(("returns", Ending::Returns(value)));
        }
        if let Some(fails) = self.fails {
            outcomes.push(("fails", fails.into_ending()?));
        }
        if let Some(message) = self.environment_error {
            outcomes.push(("environment_error", environment_error(message, effect_state)?));
        }
        if let Some(message) = self.panics {
            outcomes.push(("panics", Ending::Panics(message)));
        }
        if let Some(text) = self.errors {
            outcomes.push(("errors", Ending::Errors(text)));
        }
        if self.echoes {
            outcomes.push(("echoes", Ending::Echoes));
        }
        if let Some(text) = self.returns_text {
            outcomes.push(("returns_text", repeated(text, repeat)?));
        }
        if let Some(text) = self.returns_raw {
            outcomes.push(("returns_raw", Ending::ReturnsRaw(text)));
        }
        if let Some(digits) = self.returns_hex {
            outcomes.push(("returns_hex", Ending::ReturnsBytes(bytes(&digits)?)));
        }
        let mut outcomes = outcomes.into_iter();
        match (outcomes.next(), outcomes.next()) {
            (Some((first, _)), Some((second, _))) => Err(EntryProblem::TwoOutcomes { first, second }),
            (Some((_, ending)), None) => Ok(Step { sleeps, ending }),
            (None, _) if sleeps.is_some() => Ok(Step { sleeps, ending: Ending::Returns(Document::empty_object()) }),
            (None, _) => Err(EntryProblem::NoOutcome),
        }
    }

    /// A key that belongs to another one says nothing without it.
    fn check_companions(&self) -> Result<(), EntryProblem> {
        if self.effect_state.is_some() && self.environment_error.is_none() {
            return Err(EntryProblem::Alone { key: "effect_state", without: "environment_error" });
        }
        if self.repeat.is_some() && self.returns_text.is_none() {
            return Err(EntryProblem::Alone { key: "repeat", without: "returns_text" });
        }
        Ok(())
    }
}

impl Fails {
    fn into_ending(self) -> Result<Ending, EntryProblem> {
        Ok(Ending::Fails {
            code: ToolCode::new(self.code)?,
            message: self.message,
            retryable: self.retryable,
            effect_state: self.effect_state.unwrap_or(EffectState::None),
        })
    }
}

/// The behaviour of a mock that declares none.
pub(super) fn returning_nothing() -> Vec<Entry> {
    vec![Entry { returns: Some(Document::empty_object()), ..Entry::default() }]
}

/// A value that is there, be it `null`. Without this serde takes `null` for absent.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Document>, D::Error> {
    Document::deserialize(deserializer).map(Some)
}

fn environment_error(message: String, effect_state: Option<EffectState>) -> Result<Ending, EntryProblem> {
    match effect_state.unwrap_or(EffectState::Unknown) {
        EffectState::None => Ok(Ending::EnvironmentError { message, nothing_happened: true }),
        EffectState::Unknown => Ok(Ending::EnvironmentError { message, nothing_happened: false }),
        EffectState::Done => Err(EntryProblem::DoneByFailure),
    }
}

fn repeated(text: String, repeat: usize) -> Result<Ending, EntryProblem> {
    match text.len().checked_mul(repeat) {
        Some(length) if length <= MAX_TEXT_BYTES => Ok(Ending::ReturnsText { text, repeat }),
        _ => Err(EntryProblem::TextTooLong { limit: MAX_TEXT_BYTES }),
    }
}

fn bytes(digits: &str) -> Result<Vec<u8>, EntryProblem> {
    if let Some(other) = digits.chars().find(|digit| !digit.is_ascii_hexdigit()) {
        return Err(EntryProblem::Hex { detail: format!("`{other}` is none") });
    }
    if !digits.len().is_multiple_of(2) {
        return Err(EntryProblem::Hex { detail: format!("{} digits are an odd number", digits.len()) });
    }
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok()).unwrap_or_default();
    Ok(digits.as_bytes().chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
}

fn effect_state_words(_: &mut SchemaGenerator) -> Schema {
    one_of(EffectState::ALL.iter().map(|value| value.word()))
}

#[cfg(test)]
mod tests;
