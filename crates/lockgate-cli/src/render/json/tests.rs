use lockgate::contract::document::{Document, Limits};

use super::{compact, pretty};

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
