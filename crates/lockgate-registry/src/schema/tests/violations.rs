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
fn keywords_are_named_as_in_the_schema() {
    for (schema, instance, keyword, schema_pointer) in [
        (r#"{"properties":{"a":false}}"#, r#"{"a":1}"#, "false", "/properties/a"),
        ("false", "1", "false", ""),
        (r#"{"properties":{"a":{"multipleOf":2}}}"#, r#"{"a":1}"#, "multipleOf", "/properties/a/multipleOf"),
        (r#"{"enum":[1,2]}"#, "3", "enum", "/enum"),
        (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "3", "anyOf", "/anyOf"),
        (r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#, "3", "oneOf", "/oneOf"),
        (r#"{"not":{}}"#, "3", "not", "/not"),
        (r#"{"propertyNames":{"maxLength":2}}"#, r#"{"abc":1}"#, "propertyNames", "/propertyNames/maxLength"),
        (r#"{"pattern":"^a$"}"#, r#""b""#, "pattern", "/pattern"),
        (r#"{"contains":{"minimum":5}}"#, "[1]", "contains", "/contains"),
        (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#, "required", "/dependentRequired"),
        (r#"{"unevaluatedItems":false}"#, "[1]", "unevaluatedItems", "/unevaluatedItems"),
        (
            r#"{"properties":{"lockgate:minimum":{"minimum":5}}}"#,
            r#"{"lockgate:minimum":1}"#,
            "minimum",
            "/properties/lockgate:minimum/minimum",
        ),
    ] {
        let violations = check(&admitted(schema), instance).unwrap_err();
        let violation = violations.iter().next().unwrap();
        assert_eq!(
            (violation.keyword.as_str(), violation.schema_pointer.as_str()),
            (keyword, schema_pointer),
            "{schema}"
        );
        assert!(!violations.to_string().is_empty());
    }
}
