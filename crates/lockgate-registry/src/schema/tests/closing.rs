use super::*;

fn closed(text: &str) -> Schema {
    Schema::admit(&document(text), Role::Output, UnknownFields::Refuse).unwrap()
}

#[test]
fn open_objects_are_closed_at_every_depth() {
    let text = r#"{"type":"object","properties":{"to":{"type":"string"},"deep":{"properties":{"x":{}}},
        "list":{"items":{"properties":{"y":{}}}}}}"#;
    for text in [text.to_owned(), draft_7(text)] {
        let schema = closed(&text);
        fits(&schema, r#"{"to":"bob","deep":{"x":1},"list":[{"y":{"z":1}}]}"#);
        assert_eq!(breaks(&schema, r#"{"to":"bob","is_admin":true}"#), "additionalProperties");
        breaks(&schema, r#"{"deep":{"x":1,"z":1}}"#);
        breaks(&schema, r#"{"list":[{"z":1}]}"#);
        fits(&admitted(&text), r#"{"is_admin":true,"deep":{"z":1},"list":[{"z":1}]}"#);
    }
}

#[test]
fn what_a_schema_says_about_other_properties_stays() {
    for text in [
        r#"{"properties":{"a":{}},"additionalProperties":true}"#,
        r#"{"properties":{"a":{}},"additionalProperties":{}}"#,
        r#"{"properties":{"a":{}},"patternProperties":{"^b$":{}}}"#,
        r#"{"properties":{"a":{}},"unevaluatedProperties":true}"#,
        r#"{"type":"object"}"#,
        "{}",
    ] {
        fits(&closed(text), r#"{"a":1,"b":2}"#);
    }
    let schema = closed(r#"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#);
    fits(&schema, r#"{"b":"s"}"#);
    breaks(&schema, r#"{"b":1}"#);
    breaks(&closed(r#"{"type":"object","properties":{}}"#), r#"{"a":1}"#);
}

#[test]
fn objects_of_several_parts_are_closed_as_a_whole() {
    for text in [
        r#"{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}},{"properties":{"c":{}}}]}"#,
        r##"{"properties":{"a":{}},"allOf":[{"$ref":"#/definitions/x"}],"definitions":{"x":{"properties":{"b":{},"c":{}}}}}"##,
        r#"{"properties":{"a":{}},"anyOf":[{"properties":{"b":{},"c":{}}},{"properties":{"b":{}},"required":["z"]}]}"#,
        r#"{"properties":{"a":{},"b":{}},"if":{"properties":{"c":{}}},"then":{}}"#,
    ] {
        for text in [text.to_owned(), draft_7(text)] {
            let schema = closed(&text);
            fits(&schema, r#"{"a":1,"b":2,"c":3}"#);
            let keyword = breaks(&schema, r#"{"a":1,"b":2,"c":3,"d":4}"#);
            let expected = if text.contains("draft-07") { "additionalProperties" } else { "unevaluatedProperties" };
            assert_eq!(keyword, expected, "{text}");
        }
    }
}

#[test]
fn an_object_beside_a_reference_is_closed_as_a_whole() {
    let definitions = r#""$defs":{"x":{"properties":{"b":{}}},"y":{"properties":{"c":{}}}}"#;
    for beside in [
        r##""$ref":"#/$defs/x","properties":{"a":{}}"##,
        r##""$ref":"#/$defs/x","allOf":[{"properties":{"a":{}}}]"##,
        r##""$ref":"#/$defs/x","$dynamicRef":"#/$defs/y","properties":{"a":{}}"##,
    ] {
        let schema = closed(&format!("{{{beside},{definitions}}}"));
        fits(&schema, r#"{"a":1,"b":2}"#);
        assert_eq!(breaks(&schema, r#"{"a":1,"b":2,"d":4}"#), "unevaluatedProperties", "{beside}");
    }
    let schema = closed(&format!(r##"{{"$ref":"#/$defs/x","$dynamicRef":"#/$defs/y",{definitions}}}"##));
    fits(&schema, r#"{"b":2,"c":3}"#);
    assert_eq!(breaks(&schema, r#"{"a":1}"#), "unevaluatedProperties");
    // What the reference leads to is open where something is said of other properties beside it.
    let schema = closed(&format!(r##"{{"$ref":"#/$defs/x","patternProperties":{{"^a$":{{}}}},{definitions}}}"##));
    fits(&schema, r#"{"a":1,"b":2,"d":4}"#);
    // With nothing beside it, that is what is closed.
    let schema = closed(&format!(r##"{{"$ref":"#/$defs/x",{definitions}}}"##));
    assert_eq!(breaks(&schema, r#"{"a":1}"#), "additionalProperties");
}

#[test]
fn a_branch_lends_its_names_only_where_it_applies() {
    let text = r#"{"oneOf":[{"properties":{"kind":{"const":"a"},"x":{}},"required":["kind"]},
        {"properties":{"kind":{"const":"b"},"y":{}},"required":["kind"]}]}"#;
    let schema = closed(text);
    fits(&schema, r#"{"kind":"a","x":1}"#);
    breaks(&schema, r#"{"kind":"a","y":1}"#);
    // Draft-07 has no keyword for this: the names of all branches are taken.
    let schema = closed(&draft_7(text));
    fits(&schema, r#"{"kind":"a","y":1}"#);
    breaks(&schema, r#"{"kind":"a","z":1}"#);
}

#[test]
fn an_open_branch_keeps_the_object_open() {
    let text =
        r#"{"anyOf":[{"properties":{"a":{}},"additionalProperties":true},{"properties":{"b":{}},"required":["b"]}]}"#;
    for text in [text.to_owned(), draft_7(text)] {
        fits(&closed(&text), r#"{"c":1}"#);
    }
}

#[test]
fn definitions_are_closed_where_they_are_whole_and_open_where_they_are_parts() {
    let text = r##"{"properties":{"whole":{"$ref":"#/definitions/p"},"part":{"allOf":[{"$ref":"#/definitions/p"},{"properties":{"b":{}}}]},
        "maybe":{"anyOf":[{"$ref":"#/definitions/p"},{"type":"null"}]}},"definitions":{"p":{"properties":{"a":{}}}}}"##;
    for text in [text.to_owned(), draft_7(text)] {
        let schema = closed(&text);
        fits(&schema, r#"{"whole":{"a":1},"part":{"a":1,"b":2},"maybe":null}"#);
        breaks(&schema, r#"{"whole":{"a":1,"b":2}}"#);
        breaks(&schema, r#"{"part":{"a":1,"b":2,"c":3}}"#);
        breaks(&schema, r#"{"maybe":{"b":1}}"#);
    }
}

#[test]
fn recursive_definitions_are_closed() {
    let text = r##"{"$ref":"#/definitions/n","definitions":{"n":{"type":"object","properties":{"name":{"type":"string"},
        "children":{"type":"array","items":{"$ref":"#/definitions/n"}}}}}}"##;
    for text in [text.to_owned(), draft_7(text)] {
        let schema = closed(&text);
        fits(&schema, r#"{"name":"a","children":[{"name":"b","children":[{}]}]}"#);
        breaks(&schema, r#"{"name":"a","children":[{"name":"b","children":[{"x":1}]}]}"#);
    }
}

#[test]
fn conditions_keep_their_meaning() {
    let text = r#"{"properties":{"o":{"type":"object"}},"not":{"properties":{"o":{"properties":{"a":{}},"required":["a"]}},"required":["o"]}}"#;
    for text in [text.to_owned(), draft_7(text)] {
        let schema = closed(&text);
        // Were the schema under `not` closed, `b` would make it fail, and this fit.
        assert_eq!(breaks(&schema, r#"{"o":{"a":1,"b":2}}"#), "not");
        fits(&schema, r#"{"o":{"b":1}}"#);
    }
    let schema = closed(r#"{"contains":{"properties":{"a":{}},"required":["a"]}}"#);
    fits(&schema, r#"[{"a":1,"b":2}]"#);
}
