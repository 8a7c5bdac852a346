use super::*;
use crate::schema::Violation;

fn first(schema: &str, instance: &str) -> (Violation, Option<(String, String)>) {
    let schema = Schema::admit(&document(schema), Role::Output, UnknownFields::Refuse).unwrap();
    let violations = check(&schema, instance).unwrap_err();
    (violations.iter().next().unwrap().clone(), violations.declared_path())
}

const TRANSFER: &str = r#"{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer"},
    "tags":{"type":"array","items":{"properties":{"name":{"type":"string"}}}},
    "map":{"additionalProperties":{"type":"integer"}},"a/b":{"const":"c"}},"required":["to"]}"#;

#[test]
fn the_audit_gets_every_name_and_no_value() {
    let (violation, _) = first(TRANSFER, r#"{"to":"bob","is_admin":true}"#);
    assert_eq!(
        violation,
        Violation {
            instance_pointer: "/is_admin".to_owned(),
            schema_pointer: "/additionalProperties".to_owned(),
            keyword: "additionalProperties".to_owned(),
            message: "the property is not declared".to_owned(),
        }
    );
    let (violation, _) = first(TRANSFER, r#"{"to":"bob","amount":"s3cret"}"#);
    assert_eq!(violation.instance_pointer, "/amount");
    assert_eq!(violation.schema_pointer, "/properties/amount/type");
    assert_eq!(violation.message, r#"the value is not of type "integer""#);
}

#[test]
fn the_model_gets_declared_names_only() {
    for (instance, pointer, keyword) in [
        (r#"{"to":"bob","s3cret":1}"#, "", "additionalProperties"),
        (r#"{}"#, "/to", "required"),
        (r#"{"to":"b","amount":"s3cret"}"#, "/amount", "type"),
        (r#"{"to":"b","tags":[{},{"name":7}]}"#, "/tags/1/name", "type"),
        (r#"{"to":"b","tags":[{},{"s3cret":7}]}"#, "/tags/1", "additionalProperties"),
        (r#"{"to":"b","map":{"s3cret":"x"}}"#, "/map", "type"),
        (r#"{"to":"b","map":{"12345":"x"}}"#, "/map", "type"),
        (r#"{"to":"b","a/b":"d"}"#, "/a~1b", "const"),
        (r#"[1]"#, "", "type"),
    ] {
        let (_, declared) = first(TRANSFER, instance);
        assert_eq!(declared, Some((pointer.to_owned(), keyword.to_owned())), "{instance}");
    }
}

#[test]
fn all_violations_are_listed_up_to_a_bound() {
    let schema = admitted(
        r#"{"properties":{"a":{"type":"string"},"b":{"minimum":3}},"required":["c"],"items":{"type":"string"}}"#,
    );
    let violations = check(&schema, r#"{"a":1,"b":2}"#).unwrap_err();
    let mut pointers: Vec<_> = violations.iter().map(|violation| violation.instance_pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/a", "/b", "/c"]);
    let many = format!("[{}]", vec!["1"; 1000].join(","));
    assert_eq!(check(&schema, &many).unwrap_err().iter().count(), Violations::MOST);
}

#[test]
fn violations_are_shown_with_their_places() {
    let schema = admitted(r#"{"items":{"type":"string"},"type":"array"}"#);
    for (instance, shown) in [
        ("7", r#"the value is not of type "array""#),
        ("[7]", r#"`/0`: the value is not of type "string""#),
        (r#"[7,"a",8]"#, r#"`/0`: the value is not of type "string"; `/2`: the value is not of type "string""#),
    ] {
        assert_eq!(check(&schema, instance).unwrap_err().to_string(), shown);
    }
}

#[test]
fn keywords_are_named_as_in_the_schema() {
    for (schema, instance, keyword, schema_pointer, message) in [
        (r#"{"properties":{"a":false}}"#, r#"{"a":1}"#, "false", "/properties/a", "no value fits here"),
        ("false", "1", "false", "", "no value fits here"),
        (
            r#"{"properties":{"a":{"multipleOf":2}}}"#,
            r#"{"a":1}"#,
            "multipleOf",
            "/properties/a/multipleOf",
            "the value is not a multiple of 2",
        ),
        (r#"{"enum":[1,2]}"#, "3", "enum", "/enum", "the value is not [1,2]"),
        (r#"{"enum":["a","b"]}"#, "3", "enum", "/enum", r#"the value is not one of "a" or "b""#),
        (r#"{"const":1}"#, "3", "const", "/const", "the value is not 1"),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            "3",
            "anyOf",
            "/anyOf",
            "the value fits none of 2 alternatives",
        ),
        (
            r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#,
            "3",
            "oneOf",
            "/oneOf",
            "the value fits more than one of the alternatives",
        ),
        (
            r#"{"oneOf":[{"type":"string"},{"type":"null"},false]}"#,
            "3",
            "oneOf",
            "/oneOf",
            "the value fits none of 3 alternatives",
        ),
        (r#"{"not":{}}"#, "3", "not", "/not", "the value fits a schema that it must not fit"),
        (
            r#"{"propertyNames":{"maxLength":2}}"#,
            r#"{"abc":1}"#,
            "propertyNames",
            "/propertyNames/maxLength",
            "the name of a property does not fit",
        ),
        (r#"{"pattern":"^a$"}"#, r#""b""#, "pattern", "/pattern", r#"the value does not match "^a$""#),
        (
            r#"{"contains":{"minimum":5}}"#,
            "[1]",
            "contains",
            "/contains",
            "too few or too many items fit the schema of `contains`",
        ),
        (
            r#"{"contains":{"minimum":5},"maxContains":1}"#,
            "[6,7]",
            "contains",
            "/maxContains",
            "too few or too many items fit the schema of `contains`",
        ),
        (
            r#"{"dependentRequired":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            "required",
            "/dependentRequired",
            "the property is required",
        ),
        (
            r#"{"unevaluatedItems":false}"#,
            "[1]",
            "unevaluatedItems",
            "/unevaluatedItems",
            "the array has more items than the schema describes",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false}"#,
            "[1,2]",
            "additionalItems",
            "/additionalItems",
            "the array has more items than the schema describes",
        ),
        (
            r#"{"properties":{"lockgate:minimum":{"minimum":5}}}"#,
            r#"{"lockgate:minimum":1}"#,
            "minimum",
            "/properties/lockgate:minimum/minimum",
            "the value is less than the minimum of 5",
        ),
        (
            r#"{"properties":{"lockgate:minimum":false}}"#,
            r#"{"lockgate:minimum":1}"#,
            "false",
            "/properties/lockgate:minimum",
            "no value fits here",
        ),
    ] {
        let violations = check(&admitted(schema), instance).unwrap_err();
        let violation = violations.iter().next().unwrap();
        assert_eq!(
            (violation.keyword.as_str(), violation.schema_pointer.as_str(), violation.message.as_str()),
            (keyword, schema_pointer, message),
            "{schema}"
        );
    }
}

#[test]
fn every_undeclared_property_has_its_place() {
    let text = r#"{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}]}"#;
    let many: Vec<_> = (0..20).map(|at| format!(r#""c/{at:02}":1"#)).collect();
    let instance = format!(r#"{{{}}}"#, many.join(","));
    for (text, keyword) in [
        (text.to_owned(), "unevaluatedProperties"),
        (draft_7(text), "additionalProperties"),
        (r#"{"properties":{"a":{}}}"#.to_owned(), "additionalProperties"),
        (r#"{"additionalProperties":false}"#.to_owned(), "additionalProperties"),
    ] {
        let schema = Schema::admit(&document(&text), Role::Output, UnknownFields::Refuse).unwrap();
        let violations = check(&schema, &instance).unwrap_err();
        assert_eq!(violations.iter().count(), Violations::MOST);
        for (at, violation) in violations.iter().enumerate() {
            let expected = Violation {
                instance_pointer: format!("/c~1{at:02}"),
                schema_pointer: format!("/{keyword}"),
                keyword: keyword.to_owned(),
                message: "the property is not declared".to_owned(),
            };
            assert_eq!(*violation, expected);
        }
    }
}
