//! A schema must refuse what the type does not list, and take everything that serde takes: both are checked for each shape.

use lockgate_contract::document::{Document, Limits};
use lockgate_registry::schema::{Role, Schema, UnknownFields};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema_of;

mod enums;
mod keywords;
mod structs;

fn schema<T: JsonSchema>() -> Value {
    schema_of::<T>().to_json_value()
}

/// Whether the schema of `T` takes `instance`, under a registry's rule.
fn is_valid<T: JsonSchema>(instance: &Value, rule: UnknownFields) -> bool {
    let schema = Schema::admit(&schema_of::<T>(), Role::Output, rule).unwrap();
    let instance = Document::parse(instance.to_string(), Limits::ARGUMENTS).unwrap();
    schema.validate(&instance).is_ok()
}

/// Takes `instances`, as serde does, also where the registry closes what is open.
#[track_caller]
fn takes<T: JsonSchema + DeserializeOwned>(instances: &[Value]) {
    for instance in instances {
        assert!(serde_json::from_value::<T>(instance.clone()).is_ok(), "serde refuses {instance}");
        for rule in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
            assert!(is_valid::<T>(instance, rule), "{} refuses {instance}", schema::<T>());
        }
    }
}

/// Refuses `instances` by itself, without help of the registry.
#[track_caller]
fn refuses<T: JsonSchema>(instances: &[Value]) {
    for instance in instances {
        assert!(!is_valid::<T>(instance, UnknownFields::AsDeclared), "{} takes {instance}", schema::<T>());
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    x: i32,
    y: Option<u8>,
}
