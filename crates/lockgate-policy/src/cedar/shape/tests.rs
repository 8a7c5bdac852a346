use lockgate_contract::document::Limits;

use super::*;

fn shape(schema: &str) -> Shape {
    Shape::of(&Document::parse(schema, Limits::OWN).unwrap())
}

/// `name: Type`, with `?` where it may be absent.
fn spelled(shape: &Shape) -> Vec<String> {
    shape
        .fields
        .iter()
        .map(|field| format!("{}{}: {:?}", field.name, if field.required { "" } else { "?" }, field.kind))
        .collect()
}

fn left_out(shape: &Shape) -> Vec<(&str, &str)> {
    shape.left_out.iter().map(|left_out| (left_out.path.as_str(), left_out.why)).collect()
}

#[test]
fn declared_properties_have_types() {
    let shape = shape(
        r##"{"type": "object", "required": ["a", "n", "r", "o"], "properties": {
            "a": {"type": "string"}, "b": {"type": "boolean"}, "i": {"type": "integer"}, "n": {"type": "number"},
            "s": {"type": "array", "items": {"type": "string"}},
            "r": {"$ref": "#/$defs/R"}, "o": {"type": ["string", "null"]}, "p": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "e": {"enum": ["x", "y"]}, "c": {"const": 3}, "m": {"type": ["integer", "number"]}},
            "$defs": {"R": {"type": "object", "properties": {"in": {"type": "boolean"}}}}}"##,
    );
    assert_eq!(
        spelled(&shape),
        [
            "a: String",
            "b?: Bool",
            "i?: Long",
            "n: Decimal",
            "s?: Set(String)",
            "r: Record([Field { name: \"in\", kind: Bool, required: false }])",
            "o?: String",
            "p?: Long",
            "e?: String",
            "c?: Long",
            "m?: Decimal",
        ]
    );
    assert!(shape.left_out.is_empty());
}

#[test]
fn what_has_no_type_is_left_out_by_name() {
    let shape = shape(
        r##"{"type": "object", "properties": {
            "any": {}, "open": {"type": "object"}, "two": {"type": ["string", "integer"]}, "both": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "list": {"type": "array"}, "tuple": {"type": "array", "prefixItems": [{"type": "string"}]}, "holes": {"type": "array", "items": {"type": ["string", "null"]}},
            "null": {"type": "null"}, "tree": {"$ref": "#/$defs/T"}, "away": {"$ref": "#name"},
            "part": {"type": "object", "properties": {"known": {"type": "string"}, "free": true}}},
            "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}}"##,
    );
    assert_eq!(spelled(&shape), ["part?: Record([Field { name: \"known\", kind: String, required: false }])"]);
    assert_eq!(
        left_out(&shape),
        [
            ("any", "it may be anything"),
            ("open", "its members are not declared"),
            ("two", "it may be of several types"),
            ("both", "it may be of several types"),
            ("list", "its elements may be anything"),
            ("tuple", "its elements differ by place"),
            ("holes", "its elements have parts that rules cannot read"),
            ("null", "it is never anything but `null`"),
            ("tree", "its members are not declared"),
            ("away", "its `$ref` is not a plain pointer into the schema"),
            ("part.free", "it may be anything"),
        ]
    );
}
