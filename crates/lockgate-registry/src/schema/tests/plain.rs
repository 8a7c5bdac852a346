//! What the validator compiles, and the graph that it is made of.

use serde_json::{Value, json};

use super::*;
use crate::schema::emit::Emitter;
use crate::schema::examine;
use crate::schema::graph::Graph;

fn plain(text: &str, rules: UnknownFields) -> Value {
    let document = document(text);
    let graph = examine(&document).unwrap();
    Emitter::new(&graph).document(rules).unwrap().0
}

#[test]
fn the_plain_form_holds_what_asserts_and_nothing_else() {
    for (text, plain_form) in [
        (
            r#"{"title":"t","type":"object","x-order":1,"properties":{"a":{"default":1}}}"#.to_owned(),
            json!({ "type": "object", "properties": { "a": {} } }),
        ),
        // Numbers as texts, under names of our own; counts as numbers.
        (
            r#"{"minimum":1.50,"multipleOf":1e-2,"maxLength":3.0}"#.to_owned(),
            json!({ "lockgate:minimum": "1.50", "lockgate:multipleOf": "1e-2", "maxLength": 3 }),
        ),
        // Values too, unless there are only words in them, which the validator looks up faster.
        (
            r#"{"properties":{"a":{"enum":["x",null,true,["y"]]},"b":{"enum":["x",[1]]},"c":{"const":{}},"d":{"const":"x"}}}"#
                .to_owned(),
            json!({ "properties": {
                "a": { "enum": ["x", null, true, ["y"]] },
                "b": { "lockgate:enum": r#"["x",[1]]"# },
                "c": { "lockgate:const": "{}" },
                "d": { "const": "x" },
            } }),
        ),
        (
            r#"{"additionalProperties":false,"items":{"additionalProperties":{}}}"#.to_owned(),
            json!({ "additionalProperties": false, "properties": {}, "items": { "additionalProperties": {} } }),
        ),
        // What others refer to has a number; what nobody refers to is gone.
        (
            r##"{"items":{"$ref":"#/$defs/b"},"$defs":{"a":{"type":"null"},"b":{"$anchor":"b","items":{"$ref":"#b"}}}}"##
                .to_owned(),
            json!({ "items": { "$ref": "#/$defs/0" }, "$defs": { "0": { "items": { "$ref": "#/$defs/0" } } } }),
        ),
        (
            draft_7(r##"{"items":{"$ref":"#/definitions/a"},"definitions":{"a":{"type":"null"}}}"##),
            json!({ "items": { "$ref": "#/definitions/0" }, "definitions": { "0": { "type": "null" } } }),
        ),
        (
            r##"{"items":{"$ref":"#/$defs/a","$dynamicRef":"#/$defs/b"},"$defs":{"a":{},"b":true}}"##.to_owned(),
            json!({
                "items": { "$ref": "#/$defs/0", "allOf": [{ "$ref": "#/$defs/1" }] },
                "$defs": { "0": {}, "1": true },
            }),
        ),
    ] {
        assert_eq!(plain(&text, UnknownFields::AsDeclared), plain_form, "{text}");
    }
}

#[test]
fn a_definition_is_written_once_for_each_meaning() {
    let text = r##"{"properties":{"whole":{"$ref":"#/$defs/p"},"part":{"$ref":"#/$defs/p","properties":{"b":{}}}},
        "$defs":{"p":{"properties":{"a":{}}}}}"##;
    let open = json!({
        "properties": { "whole": { "$ref": "#/$defs/0" }, "part": { "$ref": "#/$defs/0", "properties": { "b": {} } } },
        "$defs": { "0": { "properties": { "a": {} } } },
    });
    assert_eq!(plain(text, UnknownFields::AsDeclared), open);
    let closed = json!({
        "properties": {
            "whole": { "$ref": "#/$defs/0" },
            "part": { "$ref": "#/$defs/1", "properties": { "b": {} }, "unevaluatedProperties": false },
        },
        "additionalProperties": false,
        "$defs": {
            "0": { "properties": { "a": {} }, "additionalProperties": false },
            "1": { "properties": { "a": {} } },
        },
    });
    assert_eq!(plain(text, UnknownFields::Refuse), closed);
}

#[test]
fn a_pointer_is_followed_over_known_schemas() {
    let text = document(
        r#"{"properties":{"a/b":{"items":{"not":{}}},"c":{"anyOf":[{},{"minimum":1}]}},"$defs":{"":{"type":"null"}},"x":{}}"#,
    );
    let graph = examine(&text).unwrap();
    for pointer in [
        "",
        "/properties/a~1b",
        "/properties/a~1b/items",
        "/properties/a~1b/items/not",
        "/properties/c",
        "/properties/c/anyOf/0",
        "/properties/c/anyOf/1",
        "/$defs/",
    ] {
        let position = graph.follow(Graph::ROOT, pointer).unwrap();
        assert_eq!(graph.pointer(position), pointer);
        assert_eq!(graph.find(text.root().pointer(pointer).unwrap()), Some(position));
    }
    let above = graph.follow(Graph::ROOT, "/properties/c").unwrap();
    assert_eq!(graph.follow(above, "/anyOf/1"), graph.follow(Graph::ROOT, "/properties/c/anyOf/1"));
    // No schemas, or none at all.
    for pointer in ["/properties", "/properties/c/anyOf", "/properties/c/anyOf/2", "/x", "/properties/c/", "/", "c"] {
        assert_eq!(graph.follow(Graph::ROOT, pointer), None, "{pointer}");
    }
}
