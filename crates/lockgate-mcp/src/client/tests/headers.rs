//! What is said in headers too.

use serde_json::json;

use super::peer::doc;
use crate::wire::Mirrors;

#[test]
fn annotated_arguments_are_mirrored_and_others_are_not() {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "deep": { "type": "object", "properties": { "count": { "type": "integer", "x-mcp-header": "Count" } } },
        "on": { "type": "boolean", "x-mcp-header": "On" },
        "off": { "type": "boolean", "x-mcp-header": "Off" },
        "plain": { "type": "string", "default": { "x-mcp-header": "No" } },
    } });
    let mirror = Mirrors::of(doc(&schema).root()).unwrap().unwrap();
    let arguments = doc(&json!({ "region": "é", "deep": { "count": 42 }, "on": true, "off": null, "plain": "x" }));
    let headers = mirror.headers(arguments.root());
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("mcp-param-region", "=?base64?w6k=?="), ("mcp-param-count", "42"), ("mcp-param-on", "true")]);
    // The server compares by value.
    let written = doc(&json!({ "deep": { "count": 42.0 } }));
    assert_eq!(mirror.headers(written.root()), [("mcp-param-count".to_owned(), "42".to_owned())]);
    let large = doc(&json!({ "deep": { "count": 9_007_199_254_740_993_u64 } }));
    assert!(mirror.headers(large.root()).is_empty());
}
