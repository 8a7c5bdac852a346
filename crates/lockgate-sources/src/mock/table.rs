//! Reading a table strictly: its keys are those of the type's JSON Schema, and no others.

use lockgate_contract::document::{Document, Kind, Node};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::{Problem, nearest};

/// Reads a table whose every key must be known. `within` is the table's own key, empty for a row itself.
pub(crate) fn read<T: JsonSchema + DeserializeOwned>(table: &Document, within: &'static str) -> Result<T, Problem> {
    check_keys::<T>(table.root(), within)?;
    table.decode().map_err(|error| Problem::Invalid {
        detail: if within.is_empty() { error.to_string() } else { format!("`{within}`: {error}") },
    })
}

/// Reads those keys of a table that the type knows.
pub(crate) fn decode<T: DeserializeOwned>(table: &Document) -> Result<T, Problem> {
    table.decode().map_err(|error| Problem::Invalid { detail: error.to_string() })
}

/// Refuses a key that is none of the type's.
pub(crate) fn check_keys<T: JsonSchema>(table: Node<'_>, within: &'static str) -> Result<(), Problem> {
    if table.kind() != Kind::Object {
        let what = if within.is_empty() { "a tool".to_owned() } else { format!("`{within}`") };
        return Err(Problem::Invalid { detail: format!("{what} must be a table") });
    }
    let schema = schemars::schema_for!(T);
    let known = |key: &str| schema.pointer("/properties").and_then(|properties| properties.get(key)).is_some();
    let Some((key, _)) = table.members().find(|(key, _)| !known(key)) else {
        return Ok(());
    };
    let properties = schema.pointer("/properties").and_then(serde_json::Value::as_object);
    let valid: Vec<String> = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
    Err(Problem::UnknownKey {
        nearest: nearest(&key, valid.iter().map(String::as_str)),
        key: key.into_owned(),
        within,
        valid,
    })
}
