//! The JSON Schemas of Rust types, as tools show them to a model.
//!
//! What `#[tool]` and the core sets are built on: a Rust type goes in, a JSON Schema 2020-12 comes out that refuses unknown
//! fields wherever the type lists its fields. The listing itself is schemars' work; this module makes it strict
//! without making it unsatisfiable (`closing.rs`) and takes out what only a Rust program understands (`number_formats.rs`).
//!
//! It owns no tool and no validator: whether a schema is admitted is decided by the registry.

mod closing;
mod number_formats;

#[cfg(test)]
mod tests;

use lockgate_contract::document::Document;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

/// The schema of the arguments of a call, read as `T`.
///
/// The same as [`schema_of`], but its root is always an object, because arguments are one, and it is closed even if `T` has
/// no fields at all. A type that wants to take anything says so itself, as a map does.
pub fn input_schema_of<T: JsonSchema>() -> Document {
    let mut schema = closed_schema::<T>(Contract::Deserialize);
    if !schema.contains_key("type") {
        schema.insert("type".to_owned(), "object".into());
    }
    let lists_nothing = ["properties", "additionalProperties", "unevaluatedProperties", "patternProperties"]
        .into_iter()
        .chain(closing::IN_PLACE.iter().copied())
        .all(|keyword| !schema.contains_key(keyword));
    if lists_nothing {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    Document::from_json_value(&Value::Object(schema))
}

/// The schema of an output, written as `T`: a field that may be left out when it is written is not required.
pub fn output_schema_of<T: JsonSchema>() -> Document {
    Document::from_json_value(&Value::Object(closed_schema::<T>(Contract::Serialize)))
}

/// The schema of a value that is read as `T`.
///
/// JSON Schema 2020-12 without `$schema`, and without the name of the type as title. A schema that lists `properties` takes
/// no others, also in `$defs`, unless the type says otherwise; maps stay open. Recursive and repeated types stay in `$defs`.
pub fn schema_of<T: JsonSchema>() -> Document {
    Document::from_json_value(&Value::Object(closed_schema::<T>(Contract::Deserialize)))
}

fn closed_schema<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.contract = contract;
        })
        .with_transform(RecursiveTransform(number_formats::replace));
    let mut schema = std::mem::take(settings.into_generator().into_root_schema_for::<T>().ensure_object());
    let named_after_its_type =
        schema.get("title").and_then(Value::as_str).is_some_and(|title| title == T::schema_name());
    if named_after_its_type {
        schema.shift_remove("title");
    }
    closing::close(schema)
}
