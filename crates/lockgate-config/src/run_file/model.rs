//! The table of the model.

use std::borrow::Cow;
use std::fmt;

use lockgate_sources::mock::TimeSpan;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// The model that decides what is called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "provider", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelTable {
    /// Turns from a file: offline, for trying agents and for tests.
    Scripted {
        /// The file with the turns.
        script: String,
    },
    /// Any server that speaks Chat Completions: `OpenAI`, Ollama, llama.cpp, vLLM and others. Its variables are `OPENAI_BASE_URL` and
    /// `OPENAI_API_KEY`.
    OpenaiCompatible(RemoteTable),
    /// `OpenAI`'s Responses. Its variables are `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
    Openai(RemoteTable),
    /// Anthropic's models, or a server that speaks Messages as they do. Its variables are `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY`.
    Anthropic(RemoteTable),
    /// Google's Gemini. Its variables are `GOOGLE_GEMINI_BASE_URL` and `GEMINI_API_KEY`.
    Gemini(RemoteTable),
    /// Ollama, by its own protocol. Its variables are `OLLAMA_BASE_URL`, or else port 11434 of this machine, and `OLLAMA_API_KEY`, which
    /// may be unset.
    Ollama(RemoteTable),
}

/// A model behind a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteTable {
    /// The model's name at the server.
    pub model: String,
    /// The server. Without: what the provider's variable names, or else the provider's own.
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Without: the provider's.
    pub api_key_env: Option<String>,
    /// How long one answer may take. Without: `2m`.
    pub timeout: Option<TimeSpan>,
    /// The most tokens of one answer. Without: what the server sets, or 8192 where it must be told.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Allows plain HTTP to a server that is not this machine.
    #[serde(default)]
    pub allow_insecure: bool,
    /// How the model is shown tools. Without: `native`; only Chat Completions and Ollama have another way.
    #[serde(default)]
    pub tools: ToolCallsWord,
    /// What tokens cost. Without: a turn's cost is known only where the provider says it.
    pub price: Option<PriceTable>,
}

/// How a model is shown tools, and calls them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolCallsWord {
    /// As the protocol has it.
    #[default]
    Native,
    /// Described in the instructions; the answer is asked for in a JSON schema. For local servers whose model knows no tools.
    JsonSchema,
    /// The first request with tools finds out whether the server drops them, and describes them then.
    Auto,
}

/// What tokens cost, in US dollars for a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// For tokens read.
    pub input: UsdPerMillion,
    /// For tokens read that came from the provider's cache. Without: as for all others.
    pub cached_input: Option<UsdPerMillion>,
    /// For tokens written.
    pub output: UsdPerMillion,
}

/// US dollars for a million tokens, with six decimals at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsdPerMillion(u64);

impl UsdPerMillion {
    /// The price in millionths of a dollar for a million tokens.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// Reads plain decimal digits.
    fn read(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) || fraction.len() > 6 {
            return None;
        }
        format!("{whole}{fraction:0<6}").parse().ok().map(Self)
    }
}

impl<'de> Deserialize<'de> for UsdPerMillion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Price)
    }
}

struct Price;

impl Visitor<'_> for Price {
    type Value = UsdPerMillion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price in US dollars from 0 up, with six decimals at most")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<UsdPerMillion, E> {
        UsdPerMillion::read(&value.to_string()).ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<UsdPerMillion, E> {
        UsdPerMillion::read(&value.to_string()).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    /// The shortest decimal that stands for the number is the one that was written.
    fn visit_f64<E: Error>(self, value: f64) -> Result<UsdPerMillion, E> {
        UsdPerMillion::read(&value.to_string()).ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
    }
}

impl JsonSchema for UsdPerMillion {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "UsdPerMillion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "examples": [3, 0.075] })
    }
}

#[cfg(test)]
mod tests;
