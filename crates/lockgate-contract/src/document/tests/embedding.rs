use std::collections::BTreeMap;

use serde::de::value::{BytesDeserializer, Error, F32Deserializer, I128Deserializer, U128Deserializer};
use serde::de::{Deserializer, Unexpected, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use super::parse;
use crate::document::{Document, Fault};

#[derive(Serialize, Deserialize, Debug)]
struct Event {
    seq: u32,
    body: Document,
}

const BODY: &str = r#"{"id":9007199254740993.0, "big":123456789012345678901234567890,"s":"\u0041"}"#;

#[test]
fn the_exact_text_travels_through_serde_json() {
    let event = Event { seq: 1, body: parse(BODY) };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(text, format!("{{\"seq\":1,\"body\":{BODY}}}"));
    let back: Event = serde_json::from_str(&text).unwrap();
    assert_eq!(back.body.text(), BODY);
    let back: Event = serde_json::from_slice(text.as_bytes()).unwrap();
    assert_eq!(back.body.text(), BODY);
    let back: Event = serde_json::from_reader(text.as_bytes()).unwrap();
    assert_eq!(back.body.text(), BODY);
}

#[test]
fn the_exact_text_travels_through_documents() {
    let event = Event { seq: 1, body: parse(BODY) };
    let document = Document::from_serialize(&event).unwrap();
    assert_eq!(document.text(), format!("{{\"seq\":1,\"body\":{BODY}}}"));
    assert_eq!(document.root().pointer("/body/s").unwrap().as_str().unwrap(), "A");
    let back: Event = document.decode().unwrap();
    assert_eq!(back.body.text(), BODY);
    let list: Vec<Document> = parse("[1.0, null, {\"a\" : []}]").decode().unwrap();
    let texts: Vec<_> = list.iter().map(Document::text).collect();
    assert_eq!(texts, ["1.0", "null", "{\"a\" : []}"]);
    let node = document.root().get("body").unwrap();
    assert_eq!(Document::from_serialize(&[node]).unwrap().text(), format!("[{BODY}]"));
}

#[test]
fn optional_documents_tell_null_from_absent_as_serde_does() {
    #[derive(Deserialize)]
    struct Maybe {
        body: Option<Document>,
    }
    assert!(parse("{}").decode::<Maybe>().unwrap().body.is_none());
    assert!(parse(r#"{"body":null}"#).decode::<Maybe>().unwrap().body.is_none());
    assert_eq!(parse(r#"{"body": 1.0}"#).decode::<Maybe>().unwrap().body.unwrap().text(), "1.0");
}

/// Both directions rely on the protocol of `serde_json`'s own type: this fails if it changes.
#[test]
fn serde_json_raw_values_are_understood() {
    let raw = RawValue::from_string("{\"a\": 1.0}".to_owned()).unwrap();
    let document = Document::from_serialize(&[&raw]).unwrap();
    assert_eq!(document.text(), "[{\"a\": 1.0}]");
    let back: Vec<Box<RawValue>> = document.decode().unwrap();
    assert_eq!(back[0].get(), "{\"a\": 1.0}");
}

#[test]
fn a_document_inside_text_obeys_the_rules_of_documents() {
    for text in [r#"{"seq":1,"body":{"a":1,"a":2}}"#, r#"{"seq":1,"body":"\ud800"}"#, r#"{"seq":1,"body":1e999}"#] {
        assert!(serde_json::from_str::<Event>(text).is_err(), "{text}");
    }
}

#[test]
fn a_raw_text_that_is_not_json_is_refused() {
    struct Forged;
    impl Serialize for Forged {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeStruct;
            let mut raw = serializer.serialize_struct(crate::document::embed::RAW, 1)?;
            raw.serialize_field(crate::document::embed::RAW, "1,\"x\":2")?;
            raw.end()
        }
    }
    let error = Document::from_serialize(&[Forged]).unwrap_err();
    assert_eq!(error.fault(), Some(Fault::TrailingCharacters));
}

#[test]
fn toml_is_read_piece_by_piece() {
    #[derive(Deserialize)]
    struct Table {
        body: Document,
    }
    let text =
        "[body]\ntype = \"object\"\nmaximum = 1.5\nn = -3\nlist = [1, [true]]\nat = 2026-11-29T10:00:00Z\n[body.x]\n";
    let table: Table = toml::from_str(text).unwrap();
    assert_eq!(
        table.body.canonical(),
        r#"{"at":"2026-11-29T10:00:00Z","list":[1,[true]],"maximum":1.5,"n":-3,"type":"object","x":{}}"#
    );
    assert!(toml::from_str::<Table>("body = nan").is_err());
    assert!(toml::from_str::<Table>("body = { a = inf }").is_err());
    assert!(toml::from_str::<Table>("[body]\n\"$serde_json::private::RawValue\" = \"[1]\"\n").is_err());
}

#[test]
fn a_document_below_a_flattened_struct_is_read_piece_by_piece() {
    #[derive(Deserialize)]
    struct Outer {
        #[serde(flatten)]
        event: Event,
    }
    let outer: Outer = parse(r#"{"seq":1,"body":{"b":[1,2.5,"x"],"a":null}}"#).decode().unwrap();
    assert_eq!(outer.event.body.text(), r#"{"b":[1,2.5,"x"],"a":null}"#);
    let rounded: Result<Outer, _> = parse(&format!(r#"{{"seq":1,"body":{}}}"#, u128::MAX)).decode();
    assert!(rounded.is_err());
}

#[test]
fn reserved_keys_below_a_buffer_are_refused() {
    #[derive(Deserialize, Debug)]
    struct Outer {
        #[serde(flatten)]
        rest: BTreeMap<String, Document>,
    }
    let outer: Outer = serde_json::from_str(r#"{"a":{"x":1}}"#).unwrap();
    assert_eq!(outer.rest["a"].text(), r#"{"x":1}"#);
    let forged = r#"{"a":{"b":{"$serde_json::private::RawValue":"[1]"}}}"#;
    assert!(serde_json::from_str::<Outer>(forged).is_err());
}

/// What a format can hand over that JSON's own deserializers do not.
enum Odd {
    Some(f32),
    Nothing,
    Variant,
}

impl<'de> Deserializer<'de> for Odd {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Some(inner) => visitor.visit_some(F32Deserializer::new(inner)),
            Self::Nothing => visitor.visit_none(),
            Self::Variant => Err(serde::de::Error::invalid_type(Unexpected::Enum, &visitor)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn what_other_formats_hand_over_is_taken_as_it_is() {
    fn text<'de>(deserializer: impl Deserializer<'de, Error = Error>) -> Result<String, String> {
        let document = Document::deserialize(deserializer).map_err(|error| error.to_string())?;
        Ok(document.text().to_owned())
    }
    let (least, most) = (i128::MIN.to_string(), u128::MAX.to_string());
    assert_eq!(text(I128Deserializer::new(i128::MIN)), Ok(least));
    assert_eq!(text(U128Deserializer::new(u128::MAX)), Ok(most));
    assert_eq!(text(F32Deserializer::new(0.1)), Ok("0.1".to_owned()));
    assert!(text(F32Deserializer::new(f32::INFINITY)).is_err());
    assert_eq!(text(BytesDeserializer::new(&[0, 255])), Ok("[0,255]".to_owned()));
    assert_eq!(text(Odd::Some(2.5)), Ok("2.5".to_owned()));
    assert_eq!(text(Odd::Nothing), Ok("null".to_owned()));
    assert_eq!(text(Odd::Variant), Err("invalid type: enum, expected any JSON value".to_owned()));
}
