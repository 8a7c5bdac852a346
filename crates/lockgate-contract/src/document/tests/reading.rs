use super::parse;
use crate::document::{Document, Kind};

const SAMPLE: &str = r#"{"a": [10, {"b": null}, "x\ty"], "m/n": 1, "~": 2, "": 3, "\u0065": 4}"#;

#[test]
fn members_come_in_the_order_of_the_text() {
    let document = parse(SAMPLE);
    let keys: Vec<_> = document.root().members().map(|(key, _)| key.into_owned()).collect();
    assert_eq!(keys, ["a", "m/n", "~", "", "e"]);
    assert_eq!(document.root().members().len(), 5);
    let names: Vec<_> = document.root().names().map(|name| name.as_str().unwrap().into_owned()).collect();
    assert_eq!(names, keys);
}

#[test]
fn values_are_found_by_key_index_and_pointer() {
    let document = parse(SAMPLE);
    let root = document.root();
    let at = |pointer: &str| root.pointer(pointer).map(|node| node.raw());
    assert_eq!(at(""), Some(SAMPLE));
    assert_eq!(at("/a/0"), Some("10"));
    assert_eq!(at("/a/1/b"), Some("null"));
    assert_eq!(at("/m~1n"), Some("1"));
    assert_eq!(at("/~0"), Some("2"));
    assert_eq!(at("/"), Some("3"));
    assert_eq!(at("/e"), Some("4"));
    for nowhere in ["a", "/b", "/a/3", "/a/-", "/a/00", "/a/01", "/a/+1", "/a/", "/a/0/x", "/~", "/~2", "/a/1/b/c"] {
        assert_eq!(at(nowhere), None, "{nowhere}");
    }
    assert_eq!(root.get("e").unwrap().raw(), "4");
    assert!(root.get("E").is_none());
    let array = root.get("a").unwrap();
    assert_eq!((array.len(), root.len()), (3, 5));
    assert_eq!(array.index(2).unwrap().as_str().unwrap(), "x\ty");
    assert!(array.index(3).is_none());
    assert_eq!(array.elements().len(), 3);
}

#[test]
fn a_value_answers_for_its_own_kind_only() {
    let document = parse("[null,true,1,\"s\",[1],{\"k\":1}]");
    for (at, node) in document.root().elements().enumerate() {
        assert_eq!(node.is_null(), at == 0);
        assert_eq!(node.as_bool().is_some(), at == 1);
        assert_eq!(node.as_number().is_some(), at == 2);
        assert_eq!(node.as_str().is_some(), at == 3);
        assert_eq!(node.elements().count(), usize::from(at == 4));
        assert_eq!(node.members().count(), usize::from(at == 5));
        assert_eq!(node.names().count(), usize::from(at == 5));
        assert_eq!(node.is_empty(), at < 4);
        assert_eq!(node.get("k").is_some(), at == 5);
        assert_eq!(node.index(0).is_some(), at == 4);
    }
}

#[test]
fn a_part_becomes_a_document_with_its_exact_text() {
    let document = parse(r#" {"x": [ 1.0, {"y":"\u0041"} ] , "z":0} "#);
    let part = document.root().pointer("/x").unwrap().to_document();
    assert_eq!(part.text(), r#"[ 1.0, {"y":"\u0041"} ]"#);
    assert_eq!(part.root().pointer("/1/y").unwrap().as_str().unwrap(), "A");
    assert_eq!(part.root().elements().len(), 2);
    let inner = part.root().pointer("/1").unwrap().to_document();
    assert_eq!(inner.root().get("y").unwrap().raw(), r#""\u0041""#);
    assert_eq!(document.root().to_document().text(), document.text().trim());
}

#[test]
fn identity_tells_values_apart() {
    let document = parse("[[],[]]");
    let other = parse("[[],[]]");
    let [first, second] = [0, 1].map(|index| document.root().index(index).unwrap());
    assert_eq!(first.identity(), document.root().index(0).unwrap().identity());
    assert_ne!(first.identity(), second.identity());
    assert_ne!(document.root().identity(), other.root().identity());
    assert_eq!(document.root().identity(), document.clone().root().identity());
}

#[test]
fn small_documents_are_made_without_text() {
    assert_eq!(Document::null().text(), "null");
    assert_eq!(Document::boolean(true).text(), "true");
    assert_eq!(Document::boolean(false).text(), "false");
    assert_eq!(Document::integer(u64::MAX).text(), "18446744073709551615");
    assert_eq!(Document::string("a\"\n\u{1}é").text(), "\"a\\\"\\n\\u0001é\"");
    assert_eq!(Document::string("a\"\n\u{1}é").root().as_str().unwrap(), "a\"\n\u{1}é");
    assert_eq!(Document::empty_array().text(), "[]");
    assert_eq!(Document::empty_object().text(), "{}");
    assert_eq!(Document::empty_object().root().kind(), Kind::Object);
}

#[test]
fn documents_may_cross_threads() {
    fn crosses<T: Send + Sync + 'static>(_: &T) {}
    crosses(&Document::null());
}

#[test]
fn debug_shows_the_text() {
    let document = parse(r#"{"a": 1.0}"#);
    assert_eq!(
        format!("{document:?} {document} {:?}", document.root().get("a").unwrap()),
        r#"{"a": 1.0} {"a": 1.0} 1.0"#
    );
    assert!(format!("{:?}", document.root().members()).contains(r#"{"a": 1.0}"#));
}

#[test]
fn the_copy_for_serde_json_takes_no_signals() {
    let text =
        r#"{"$serde_json::private::RawValue":"[1]","$serde_json::private::Number":"7","n":18446744073709551615}"#;
    let copy = parse(text).to_json_value();
    assert_eq!(copy.as_object().unwrap().len(), 3);
    assert_eq!(copy["$serde_json::private::RawValue"], "[1]");
    assert_eq!(copy["n"], u64::MAX);
    assert_eq!(Document::from_json_value(&copy).text(), text);
}
