//! The keywords that a schema holds, and those that it does not.

use lockgate_contract::document::{Document, Limits};
use lockgate_registry::schema::{Role, Schema, UnknownFields};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::enums::Internal;
use super::{Point, schema};
use crate::typed::{input_schema_of, output_schema_of};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Numbers {
    small: u8,
    wide: i64,
    widest: u128,
    size: usize,
    real: f64,
    narrowed: NarrowedHolder,
    address: std::net::Ipv4Addr,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct NarrowedHolder(#[schemars(range(min = 1, max = 10))] u32);

#[test]
fn number_formats_become_ranges_and_other_formats_stay() {
    let schema = schema::<Numbers>();
    let property = |name: &str| {
        let property = &schema["properties"][name];
        match property["$ref"].as_str() {
            Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap().clone(),
            None => property.clone(),
        }
    };
    assert_eq!(property("small"), json!({"type": "integer", "minimum": 0, "maximum": 255}));
    assert_eq!(property("wide"), json!({"type": "integer"}));
    assert_eq!(property("widest"), json!({"type": "integer", "minimum": 0}));
    assert_eq!(property("size"), json!({"type": "integer", "minimum": 0}));
    assert_eq!(property("real"), json!({"type": "number"}));
    assert_eq!(property("narrowed"), json!({"type": "integer", "minimum": 1, "maximum": 10}));
    assert_eq!(property("address"), json!({"type": "string", "format": "ipv4"}));
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sides {
    #[serde(default)]
    with_default: i64,
    option: Option<i64>,
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    input_only: Option<String>,
}

#[test]
fn reading_and_writing_differ() {
    let read = input_schema_of::<Sides>().to_json_value();
    assert_eq!(read.get("required"), None);
    assert_eq!(read["properties"]["with_default"]["default"], 0);
    assert!(read["properties"].get("input_only").is_some());
    let written = output_schema_of::<Sides>().to_json_value();
    assert_eq!(written["required"], json!(["with_default", "option"]));
    assert!(written["properties"].get("input_only").is_none());
    assert_eq!(written["additionalProperties"], false);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Empty {}

#[test]
fn arguments_are_always_a_closed_object() {
    assert_eq!(input_schema_of::<Empty>().to_json_value(), json!({"type": "object", "additionalProperties": false}));
    let variants = input_schema_of::<Internal>().to_json_value();
    assert_eq!(variants["type"], "object");
    let admitted = Schema::admit(&input_schema_of::<Internal>(), Role::Input, UnknownFields::Refuse).unwrap();
    let instance = Document::parse(r#"{"kind": "one", "x": 1}"#, Limits::ARGUMENTS).unwrap();
    assert!(admitted.validate(&instance).is_ok());
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A title of its own")]
struct Titled {
    value: i64,
}

#[test]
fn only_the_name_of_the_type_is_taken_from_the_title() {
    assert_eq!(schema::<Titled>()["title"], "A title of its own");
    assert_eq!(schema::<Point>().get("title"), None);
    assert_eq!(schema::<Point>().get("$schema"), None);
}

#[test]
fn values_of_a_schema_are_not_taken_for_schemas() {
    #[derive(JsonSchema, Deserialize)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Example {
        #[schemars(extend("examples" = [{"properties": {"a": 1}, "$ref": "#/$defs/None"}]))]
        value: Value,
    }
    let example = &schema::<Example>()["properties"]["value"]["examples"][0];
    assert_eq!(*example, json!({"properties": {"a": 1}, "$ref": "#/$defs/None"}));
}
