use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::parse;

#[derive(Deserialize, Debug, PartialEq)]
struct Transfer<'a> {
    to: &'a str,
    amount: i64,
    #[serde(default)]
    memo: Option<String>,
}

#[derive(Deserialize, Debug, PartialEq)]
enum External {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "kind")]
enum Internal {
    A { x: i64 },
    B,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    A(f64),
    B { y: u128 },
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Untagged>),
}

#[derive(Deserialize, Debug, PartialEq)]
struct Small {
    a: u8,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[track_caller]
fn decodes<T: for<'de> Deserialize<'de> + PartialEq + Debug>(text: &str, expected: &T) {
    assert_eq!(&parse(text).decode::<T>().unwrap(), expected, "{text}");
}

#[track_caller]
fn refused<T: for<'de> Deserialize<'de> + Debug>(text: &str, pointer: &str) -> String {
    let document = parse(text);
    let error = document.decode::<T>().unwrap_err();
    assert_eq!(error.pointer(), pointer, "{error}");
    error.message().to_owned()
}

#[test]
fn structs_borrow_from_the_document() {
    let document = parse(r#"{"to":"bob","amount":1.0,"memo":"a\nb"}"#);
    let transfer: Transfer<'_> = document.decode().unwrap();
    assert_eq!(transfer, Transfer { to: "bob", amount: 1, memo: Some("a\nb".to_owned()) });
    let escaped = parse(r#"["\u0041","A"]"#);
    assert!(escaped.decode::<Vec<&str>>().is_err());
    let strings: Vec<String> = escaped.decode().unwrap();
    assert_eq!(strings, ["A", "A"]);
    assert!(matches!(parse("\"A\"").decode::<Text<'_>>().unwrap().0, Cow::Borrowed("A")));
}

#[test]
fn integers_are_never_rounded() {
    let digits = "123456789012345678901234567890";
    let message = refused::<i64>(digits, "");
    assert_eq!(message, format!("the number `{digits}` does not fit, expected i64"));
    decodes::<i128>(digits, &123_456_789_012_345_678_901_234_567_890);
    decodes::<u128>(digits, &123_456_789_012_345_678_901_234_567_890);
    decodes::<i64>("9007199254740993", &9_007_199_254_740_993);
    decodes::<i64>("1.0", &1);
    decodes::<u8>("2.55e2", &255);
    decodes::<u64>("-0", &0);
    decodes::<i128>("-170141183460469231731687303715884105728", &i128::MIN);
    assert_eq!(refused::<i64>("1.5", ""), "the number `1.5` is not an integer, expected i64");
    refused::<u128>("-1", "");
    refused::<u128>("1.5", "");
    refused::<i128>("340282366920938463463374607431768211455", "");
    refused::<u8>("256", "");
    refused::<u64>("-1", "");
    refused::<i8>("[1]", "");
    refused::<i64>("\"1\"", "");
    refused::<i64>("1e300", "");
}

#[test]
fn floats_take_what_they_can_hold() {
    decodes::<f64>("0.1", &0.1);
    decodes::<f64>("3", &3.0);
    decodes::<f64>("1e300", &1e300);
    decodes::<f32>("0.1", &0.1);
    refused::<f64>("9007199254740993", "");
    refused::<f64>("123456789012345678901234567890", "");
    refused::<f32>("16777217", "");
    refused::<f32>("1e39", "");
    refused::<f64>("\"1\"", "");
}

#[test]
fn errors_name_the_place() {
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only decoded")]
    struct Outer {
        items: Vec<BTreeMap<String, u8>>,
    }
    let message = refused::<Outer>(r#"{"items":[{},{"a/b":1,"c":"x"}]}"#, "/items/1/c");
    assert_eq!(message, "invalid type: string \"x\", expected u8");
    refused::<Outer>(r#"{"items":{}}"#, "/items");
    assert_eq!(refused::<Outer>("{}", ""), "missing field `items`");
    refused::<Vec<External>>(r#"[{"Struct":{"a":true}}]"#, "/0/Struct/a");
    let error = parse(r#"{"items":[{"n":300}]}"#).decode::<Outer>().unwrap_err();
    assert_eq!(error.to_string(), "invalid value: integer `300`, expected u8 at `/items/0/n`");
}

#[test]
fn a_long_number_is_cut_in_messages() {
    let message = refused::<i64>(&"7".repeat(300), "");
    assert!(message.len() < 120, "{message}");
}

#[test]
fn nothing_is_coerced() {
    refused::<Vec<u8>>("{}", "");
    refused::<(u8, u8)>("[1]", "");
    refused::<(u8, u8)>("[1,2,3]", "");
    refused::<String>("1", "");
    refused::<bool>("0", "");
    refused::<()>("[]", "");
    refused::<char>("\"ab\"", "");
    refused::<u8>("null", "");
    refused::<Small>("[1]", "");
    refused::<BTreeMap<String, u8>>("[]", "");
}

#[test]
fn enums_of_all_taggings() {
    decodes(
        r#"["Unit",{"Newtype":1},{"Tuple":[1,2]},{"Struct":{"a":1}},{"Unit":null}]"#,
        &vec![External::Unit, External::Newtype(1), External::Tuple(1, 2), External::Struct { a: 1 }, External::Unit],
    );
    for wrong in
        [r#""Newtype""#, r#"{"Unit":1}"#, r#"{"Newtype":1,"Unit":null}"#, "{}", r#""Other""#, "1", r#"{"Tuple":[1]}"#]
    {
        assert!(parse(wrong).decode::<External>().is_err(), "{wrong}");
    }
    decodes(r#"[{"x":1.0,"kind":"A"},{"kind":"B"}]"#, &vec![Internal::A { x: 1 }, Internal::B]);
    decodes(
        r#"[{"value":1.5,"kind":"A"},{"kind":"B","value":{"y":1}}]"#,
        &vec![Adjacent::A(1.5), Adjacent::B { y: 1 }],
    );
    let large = format!(r#"{{"kind":"B","value":{{"y":{}}}}}"#, u128::MAX);
    decodes(&large, &Adjacent::B { y: u128::MAX });
    decodes(
        r#"[1,1.0,1.5,1e30,"a",[2]]"#,
        &Untagged::List(vec![
            Untagged::Integer(1),
            Untagged::Integer(1),
            Untagged::Float(1.5),
            Untagged::Float(1e30),
            Untagged::Text("a".to_owned()),
            Untagged::List(vec![Untagged::Integer(2)]),
        ]),
    );
    assert!(parse("123456789012345678901234567890").decode::<Untagged>().is_err());
}

#[test]
fn serde_json_values_refuse_what_they_would_round() {
    let value: serde_json::Value = parse(r#"{"a":[18446744073709551615,-5,0.5,null]}"#).decode().unwrap();
    assert_eq!(value, serde_json::json!({"a": [u64::MAX, -5, 0.5, null]}));
    refused::<serde_json::Value>(r#"{"a":[18446744073709551616]}"#, "/a/0");
    refused::<serde_json::Value>(r#"{"a":-9223372036854775809}"#, "/a");
    refused::<serde_json::Value>(&"9".repeat(60), "");
}

#[test]
fn signals_of_other_crates_are_refused() {
    #[derive(Debug, Deserialize)]
    enum Signalled {
        #[serde(rename = "$serde_json::private::x")]
        Signal(#[expect(dead_code, reason = "read by nobody")] u8),
    }
    for key in [
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
        "$serde_json::private::x",
        "\\u0024serde_json::private::RawValue",
        "$__toml_private_datetime",
        "$__serde_spanned_private_start",
    ] {
        let text = format!(r#"{{"a":{{"{key}":"[1]"}}}}"#);
        let error = parse(&text).decode::<serde_json::Value>().unwrap_err();
        assert!(error.pointer().starts_with("/a/$"), "{error}");
        assert!(parse(&text).decode::<BTreeMap<String, BTreeMap<String, String>>>().is_err());
    }
    assert!(parse(r#"{"$serde_json::private::x":1}"#).decode::<Signalled>().is_err());
    decodes(
        r#"{"$ref":"x","$serde":"y"}"#,
        &BTreeMap::from([("$ref".to_owned(), "x".to_owned()), ("$serde".to_owned(), "y".to_owned())]),
    );
}

#[test]
fn maps_may_be_keyed_by_numbers_and_bools() {
    decodes(r#"{"-1":1,"2":2}"#, &HashMap::from([(-1, 1), (2, 2)]));
    decodes(r#"{"true":1}"#, &HashMap::from([(true, 1)]));
    decodes(r#"{"Unit":1}"#, &vec![1].into_iter().map(|value| ("Unit".to_owned(), value)).collect::<HashMap<_, u8>>());
    decodes(&format!(r#"{{"{}":1}}"#, u128::MAX), &HashMap::from([(u128::MAX, 1)]));
    for wrong in [r#"{"01":1}"#, r#"{"+1":1}"#, r#"{" 1":1}"#, r#"{"1.5":1}"#, r#"{"x":1}"#, r#"{"300":1}"#] {
        assert!(parse(wrong).decode::<HashMap<u8, u8>>().is_err(), "{wrong}");
    }
}

#[test]
fn options_and_unknown_members() {
    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only decoded")]
    struct Closed {
        a: u8,
    }
    decodes("[null,1]", &vec![None, Some(1)]);
    decodes(r#"{"x":[{"y":1e300}],"a":1,"z":123456789012345678901234567890123456789012345}"#, &Small { a: 1 });
    parse(r#"[{"a":[]},1e300]"#).decode::<IgnoredAny>().unwrap();
    let message = refused::<Closed>(r#"{"a":1,"b":2}"#, "/b");
    assert_eq!(message, "unknown field `b`, expected `a`");
}

#[test]
fn bytes_come_from_arrays_and_strings() {
    struct Bytes(Vec<u8>);
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Bytes;
                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("bytes")
                }
                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                    Ok(Bytes(bytes.to_vec()))
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Bytes, A::Error> {
                    let mut bytes = Vec::new();
                    while let Some(byte) = seq.next_element()? {
                        bytes.push(byte);
                    }
                    Ok(Bytes(bytes))
                }
            }
            deserializer.deserialize_bytes(Visitor)
        }
    }
    assert_eq!(parse("[1,255]").decode::<Bytes>().unwrap().0, [1, 255]);
    assert_eq!(parse("\"A\\u0042\"").decode::<Bytes>().unwrap().0, b"AB");
}
