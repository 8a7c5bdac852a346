use super::*;

fn projected(text: &str) -> String {
    let schema = Document::parse(text, crate::wire::limits(text.len())).unwrap();
    serde_json::to_string(&Parameters(&schema)).unwrap()
}

#[test]
fn a_plain_object_schema_stays_as_it_is_written() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}},"required":["n"],"additionalProperties":false}"#;
    assert_eq!(projected(schema), schema);
}

#[test]
fn a_root_gets_what_every_root_needs() {
    let bare = r#"{"type":"object","properties":{}}"#;
    for schema in ["true", "{}", r#"{"type":"object"}"#, r#"{"type":["object","null"]}"#] {
        assert_eq!(projected(schema), bare, "{schema}");
    }
}

#[test]
fn keywords_that_no_root_may_have_are_left_out_there_only() {
    let schema = r#"{"$schema":"x","properties":{"a":{"anyOf":[{"type":"null"}]}},"anyOf":[],"oneOf":[],"allOf":[],"enum":[],"not":{},"$defs":{"b":true}}"#;
    assert_eq!(
        projected(schema),
        r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"}]}},"$defs":{"b":true}}"#
    );
}
