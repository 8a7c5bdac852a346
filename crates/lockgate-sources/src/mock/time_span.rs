//! Spans of time as people write them in files.

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// A whole number and its unit: `500ms`, `2s`, `10m`, `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(Duration);

/// The text is no span of time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a duration: write a whole number and `ms`, `s`, `m` or `h`, such as `500ms`")]
pub struct InvalidTimeSpan(String);

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];

impl TimeSpan {
    /// The span as the standard library has it.
    pub const fn as_duration(self) -> Duration {
        self.0
    }
}

impl FromStr for TimeSpan {
    type Err = InvalidTimeSpan;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text).map(|millis| Self(Duration::from_millis(millis))).ok_or_else(|| InvalidTimeSpan(text.to_owned()))
    }
}

fn read(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let (_, millis) = UNITS.iter().find(|(word, _)| *word == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*millis)
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
        json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$", "examples": ["500ms", "2s", "10m", "1h"] })
    }
}

#[cfg(test)]
mod tests;
