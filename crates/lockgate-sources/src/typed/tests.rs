//! A schema must refuse what the type does not list, and take everything that serde takes: both are checked for each shape.

use std::collections::{BTreeMap, HashMap};

use lockgate_contract::document::{Document, Limits};
use lockgate_registry::schema::{Role, Schema, UnknownFields};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{input_schema_of, output_schema_of, schema_of};

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
enum Internal {
    Nothing,
    One(Point),
    Inner(Nested),
    Fields { name: String, at: Point },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "inner")]
enum Nested {
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
enum Untagged {
    Text(String),
    One(Point),
    Fields { name: String, number: Option<i64> },
}

#[test]
fn an_untagged_enum_is_closed_and_satisfiable() {
    takes::<Untagged>(&[json!("text"), json!({"x": 1}), json!({"name": "n"}), json!({"name": "n", "number": 1})]);
    refuses::<Untagged>(&[json!(1), json!({"x": 1, "more": 1}), json!({"name": "n", "more": 1})]);
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
