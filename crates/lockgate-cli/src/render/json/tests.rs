use lockgate::contract::document::{Document, Limits};

use super::{compact, pretty, shown};

fn parsed(text: &str) -> Document {
    Document::parse(text, Limits::OWN).unwrap()
}

#[test]
fn one_line_whatever_was_stored() {
    let document = parsed("{\n \"a\" : [ 1,\n 2 ], \"b\\n\":{ } , \"c\": [ ]}\n");
    assert_eq!(compact(&document), r#"{"a":[1,2],"b\n":{},"c":[]}"#);
}

#[test]
fn digits_stay_as_they_are() {
    let text = r#"{"id":9007199254740993,"rate":1.10,"tiny":1E-400}"#;
    assert_eq!(compact(&parsed(text)), text);
    assert!(pretty(&parsed(text)).contains("\"rate\": 1.10,\n"));
}

#[test]
fn several_lines_for_people() {
    assert_eq!(
        pretty(&parsed(r#"{"a":[1,{"b":null}],"c":{}}"#)),
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {}\n}"
    );
}

#[test]
fn a_terminal_gets_the_same_value_with_nothing_hidden_in_it() {
    let text = "{\"a\u{202e}\":[\"\u{9b}2J\u{7f}\u{200b}\u{e0041}Straße 票\"]}";
    let document = parsed(text);
    let escaped = r#"{"a\u202e":["\u009b2J\u007f\u200b\udb40\udc41Straße 票"]}"#;
    assert_eq!(shown(&document), escaped);
    assert_eq!(compact(&parsed(&pretty(&document))), escaped);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(escaped), value(text));
    assert_eq!(compact(&document), text, "a program gets what was stored");
}
