//! Reading a table strictly: its keys are those of the type's JSON Schema, and no others.

use lockgate_contract::document::{Document, Kind, Node};
use lockgate_contract::nearest::nearest;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Problem;

/// Reads a table whose every key must be known. `within` is the table's own key, empty for a row itself.
pub(crate) fn read<T: JsonSchema + DeserializeOwned>(table: &Document, within: &str) -> Result<T, Problem> {
    check_keys::<T>(table.root(), within)?;
    table.decode().map_err(|error| Problem::Invalid {
        detail: if within.is_empty() { error.to_string() } else { format!("`{within}`: {error}") },
    })
}

/// Reads those keys of a table that the type knows.
pub(crate) fn decode<T: DeserializeOwned>(table: &Document) -> Result<T, Problem> {
    table.decode().map_err(|error| Problem::Invalid { detail: error.to_string() })
}

/// Refuses a key that is none of the type's, here or further in. Serde would refuse it too, but list all keys instead of
/// the nearest.
pub(crate) fn check_keys<T: JsonSchema>(table: Node<'_>, within: &str) -> Result<(), Problem> {
    if table.kind() != Kind::Object {
        let what = if within.is_empty() { "a tool".to_owned() } else { format!("`{within}`") };
        return Err(Problem::Invalid { detail: format!("{what} must be a table") });
    }
    let whole = schemars::schema_for!(T).to_value();
    let pointer = if within.is_empty() { String::new() } else { format!("/{within}") };
    Keys { whole: &whole }.check_table(&whole, table, &pointer)
}

/// Walks a value and its schema side by side.
struct Keys<'a> {
    whole: &'a Value,
}

impl<'a> Keys<'a> {
    fn check(&self, schema: &'a Value, node: Node<'_>, pointer: &str) -> Result<(), Problem> {
        let schema = self.meant(schema);
        match node.kind() {
            Kind::Object if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                self.check_table(schema, node, pointer)
            }
            Kind::Array => match schema.get("items") {
                Some(items) => node
                    .elements()
                    .enumerate()
                    .try_for_each(|(index, element)| self.check(items, element, &format!("{pointer}/{index}"))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn check_table(&self, schema: &'a Value, table: Node<'_>, pointer: &str) -> Result<(), Problem> {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, value) in table.members() {
            let Some(property) = properties.and_then(|properties| properties.get(key.as_ref())) else {
                let properties = properties.into_iter().flatten();
                let valid: Vec<String> = properties.map(|(valid, _)| valid.clone()).collect();
                return Err(Problem::UnknownKey {
                    nearest: nearest(&key, valid.iter().map(String::as_str)).map(str::to_owned),
                    key: key.into_owned(),
                    within: pointer.to_owned(),
                    valid,
                });
            };
            self.check(property, value, &format!("{pointer}/{key}"))?;
        }
        Ok(())
    }

    /// The schema behind a reference, and behind "this or null", which is how an absent key is written.
    fn meant(&self, schema: &'a Value) -> &'a Value {
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            return choices.first().map_or(schema, |first| self.meant(first));
        }
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        reference.and_then(|pointer| self.whole.pointer(pointer)).unwrap_or(schema)
    }
}
