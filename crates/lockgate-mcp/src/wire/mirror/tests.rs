use lockgate_contract::document::Document;
use serde_json::{Value, json};

use super::{InvalidMirror, Mirrors};

fn of(schema: &Value) -> Result<Option<Mirrors>, InvalidMirror> {
    Mirrors::of(Document::from_json_value(schema).root())
}

#[test]
fn annotations_that_no_client_can_follow_are_named() {
    let property = |annotated: Value| json!({"properties": {"a": {"properties": {"b": annotated}}}});
    let (no_name, no_kind) =
        ("it is no name of a header", "the property is neither a string, an integer nor a boolean");
    for (schema, what) in [
        (property(json!({"type": "string", "x-mcp-header": ""})), no_name),
        (property(json!({"type": "string", "x-mcp-header": 7})), no_name),
        (property(json!({"type": "string", "x-mcp-header": {}})), no_name),
        (property(json!({"type": "string", "x-mcp-header": "a b"})), no_name),
        (property(json!({"type": "string", "x-mcp-header": "a:b"})), no_name),
        (property(json!({"type": "string", "x-mcp-header": "é"})), no_name),
        (property(json!({"type": "string", "x-mcp-header": "a\r\nb"})), no_name),
        (property(json!({"type": "number", "x-mcp-header": "X"})), no_kind),
        (property(json!({"x-mcp-header": "X"})), no_kind),
    ] {
        let error = of(&schema).unwrap_err();
        assert_eq!((error.property.as_str(), error.what), ("a.b", what), "{schema}");
    }
    let twice = json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "Region"}, "b": {"type": "string", "x-mcp-header": "region"},
    }});
    assert_eq!(of(&twice).unwrap_err().to_string(), "`x-mcp-header` of `b`: another property has the same");
}

#[test]
fn only_properties_lead_to_annotations() {
    let annotated = json!({"type": "string", "x-mcp-header": "X"});
    for schema in [
        annotated.clone(),
        json!({"properties": {"a": {"items": annotated}}}),
        json!({"properties": {"a": {"oneOf": [annotated]}}}),
        json!({"oneOf": [{"properties": {"a": annotated}}]}),
        json!({"$defs": {"a": annotated}}),
    ] {
        assert_eq!(of(&schema).unwrap_err().what, "more than `properties` lead there", "{schema}");
    }
    // A value is no schema.
    assert_eq!(of(&json!({"properties": {"a": {"default": {"x-mcp-header": "No"}}}})).unwrap(), None);
}
