use lockgate_contract::document::{Document, Limits};
use serde_json::{Value, json};

use crate::wire::Mirrors;

/// Whether headers say what arguments say.
fn same(schema: &Value, header: &str, argument: &str) -> bool {
    let mut headers = http::HeaderMap::new();
    headers.insert("mcp-param-x", http::HeaderValue::from_bytes(header.as_bytes()).unwrap());
    let arguments = Document::parse(format!("{{\"x\":{argument}}}"), Limits::ARGUMENTS).unwrap();
    let mirrors = Mirrors::of(Document::from_json_value(schema).root()).unwrap().unwrap();
    mirrors.check(&headers, Some(arguments.root())).is_ok()
}

fn one(kind: &str) -> Value {
    json!({"type": "object", "properties": {"x": {"type": kind, "x-mcp-header": "X"}}})
}

#[test]
fn values_are_compared_as_what_they_are() {
    for (kind, header, argument, expected) in [
        ("string", "abc", r#""abc""#, true),
        ("string", "ABC", r#""abc""#, false),
        ("string", " abc\t", r#""abc""#, true),
        ("string", "=?base64?IGFiYyA=?=", r#"" abc ""#, true),
        ("string", "=?base64?SGVsbG8?=", r#""Hello""#, false),
        ("string", "=?base64?SGVs!!!bG8=?=", r#""Hello""#, false),
        ("string", "=?base64?SGVsbG8=", r#""=?base64?SGVsbG8=""#, true),
        ("string", "SGVsbG8=", r#""SGVsbG8=""#, true),
        ("string", "1", "1", true),
        ("integer", "7", "7.0", true),
        ("integer", "7e0", "7", true),
        ("integer", "-7", "7", false),
        ("integer", "7.5", "7.5", false),
        ("integer", "9007199254740991", "9007199254740991", true),
        ("integer", "9007199254740993", "9007199254740993", false),
        ("integer", "0x7", "7", false),
        ("boolean", "true", "true", true),
        ("boolean", "True", "true", false),
        ("boolean", "1", "true", false),
        ("string", "{}", "{}", false),
    ] {
        assert_eq!(same(&one(kind), header, argument), expected, "{kind} {header} {argument}");
    }
}
