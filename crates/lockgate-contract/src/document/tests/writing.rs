use std::collections::BTreeMap;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::parse;
use crate::document::{Document, Fault, Limits, SerializeError};

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: Option<u8> },
}

#[derive(Serialize)]
struct Everything<'a> {
    text: &'a str,
    character: char,
    small: i8,
    large: u128,
    negative: i128,
    float: f64,
    whole_float: f64,
    short_float: f32,
    none: Option<u8>,
    unit: (),
    tuple: (bool, u16),
    bytes: Bytes,
    shapes: Vec<Shape>,
    keyed: BTreeMap<i32, u8>,
    #[serde(rename = "quo\"te")]
    quote: bool,
}

struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&[0, 255])
    }
}

#[test]
fn values_are_shaped_as_serde_json_shapes_them() {
    let value = Everything {
        text: "a\"b\\\u{7}\u{0}é😀\n",
        character: '\t',
        small: -8,
        large: u128::MAX,
        negative: i128::MIN,
        float: 0.1,
        whole_float: 1.0,
        short_float: 0.1,
        none: None,
        unit: (),
        tuple: (true, 7),
        bytes: Bytes,
        shapes: vec![Shape::Unit, Shape::Newtype(1), Shape::Tuple(1, 2), Shape::Struct { a: Some(1) }],
        keyed: BTreeMap::from([(-1, 1), (2, 2)]),
        quote: false,
    };
    let document = Document::from_serialize(&value).unwrap();
    assert_eq!(document.text(), serde_json::to_string(&value).unwrap());
    // The tape that was written is the tape that parsing makes.
    let parsed = parse(document.text());
    let tape = |document: &Document| format!("{:?}", document.inner.tape);
    assert_eq!(tape(&document), tape(&parsed));
}

#[test]
fn floats_are_written_shortest_and_read_back() {
    for float in [0.0, -0.0, 1e16, 1e-7, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1e23, 1_152_921_504_606_846_976.0] {
        let document = Document::from_serialize(&float).unwrap();
        assert_eq!(parse(document.text()).decode::<f64>().unwrap().to_bits(), float.to_bits(), "{document}");
    }
    for float in [0.1, f32::MAX, 16_777_216.0, 1e-45] {
        let document = Document::from_serialize(&float).unwrap();
        assert_eq!(document.decode::<f32>().unwrap().to_bits(), float.to_bits(), "{document}");
    }
}

#[track_caller]
fn refused(error: &SerializeError, fault: Option<Fault>, pointer: &str) {
    assert_eq!((error.fault(), error.pointer()), (fault, pointer), "{error}");
}

#[test]
fn a_float_that_is_not_finite_is_an_error_with_its_place() {
    #[derive(Serialize)]
    struct Statistics {
        count: u8,
        mean: f64,
    }
    let value = Statistics { count: 1, mean: f64::NAN };
    refused(&Document::from_serialize(&value).unwrap_err(), Some(Fault::NonFiniteNumber), "/mean");
    let nested = BTreeMap::from([("a/b", vec![vec![], vec![0.0, f64::NEG_INFINITY]])]);
    refused(&Document::from_serialize(&nested).unwrap_err(), Some(Fault::NonFiniteNumber), "/a~1b/1/1");
    refused(&Document::from_serialize(&f32::INFINITY).unwrap_err(), Some(Fault::NonFiniteNumber), "");
}

struct Pairs(&'static [(&'static str, u8)]);

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[test]
fn a_map_with_a_key_twice_is_an_error() {
    let error = Document::from_serialize(&[Pairs(&[("a", 1)]), Pairs(&[("a", 1), ("b", 2), ("a", 3)])]).unwrap_err();
    refused(&error, Some(Fault::DuplicateKey), "/1/a");
}

#[test]
fn a_struct_with_a_field_twice_is_an_error() {
    #[derive(Serialize)]
    struct Twice {
        a: u8,
        #[serde(flatten)]
        more: BTreeMap<&'static str, u8>,
    }
    let error = Document::from_serialize(&Twice { a: 1, more: BTreeMap::from([("a", 2)]) }).unwrap_err();
    refused(&error, Some(Fault::DuplicateKey), "/a");
}

#[test]
fn a_key_that_is_no_string_is_an_error() {
    let error = Document::from_serialize(&BTreeMap::from([(vec![1], 1)])).unwrap_err();
    refused(&error, None, "");
    assert_eq!(error.to_string(), "an object key must be a string");
}

#[test]
fn limits_hold_for_values_too() {
    let limits = Limits { max_bytes: 10, max_depth: 2 };
    Document::from_serialize_within(&[[1, 2]], limits).unwrap();
    let deep = Document::from_serialize_within(&[[[1]]], limits).unwrap_err();
    refused(&deep, Some(Fault::TooDeep), "/0/0");
    let large = Document::from_serialize_within("123456789", limits).unwrap_err();
    assert_eq!(large.fault(), Some(Fault::TooLarge));
    let spliced = Document::from_serialize_within(&[[parse("[1]")]], limits).unwrap_err();
    refused(&spliced, Some(Fault::TooDeep), "/0/0");
}

#[test]
fn what_a_value_reports_itself_is_passed_on_with_its_place() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut elements = serializer.serialize_seq(None)?;
            elements.serialize_element(&1)?;
            Err(serde::ser::Error::custom("the source is gone"))
        }
    }
    let error = Document::from_serialize(&[[Broken]]).unwrap_err();
    refused(&error, None, "/0/0/1");
    assert_eq!(error.to_string(), "the source is gone at `/0/0/1`");
}

#[test]
fn a_key_without_a_value_is_an_error() {
    struct Half;
    impl Serialize for Half {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_key("a")?;
            map.end()
        }
    }
    assert!(Document::from_serialize(&Half).is_err());
}

#[test]
fn each_kind_of_scalar_is_written() {
    fn written(value: &impl Serialize) -> String {
        Document::from_serialize(value).unwrap().text().to_owned()
    }
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Newtype(u64);
    #[derive(Serialize)]
    struct Pair(u32, bool);
    for (value, text) in [
        (written(&i8::MIN), "-128"),
        (written(&i16::MIN), "-32768"),
        (written(&i32::MIN), "-2147483648"),
        (written(&i64::MIN), "-9223372036854775808"),
        (written(&u8::MAX), "255"),
        (written(&u16::MAX), "65535"),
        (written(&u32::MAX), "4294967295"),
        (written(&u64::MAX), "18446744073709551615"),
        (written(&Unit), "null"),
        (written(&Newtype(7)), "7"),
        (written(&Pair(7, true)), "[7,true]"),
        (written(&Some(0.5f32)), "0.5"),
        (written(&'"'), "\"\\\"\""),
    ] {
        assert_eq!(value, text);
    }
}

/// A map of one member with this key.
struct Keyed<K>(K);

impl<K: Serialize> Serialize for Keyed<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.0, &1)?;
        map.end()
    }
}

#[test]
fn numbers_and_variants_are_keys_as_serde_json_writes_them() {
    fn assert_same<K: Serialize>(key: K) {
        let keyed = Keyed(key);
        assert_eq!(Document::from_serialize(&keyed).unwrap().text(), serde_json::to_string(&keyed).unwrap());
    }
    assert_same(0.5_f32);
    assert_same(-0.25_f64);
    assert_same(7.0_f64);
    assert_same(Shape::Unit);
    assert_same(u128::MAX);
    assert_same(true);
    for key in [f64::NAN, f64::INFINITY] {
        assert_eq!(Document::from_serialize(&Keyed(key)).unwrap_err().fault(), Some(Fault::NonFiniteNumber));
    }
    let infinite = Document::from_serialize(&Keyed(f32::NEG_INFINITY));
    assert_eq!(infinite.unwrap_err().fault(), Some(Fault::NonFiniteNumber));
}

#[test]
fn a_text_may_be_as_long_as_its_limit() {
    let value = serde_json::json!({ "a": [1, "two"], "b": null });
    let whole = Document::from_serialize(&value).unwrap();
    let within = |max_bytes| Document::from_serialize_within(&value, Limits { max_bytes, ..Limits::OUTPUT });
    assert_eq!(within(whole.text().len()).unwrap().text(), whole.text());
    assert_eq!(within(whole.text().len() - 1).unwrap_err().fault(), Some(Fault::TooLarge));
}
