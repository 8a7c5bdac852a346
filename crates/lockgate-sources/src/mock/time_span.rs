//! Spans of time as people write them in files.

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use lockgate_contract::time::read_span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// A whole number and its unit: `500ms`, `2s`, `10m`, `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(Duration);

/// The text is no span of time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a duration: write a whole number and `ms`, `s`, `m`, `h` or `d`, such as `500ms`")]
pub struct InvalidTimeSpan(String);

impl TimeSpan {
    /// The span as the standard library has it.
    pub const fn as_duration(self) -> Duration {
        self.0
    }
}

impl FromStr for TimeSpan {
    type Err = InvalidTimeSpan;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read_span(text).map(Self).ok_or_else(|| InvalidTimeSpan(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TimeSpan {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TimeSpan".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$", "examples": ["500ms", "2s", "10m", "1h", "30d"] })
    }
}

#[cfg(test)]
mod tests;
