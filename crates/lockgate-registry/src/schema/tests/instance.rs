//! What the validator is promised of a document: the contract of its traits, and what reading costs.

use jsonschema::json::{Array, Json, JsonNumber, Node, Object};
use serde_json::{Value, json};

use super::*;
use crate::schema::budget::Budget;
use crate::schema::instance::{Documents, Place};

/// A value of each kind and of each way to differ inside, in two spellings.
fn values() -> Vec<(Value, [&'static str; 2])> {
    vec![
        (json!(null), ["null", " null"]),
        (json!(true), ["true", "true "]),
        (json!(false), ["false", " false"]),
        (json!(0), ["0", "-0.0"]),
        (json!(1), ["1", "1.0"]),
        (json!(9_007_199_254_740_993_i64), ["9007199254740993", "9007199254740993.0"]),
        (json!(9_007_199_254_740_992_i64), ["9007199254740992", "9.007199254740992e15"]),
        (json!(0.5), ["0.5", "5e-1"]),
        (json!(""), [r#""""#, r#" """#]),
        (json!("1"), [r#""1""#, r#""\u0031""#]),
        (json!("null"), [r#""null""#, r#""nul\u006c""#]),
        (json!([]), ["[]", "[ ]"]),
        (json!([null]), ["[null]", "[ null ]"]),
        (json!([1, 2]), ["[1,2]", "[1.0, 20e-1]"]),
        (json!([2, 1]), ["[2,1]", "[2, 1]"]),
        (json!([1, 2, 3]), ["[1,2,3]", "[1, 2, 3]"]),
        (json!([[1, 2]]), ["[[1,2]]", "[[1, 2.0]]"]),
        (json!({}), ["{}", "{ }"]),
        (json!({ "a": 1 }), [r#"{"a":1}"#, r#"{"\u0061": 1.0}"#]),
        (json!({ "a": 2 }), [r#"{"a":2}"#, r#"{"a": 2}"#]),
        (json!({ "b": 1 }), [r#"{"b":1}"#, r#"{"b": 1}"#]),
        (json!({ "a": 1, "b": 2 }), [r#"{"a":1,"b":2}"#, r#"{"b": 2, "a": 1}"#]),
        (json!({ "a": 2, "b": 2 }), [r#"{"a":2,"b":2}"#, r#"{"b": 2, "a": 2}"#]),
        (json!({ "a": { "b": [null, 1] } }), [r#"{"a":{"b":[null,1]}}"#, r#"{"a": {"b": [null, 1e0]}}"#]),
    ]
}

#[test]
fn a_value_equals_itself_in_every_spelling_and_nothing_else() {
    let budget = Budget::unlimited();
    for (at, (_, spellings)) in values().into_iter().enumerate() {
        for text in spellings {
            let document = document(text);
            let place = Place::root(&document, &budget);
            for (other, (value, [spelling, _])) in values().into_iter().enumerate() {
                assert_eq!(place.equals_value(&value), at == other, "{text} and {value}");
                assert_eq!(place.is_value(super::document(spelling).root()), at == other, "{text} and {spelling}");
            }
        }
    }
}

#[test]
fn a_number_is_what_it_says() {
    let budget = Budget::unlimited();
    for (text, unsigned, signed, float, value, is_integer, written) in [
        ("42", Some(42), Some(42), Some(42.0), json!(42), true, true),
        ("-7", None, Some(-7), Some(-7.0), json!(-7), true, true),
        ("18446744073709551615", Some(u64::MAX), None, Some(18_446_744_073_709_551_615.0), json!(u64::MAX), true, true),
        ("1e2", Some(100), Some(100), Some(100.0), json!(100.0), true, false),
        ("1.5", None, None, Some(1.5), json!(1.5), false, false),
    ] {
        let document = document(text);
        let number = Place::root(&document, &budget).as_number().unwrap();
        assert_eq!((number.as_u64(), number.as_i64(), number.as_f64()), (unsigned, signed, float), "{text}");
        assert_eq!((number.as_str().as_ref(), Value::from(number.to_number().into_owned())), (text, value));
        assert_eq!((number.is_integer(), number.is_written_as_integer()), (is_integer, written), "{text}");
    }
}

#[test]
fn a_value_is_of_one_kind() {
    for (kind, text) in [
        ("null", "null"),
        ("boolean", "false"),
        ("integer", "7"),
        ("number", "7.5"),
        ("string", r#""null""#),
        ("array", "[null]"),
        ("object", r#"{"null":null}"#),
    ] {
        for other in ["null", "boolean", "integer", "number", "string", "array", "object"] {
            let fits = kind == other || (kind, other) == ("integer", "number");
            // Alone, as one of two, and as what items are, each of which is asked in a way of its own.
            for (schema, value) in [
                (format!(r#"{{"type":"{other}"}}"#), text.to_owned()),
                (format!(r#"{{"type":["{other}"]}}"#), text.to_owned()),
                (format!(r#"{{"items":{{"type":"{other}"}}}}"#), format!("[{text}]")),
            ] {
                assert_eq!(check(&admitted(&schema), &value).is_ok(), fits, "{schema} {value}");
            }
        }
    }
}

/// What an answer needs of the budget.
fn steps<T>(text: &str, ask: impl Fn(Place<'_>) -> T) -> usize {
    const LIMIT: usize = 2_000;
    let document = document(text);
    let costs = |steps: usize| {
        let budget = Budget::for_text(0);
        budget.spend(1_000_000 - LIMIT);
        budget.spend(LIMIT - steps);
        ask(Place::root(&document, &budget));
        budget.is_spent()
    };
    (0..LIMIT).take_while(|&steps| costs(steps)).last().unwrap()
}

#[test]
fn reading_costs_by_what_is_read() {
    let long = format!("{:?}", "x".repeat(640));
    let array = format!("[{:?},1,2,3]", "x".repeat(700));
    let names: Vec<_> = (0..16).map(|at| format!(r#""{at}":0"#)).collect();
    let object = format!("{{{}}}", names.join(","));
    let key = Documents::prepare_key("15");
    assert_eq!(steps("7", |place| place.number().is_some()), 1);
    assert_eq!(steps("true", |place| place.as_boolean()), 1);
    assert_eq!(steps("null", |place| place.is_null()), 1);
    assert_eq!(steps(r#""x""#, |place| place.as_string().is_some()), 1);
    // One for every 64 bytes beside.
    assert_eq!(steps(&long, |place| place.as_string().is_some()), 11);
    assert_eq!(steps(&long, |place| place.is_value(document("1").root())), 11);
    // One for every value inside, and one for finding the end.
    assert_eq!(steps(&object, |place| place.names().count()), 17);
    assert_eq!(steps(&object, |place| place.as_object().map(|object| object.members().count())), 1 + 17);
    assert_eq!(steps("[1,2,3]", |place| place.as_array().map(|array| array.elements().count())), 1 + 4);
    assert_eq!(steps(&array, |place| place.as_array().map(|array| array.is_unique())), 1 + 1 + 4 + 11);
    // A look-up passes over eight names in a step.
    assert_eq!(steps(&object, |place| place.as_object().map(|object| object.get(&key).is_some())), 1 + 3);
    // An error costs much more, so that few of them spend the budget.
    assert_eq!(steps("7", |place| place.to_value().is_null()), 1_000);
}

#[test]
fn places_are_told_apart() {
    let budget = Budget::unlimited();
    let document = document(r#"{"a":[],"b":[]}"#);
    let root = Place::root(&document, &budget);
    let member = |name| root.as_object().unwrap().get(&Documents::prepare_key(name)).unwrap();
    assert!(root.identity().is_some());
    assert_eq!(member("a").identity(), member("a").identity());
    assert_ne!(member("a").identity(), member("b").identity());
    assert_ne!(member("a").identity(), root.identity());
    assert!(root.as_object().unwrap().get(&Documents::prepare_key("c")).is_none());
}
