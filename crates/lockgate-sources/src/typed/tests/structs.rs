//! Structs, maps, and wholes made of parts.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::enums::{Internal, Untagged};
use super::{Point, refuses, schema, takes};
use crate::typed::input_schema_of;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Drawing {
    /// Where it starts.
    start: Point,
    path: Vec<Point>,
    labels: HashMap<String, Point>,
    end: Option<Point>,
    pair: (Point, bool),
}

#[test]
fn structs_are_closed_at_every_depth() {
    let point = json!({"x": 1, "y": 2});
    let drawing = |start: Value| json!({"start": start, "path": [{"x": 1}], "labels": {"any": {"x": 1}}, "end": null, "pair": [point, true]});
    takes::<Drawing>(&[drawing(point.clone()), drawing(json!({"x": 1}))]);
    let mut in_vec = drawing(point.clone());
    in_vec["path"][0]["z"] = json!(1);
    let mut in_map = drawing(point.clone());
    in_map["labels"]["any"]["z"] = json!(1);
    let mut in_option = drawing(point.clone());
    in_option["end"] = json!({"x": 1, "z": 1});
    let mut in_tuple = drawing(point.clone());
    in_tuple["pair"][0]["z"] = json!(1);
    let mut at_the_root = drawing(point.clone());
    at_the_root["more"] = json!(1);
    refuses::<Drawing>(&[drawing(json!({"x": 1, "z": 1})), in_vec, in_map, in_option, in_tuple, at_the_root]);
}

#[test]
fn the_schema_of_a_struct_holds_nothing_else() {
    assert_eq!(
        schema::<Point>(),
        json!({
            "type": "object",
            "properties": {
                "x": {"type": "integer", "minimum": -2_147_483_648_i64, "maximum": 2_147_483_647},
                "y": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            },
            "required": ["x"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_repeated_type_stays_a_definition() {
    let drawing = schema::<Drawing>();
    assert_eq!(drawing["properties"]["start"]["$ref"], "#/$defs/Point");
    assert_eq!(drawing["properties"]["start"]["description"], "Where it starts.");
    assert_eq!(drawing["$defs"].as_object().unwrap().keys().collect::<Vec<_>>(), ["Point"]);
}

#[test]
fn maps_stay_open() {
    takes::<BTreeMap<String, i64>>(&[json!({"a": 1, "b": -2})]);
    refuses::<BTreeMap<String, i64>>(&[json!({"a": "1"})]);
    assert_eq!(input_schema_of::<HashMap<String, Value>>().to_json_value()["additionalProperties"], true);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flattened {
    id: i64,
    #[serde(flatten)]
    at: Point,
    #[serde(flatten)]
    what: Internal,
    #[serde(flatten)]
    how: Option<Untagged>,
    again: Point,
}

#[test]
fn flattened_parts_are_closed_as_one_whole() {
    takes::<Flattened>(&[
        json!({"id": 1, "x": 1, "kind": "nothing", "again": {"x": 1}}),
        json!({"id": 1, "x": 1, "kind": "inner", "inner": "A", "a": 1, "again": {"x": 1}}),
        json!({"id": 1, "x": 1, "kind": "nothing", "name": "n", "again": {"x": 1}}),
    ]);
    refuses::<Flattened>(&[
        json!({"id": 1, "x": 1, "kind": "nothing", "again": {"x": 1}, "more": 1}),
        json!({"id": 1, "x": 1, "kind": "nothing", "again": {"x": 1, "more": 1}}),
        json!({"id": 1, "x": 1, "again": {"x": 1}}),
    ]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct WithRest {
    id: i64,
    #[serde(flatten)]
    rest: BTreeMap<String, i64>,
}

#[test]
fn a_flattened_map_keeps_the_whole_open() {
    takes::<WithRest>(&[json!({"id": 1, "any": 2})]);
    refuses::<WithRest>(&[json!({"id": 1, "any": "text"})]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op")]
enum Expression {
    Number { value: i64 },
    Wrapped(Holder),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Holder {
    inner: Box<Expression>,
}

#[test]
fn recursive_types_are_closed_at_every_level() {
    takes::<Tree>(&[json!({"name": "a", "children": [{"name": "b", "children": []}]})]);
    refuses::<Tree>(&[json!({"name": "a", "children": [{"name": "b", "children": [], "more": 1}]})]);
    takes::<Expression>(&[json!({"op": "Wrapped", "inner": {"op": "Wrapped", "inner": {"op": "Number", "value": 1}}})]);
    refuses::<Expression>(&[
        json!({"op": "Wrapped", "inner": {"op": "Number", "value": 1}, "more": 1}),
        json!({"op": "Wrapped", "inner": {"op": "Number", "value": 1, "more": 1}}),
        json!({"op": "Wrapped", "inner": {"op": "Wrapped", "inner": {"op": "Number", "value": 1, "more": 1}}}),
    ]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Odd <{T}> / ~name%")]
struct Odd<T> {
    value: T,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum WithOddNames {
    A(Odd<i64>),
}

#[test]
fn a_definition_is_found_under_any_name() {
    takes::<WithOddNames>(&[json!({"kind": "A", "value": 1})]);
    refuses::<WithOddNames>(&[json!({"kind": "A", "value": 1, "more": 1})]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Generous {
    known: i64,
}

#[test]
fn a_type_that_says_it_is_open_stays_open() {
    takes::<Generous>(&[json!({"known": 1, "more": 1})]);
}
