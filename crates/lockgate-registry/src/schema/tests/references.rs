use super::*;

#[test]
fn references_inside_the_document_resolve() {
    for text in [
        r##"{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#d"}},"$defs":{"d":{"$anchor":"d","type":"integer"}}}"##,
        r##"{"properties":{"a":{"$dynamicRef":"#d"}},"$defs":{"d":{"$dynamicAnchor":"d","type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/a%20b~1c%25"}},"$defs":{"a b/c%":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/components/schemas/d"}},"components":{"schemas":{"d":{"type":"integer"}}}}"##,
        r##"{"properties":{"a":{"$ref":"d.json"}},"$defs":{"d":{"$id":"d.json","type":"integer"}}}"##,
        r##"{"$id":"https://example.com/a/b","properties":{"a":{"$ref":"/a/d#x"}},"$defs":{"d":{"$id":"d","$defs":{"e":{"$anchor":"x","type":"integer"}}}}}"##,
        r##"{"$id":"https://example.com/a","properties":{"a":{"$ref":"https://example.com/a#/$defs/d"}},"$defs":{"d":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/d","$dynamicRef":"#/$defs/e"}},"$defs":{"d":{"type":["integer","string"]},"e":{"type":["integer","null"]}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#d"}},"definitions":{"d":{"$id":"#d","type":"integer"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer"}}}"##,
    ] {
        let schema = admitted(text);
        fits(&schema, r#"{"a":1}"#);
        assert_eq!(breaks(&schema, r#"{"a":"1"}"#), "type", "{text}");
        assert!(!check(&schema, r#"{"a":"1"}"#).unwrap_err().iter().next().unwrap().schema_pointer.contains("$defs/0"));
    }
}

#[test]
fn the_pointer_of_a_violation_leads_into_the_original() {
    let text = r##"{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"w":{},"x":{"properties":{"b":{"$ref":"#/$defs/y/items"}}},"y":{"items":{"minimum":3}}}}"##;
    let violations = check(&admitted(text), r#"{"a":{"b":1}}"#).unwrap_err();
    let violation = violations.iter().next().unwrap();
    assert_eq!(violation.instance_pointer, "/a/b");
    assert_eq!(violation.schema_pointer, "/$defs/y/items/minimum");
    assert!(document(text).root().pointer(&violation.schema_pointer).is_some());
    assert_eq!(violation.message, "the value is less than the minimum of 3");
}

#[test]
fn references_out_of_the_document_are_refused() {
    for reference in [
        "https://example.com/schema.json",
        "other.json#/$defs/a",
        "file:///etc/passwd",
        "https://json-schema.org/draft/2020-12/schema",
        "urn:example:a",
        "//example.com/a",
    ] {
        assert_eq!(word(&format!(r#"{{"items":{{"$ref":"{reference}"}}}}"#)), "remote_reference", "{reference}");
    }
}

#[test]
fn references_to_nothing_are_refused() {
    for reference in ["#/$defs/none", "#none", "#/items/00", "#/type", "#/%ff", "#/%4", "#/%zz", "#/~2"] {
        let text = format!(r#"{{"type":"array","items":{{"$ref":"{reference}"}},"%4":{{}}}}"#);
        assert_eq!(word(&text), "unresolved_reference", "{reference}");
    }
    // Which of two anchors of one name it means depends on the way that validation took.
    let text = r##"{"$id":"a","items":{"$dynamicRef":"#x"},"$defs":{"x":{"$dynamicAnchor":"x"},"b":{"$id":"b","$dynamicAnchor":"x"}}}"##;
    assert_eq!(word(text), "unresolved_reference");
}

#[test]
fn a_name_is_given_once() {
    assert_eq!(word(r#"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"#), "repeated_name");
    assert_eq!(word(r#"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x#"}}}"#), "repeated_name");
    assert_eq!(word(r#"{"$defs":{"a":{"$id":"x","$anchor":"x"},"b":{"$id":"y","$anchor":"x"}}}"#), "admitted");
    assert_eq!(word(&draft_7(r##"{"definitions":{"a":{"$id":"#x"},"b":{"$id":"#x"}}}"##)), "repeated_name");
}

#[test]
fn a_fragment_names_a_schema_in_draft_7_only() {
    // The empty one is no name.
    let empty = r##"{"$id":"#","properties":{"a":{"$id":"#"},"b":{"$id":"#"}}}"##;
    assert_eq!([word(empty), word(&draft_7(empty))], ["admitted"; 2]);
    let named = r##"{"properties":{"a":{"$id":"#x"},"b":{"$ref":"#x"}}}"##;
    assert_eq!([word(named), word(&draft_7(named))], ["invalid_schema", "admitted"]);
    let found_by_reference =
        r##"{"properties":{"a":{"$ref":"#/components/a"},"b":{"$ref":"#x"}},"components":{"a":{"$id":"#x"}}}"##;
    assert_eq!([word(found_by_reference), word(&draft_7(found_by_reference))], ["unresolved_reference", "admitted"]);
}

#[test]
fn what_only_a_reference_finds_is_examined_too() {
    let text = r##"{"items":{"$ref":"#/components/a"},"components":{"a":{"dependencies":{}}}}"##;
    assert_eq!(word(text), "ignored_keyword");
    let text = r##"{"items":{"$ref":"#/components/a"},"components":{"a":{"items":{"$ref":"http://example.com"}}}}"##;
    assert_eq!(word(text), "remote_reference");
    // Of what is not valid, some the validator notices by itself, and some only the meta-schema.
    for keyword in [r#""type":"strin""#, r#""uniqueItems":"yes""#, r#""required":["a","a"]"#] {
        let text = format!(r##"{{"items":{{"$ref":"#/components/a"}},"components":{{"a":{{{keyword}}}}}}}"##);
        for text in [draft_7(&text), text] {
            assert_eq!(word(&text), "not_enforceable", "{text}");
        }
    }
}

#[test]
fn recursion_through_the_value_is_fine() {
    for text in [
        r##"{"type":"object","properties":{"child":{"$ref":"#"}}}"##,
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","additionalProperties":{"$ref":"#/$defs/n"}}}}"##,
        r##"{"anyOf":[{"type":"object","properties":{"child":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}]}"##,
    ] {
        let schema = admitted(text);
        fits(&schema, r#"{"child":{"child":{"child":{}}}}"#);
        breaks(&schema, r#"{"child":{"child":{"child":1}}}"#);
    }
}

#[test]
fn recursion_without_the_value_is_refused() {
    for text in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}"##,
        r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"if":{"$ref":"#/$defs/a"}}}}"##,
        r##"{"dependentSchemas":{"a":{"$ref":"#"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"$ref":"#"}}}"##,
    ] {
        assert_eq!(word(text), "endless_reference", "{text}");
    }
    let text =
        r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/b"}]}}}"##;
    let refused = admit(text).unwrap_err();
    assert!(matches!(refused, SchemaRefused::EndlessReference { pointer } if pointer.starts_with("/$defs/b")));
    // Not the part that ends.
    let refused = admit(r##"{"items":{"allOf":[{"type":"string"},{"$ref":"#/items"}]}}"##).unwrap_err();
    assert!(
        matches!(&refused, SchemaRefused::EndlessReference { pointer } if pointer != "/items/allOf/0"),
        "{refused}"
    );
}
