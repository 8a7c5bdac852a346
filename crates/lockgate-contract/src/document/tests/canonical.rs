use super::parse;
use crate::document::Document;

#[track_caller]
fn canonical(text: &str, expected: &str) {
    assert_eq!(parse(text).canonical(), expected);
}

#[test]
fn white_space_and_order_do_not_matter() {
    canonical("{ \"b\" : [ 1 , 2 ] , \"a\" : { } }", "{\"a\":{},\"b\":[1,2]}");
    canonical(
        "[[],[{}],[[[]]],{\"z\":{\"y\":[],\"x\":{}},\"a\":null}]",
        "[[],[{}],[[[]]],{\"a\":null,\"z\":{\"x\":{},\"y\":[]}}]",
    );
    canonical(" true ", "true");
}

/// The example of RFC 8785 §3.2.3.
#[test]
fn members_are_in_utf16_order() {
    canonical(
        r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
            "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\
         \"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    );
    canonical(
        "{\"\u{ffff}\":1,\"\u{10000}\":2,\"\u{e000}\":3,\"\u{d7ff}\":4,\"\u{10ffff}\":5}",
        "{\"\u{d7ff}\":4,\"\u{10000}\":2,\"\u{10ffff}\":5,\"\u{e000}\":3,\"\u{ffff}\":1}",
    );
    canonical(r#"{"ab":1,"a":2,"":3,"b":4,"B":5}"#, r#"{"":3,"B":5,"a":2,"ab":1,"b":4}"#);
}

/// RFC 8785 §3.2.2.2.
#[test]
fn strings_have_one_spelling() {
    canonical(r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#, "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"");
    canonical(
        r#""\u0008\u0009\u000a\u000b\u000c\u000d\u0000\u001f\u007f""#,
        "\"\\b\\t\\n\\u000b\\f\\r\\u0000\\u001f\u{7f}\"",
    );
    canonical(r#"{"\u0061":"\ud83d\ude00"}"#, "{\"a\":\"😀\"}");
}

#[test]
fn a_bracket_in_a_string_is_no_bracket() {
    canonical(r#"["[","{",["["],"]"]"#, r#"["[","{",["["],"]"]"#);
    canonical(r#"{"{":"{","[":["{",1]}"#, r#"{"[":["{",1],"{":"{"}"#);
}

#[test]
fn same_value_looks_through_spellings() {
    let same = |left: &str, right: &str| {
        let answer = parse(left).same_value(&parse(right));
        assert_eq!(answer, parse(right).same_value(&parse(left)));
        assert_eq!(answer, parse(left).canonical() == parse(right).canonical());
        answer
    };
    assert!(same("{\"a\":1,\"b\":[1.0,\"\\u0041\"]}", "{ \"b\":[1e0,\"A\"], \"a\":1.00}"));
    assert!(same("-0", "0.0"));
    assert!(!same("9007199254740993", "9007199254740992"));
    assert!(!same("[1,2]", "[2,1]"));
    assert!(!same("[1,2]", "[1,2,3]"));
    assert!(!same("1", "\"1\""));
    assert!(!same("\"a\"", "\"b\""));
    assert!(same("\"\\u0041\"", "\"A\""));
    assert!(!same("[]", "{}"));
    assert!(!same("null", "false"));
    assert!(!same("true", "false"));
    assert!(!same("{\"a\":1}", "{\"b\":1}"));
    let document = parse("[1]");
    assert!(document.same_value(&Document::clone(&document)));
}

#[test]
fn a_part_has_the_canonical_form_of_itself() {
    let document = parse(r#"{"x":{"b":1.0,"a":[ ]},"y":2}"#);
    let part = document.root().get("x").unwrap();
    assert_eq!(part.canonical(), r#"{"a":[],"b":1}"#);
    assert_eq!(part.to_document().canonical(), part.canonical());
}
