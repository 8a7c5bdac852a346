//! Enums, in each way in which serde writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Point, refuses, takes};

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    Nothing,
    One(Point),
    Two(i64, bool),
    Fields { name: String },
}

#[test]
fn an_externally_tagged_enum_is_closed_and_satisfiable() {
    takes::<External>(&[
        json!("Nothing"),
        json!({"One": {"x": 1}}),
        json!({"Two": [1, true]}),
        json!({"Fields": {"name": "n"}}),
    ]);
    refuses::<External>(&[
        json!("Other"),
        json!({"One": {"x": 1, "z": 1}}),
        json!({"Fields": {"name": "n", "more": 1}}),
        json!({"One": {"x": 1}, "more": 1}),
    ]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Internal {
    Nothing,
    One(Point),
    Inner(Nested),
    Fields { name: String, at: Point },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "inner")]
pub(super) enum Nested {
    A { a: i64 },
    B(Point),
}

#[test]
fn an_internally_tagged_enum_is_closed_and_satisfiable() {
    takes::<Internal>(&[
        json!({"kind": "nothing"}),
        json!({"kind": "one", "x": 1}),
        json!({"kind": "inner", "inner": "A", "a": 1}),
        json!({"kind": "inner", "inner": "B", "x": 1, "y": 2}),
        json!({"kind": "fields", "name": "n", "at": {"x": 1}}),
    ]);
    refuses::<Internal>(&[
        json!({"kind": "nothing", "more": 1}),
        json!({"kind": "one", "x": 1, "more": 1}),
        json!({"kind": "inner", "inner": "A", "a": 1, "more": 1}),
        json!({"kind": "inner", "inner": "B", "x": 1, "more": 1}),
        json!({"kind": "fields", "name": "n", "at": {"x": 1, "more": 1}}),
        json!({"x": 1}),
    ]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum WithStrictContent {
    Strict(Strict),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    value: i64,
}

#[test]
fn a_content_that_denies_unknown_fields_lets_the_tag_pass() {
    takes::<WithStrictContent>(&[json!({"kind": "Strict", "value": 1})]);
    refuses::<WithStrictContent>(&[json!({"kind": "Strict", "value": 1, "more": 1})]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    Nothing,
    One(Point),
}

#[test]
fn an_adjacently_tagged_enum_is_closed_and_satisfiable() {
    takes::<Adjacent>(&[json!({"kind": "Nothing"}), json!({"kind": "One", "of": {"x": 1}})]);
    refuses::<Adjacent>(&[json!({"kind": "Nothing", "more": 1}), json!({"kind": "One", "of": {"x": 1, "more": 1}})]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Untagged {
    Text(String),
    One(Point),
    Fields { name: String, number: Option<i64> },
}

#[test]
fn an_untagged_enum_is_closed_and_satisfiable() {
    takes::<Untagged>(&[json!("text"), json!({"x": 1}), json!({"name": "n"}), json!({"name": "n", "number": 1})]);
    refuses::<Untagged>(&[json!(1), json!({"x": 1, "more": 1}), json!({"name": "n", "more": 1})]);
}
