//! An input schema as Chat Completions servers take it when nothing strict is claimed.
//!
//! Local validation always uses the original; this is only what the model is shown. Only the root changes: `OpenAI` fails the
//! whole request unless every root says `type: object`, has `properties`, and has no combination keyword beside them.

use lockgate_contract::document::Document;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Keywords that no root may have, and the dialect's name, which some servers refuse.
const NOT_AT_THE_ROOT: [&str; 6] = ["anyOf", "oneOf", "allOf", "enum", "not", "$schema"];

/// A schema, serialised in its projected form.
#[derive(Debug)]
pub(crate) struct Parameters<'a>(pub(crate) &'a Document);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let root = self.0.root();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "object")?;
        let mut has_properties = false;
        for (key, value) in root.members() {
            if key == "type" || NOT_AT_THE_ROOT.contains(&key.as_ref()) {
                continue;
            }
            has_properties |= key == "properties";
            map.serialize_entry(&key, &value.to_document())?;
        }
        if !has_properties {
            map.serialize_entry("properties", &serde_json::Map::new())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
