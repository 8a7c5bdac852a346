use super::*;

#[test]
fn the_default_dialect_is_2020_12() {
    let schema = admitted(r#"{"prefixItems":[{"type":"string"}],"items":false}"#);
    fits(&schema, r#"["a"]"#);
    assert_eq!(breaks(&schema, r#"["a",1]"#), "false");
}

#[test]
fn spellings_of_the_dialects_are_tolerated() {
    for place in ["json-schema.org/draft/2020-12/schema", "json-schema.org/draft-07/schema"] {
        for scheme in ["http", "https"] {
            for end in ["", "#"] {
                assert_eq!(word(&format!(r#"{{"$schema":"{scheme}://{place}{end}"}}"#)), "admitted");
            }
        }
    }
}

#[test]
fn other_dialects_are_refused() {
    for uri in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/schema#",
        "https://example.com/meta",
        "",
    ] {
        assert_eq!(word(&format!(r#"{{"$schema":"{uri}"}}"#)), "unknown_dialect");
    }
    assert_eq!(word(r#"{"$schema":7}"#), "unknown_dialect");
    let refused = admit(&format!(r#"{{"properties":{{"a":{{"$id":"x","$schema":"{DRAFT_7}"}}}}}}"#)).unwrap_err();
    assert_eq!(
        refused,
        SchemaRefused::UnknownDialect { pointer: "/properties/a/$schema".to_owned(), dialect: "draft-07".to_owned() }
    );
}

#[test]
fn what_2020_12_would_ignore_is_refused() {
    for keyword in [
        r#""dependencies":{"a":["b"]}"#,
        r#""items":[{"type":"string"}]"#,
        r#""additionalItems":false"#,
        r##""$recursiveRef":"#""##,
        r#""exclusiveMinimum":true"#,
        r#""exclusiveMaximum":false"#,
        r#""required":true"#,
        r#""divisibleBy":2"#,
        r#""disallow":"string""#,
        r#""extends":{"type":"string"}"#,
    ] {
        let refused = admit(&format!(r#"{{"properties":{{"p":{{{keyword}}}}}}}"#)).unwrap_err();
        let SchemaRefused::IgnoredKeyword { keyword: named, pointer, dialect, .. } = &refused else {
            panic!("{refused:?}");
        };
        assert!(keyword.contains(named.as_str()));
        assert_eq!((pointer.as_str(), *dialect), ("/properties/p", "2020-12"));
    }
}

#[test]
fn what_draft_7_would_ignore_is_refused() {
    for keyword in [
        r#""prefixItems":[{}]"#,
        r#""unevaluatedItems":false"#,
        r#""unevaluatedProperties":false"#,
        r#""dependentRequired":{"a":["b"]}"#,
        r#""dependentSchemas":{"a":{}}"#,
        r#""minContains":1"#,
        r#""maxContains":1"#,
        r##""$dynamicRef":"#a""##,
        r##""$recursiveRef":"#""##,
        r#""exclusiveMinimum":true"#,
        r#""required":false"#,
        r#""divisibleBy":2"#,
        r##""$ref":"#/definitions/d","type":"string""##,
        r##""$ref":"#/definitions/d","minimum":1"##,
        r##""$ref":"#/definitions/d","properties":{}"##,
        r##""allOf":[],"$ref":"#/definitions/d""##,
    ] {
        let schema = draft_7(&format!(r#"{{"definitions":{{"d":{{}}}},"items":[{{{keyword}}}]}}"#));
        assert_eq!(word(&schema), "ignored_keyword", "{keyword}");
    }
}

#[test]
fn annotations_beside_a_reference_stay_in_draft_7() {
    let schema = admitted(&draft_7(
        r##"{"properties":{"a":{"$ref":"#/definitions/d","title":"t","description":"d","default":1,"examples":[1],
            "deprecated":true,"$comment":"c","x-order":1,"readOnly":true}},"definitions":{"d":{"type":"integer"}}}"##,
    ));
    fits(&schema, r#"{"a":1}"#);
    breaks(&schema, r#"{"a":"1"}"#);
}

#[test]
fn keywords_are_looked_for_in_schemas_only() {
    let names = r#""dependencies":{"type":"string"},"prefixItems":{},"divisibleBy":{},"$ref":{"type":"string"}"#;
    let value = r#"{"dependencies":1,"items":[1],"required":true,"$ref":"http://example.com/","prefixItems":1}"#;
    let text = format!(
        r#"{{"properties":{{{names}}},"required":["dependencies"],"enum":[{value}],"default":{value},
            "examples":[{value}],"x-more":{value},"example":{value}}}"#
    );
    for text in [draft_7(&text), text] {
        let schema = admitted(&text);
        assert_eq!(breaks(&schema, r#"{"dependencies":1}"#), "type");
        assert_eq!(breaks(&schema, r#"{"dependencies":"a"}"#), "enum");
    }
    for value in [value, r#"{"$ref":"http://example.com/","$id":"a","$schema":"b"}"#] {
        for text in [draft_7(&format!(r#"{{"const":{value}}}"#)), format!(r#"{{"enum":["a",{value}]}}"#)] {
            fits(&admitted(&text), value);
        }
    }
}

#[test]
fn draft_7_keywords_work_in_draft_7() {
    let schema = admitted(&draft_7(
        r#"{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false,"dependencies":{"a":["b"],"c":{"required":["d"]}}}"#,
    ));
    fits(&schema, r#"["a",1]"#);
    breaks(&schema, r#"["a",1,2]"#);
    breaks(&schema, r#"[1]"#);
    fits(&schema, r#"{"a":1,"b":2}"#);
    breaks(&schema, r#"{"a":1}"#);
    breaks(&schema, r#"{"c":1}"#);
}

#[test]
fn words_of_openapi_are_annotations() {
    let schema = admitted(
        r#"{"type":"string","nullable":true,"example":"e","x-a":{"type":3},"discriminator":{"propertyName":"p"}}"#,
    );
    fits(&schema, r#""a""#);
    assert_eq!(breaks(&schema, "null"), "type");
}

#[test]
fn known_formats_are_asserted_and_others_are_not() {
    for (format, good, bad) in [
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T10:00:00Z", "yesterday"),
        ("email", "a@example.com", "a"),
        ("uri", "https://example.com/", "no uri"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8"),
        ("regex", "^a+$", "("),
    ] {
        let schema = admitted(&format!(r#"{{"format":"{format}"}}"#));
        fits(&schema, &format!("{good:?}"));
        assert_eq!(breaks(&schema, &format!("{bad:?}")), "format");
    }
    for format in ["int32", "uint64", "markdown", "binary", ""] {
        let schema = admitted(&format!(r#"{{"format":"{format}"}}"#));
        fits(&schema, r#""anything""#);
    }
    // Draft-07 does not define it.
    fits(&admitted(&draft_7(r#"{"format":"uuid"}"#)), r#""2eb8""#);
}

#[test]
fn the_meta_schema_is_asked() {
    for (text, pointer) in [
        (r#"{"type":"strin"}"#, "/type"),
        (r#"{"properties":{"a":{"type":"dict"}}}"#, "/properties/a/type"),
        (r#"{"$defs":{"unused":{"minLength":-1}}}"#, "/$defs/unused/minLength"),
        (r#"{"required":"a"}"#, "/required"),
        (r#"{"multipleOf":0}"#, "/multipleOf"),
        (r#"{"minimum":"1"}"#, "/minimum"),
        ("[]", ""),
        ("7", ""),
        (r#"{"allOf":[]}"#, "/allOf"),
        (r#"{"allOf":{}}"#, "/allOf"),
        (r#"{"properties":{"a":null}}"#, "/properties/a"),
        (r##"{"$ref":7}"##, "/$ref"),
    ] {
        match admit(text).unwrap_err() {
            SchemaRefused::InvalidSchema { pointer: found, .. } => assert_eq!(found, pointer, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn an_input_schema_admits_an_object() {
    let input = |text: &str| Schema::admit(&document(text), Role::Input, UnknownFields::Refuse);
    for text in [
        "true",
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":["object","null"]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
        r#"{"anyOf":[{"type":"string"},{"type":"object"}]}"#,
    ] {
        input(text).unwrap();
    }
    for text in [
        "false",
        r#"{"type":"string"}"#,
        r#"{"const":1}"#,
        r#"{"enum":["a"]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"array"}}}"##,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        r#"{"allOf":[{"type":"string"}]}"#,
    ] {
        assert_eq!(input(text).unwrap_err(), SchemaRefused::NotAnObject, "{text}");
    }
}

#[test]
fn the_original_stays_as_it_was() {
    let text = r#"{ "type": "object", "properties": {"a": {"minimum": 1.0}}, "title": "t" }"#;
    let schema = Schema::admit(&document(text), Role::Input, UnknownFields::Refuse).unwrap();
    breaks(&schema, r#"{"b":1}"#);
    assert_eq!(schema.document().text(), text);
}
