use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use crate::document::{Document, Fault, Limits, Number};

/// A JSON value in the abstract; numbers are `mantissa × 10^exponent`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Null,
    Bool(bool),
    Number(i128, i16),
    String(String),
    Array(Vec<Shape>),
    Object(BTreeMap<String, Shape>),
}

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        vec(prop_oneof![any::<char>(), (0u8..0x80).prop_map(char::from), Just('\u{ffff}'), Just('\u{10000}')], 0..12)
            .prop_map(String::from_iter),
    ]
}

pub(super) fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Null),
        any::<bool>().prop_map(Shape::Bool),
        (any::<i128>(), -60i16..60).prop_map(|(mantissa, exponent)| Shape::Number(mantissa, exponent)),
        (-20i128..20, -3i16..3).prop_map(|(mantissa, exponent)| Shape::Number(mantissa, exponent)),
        strings().prop_map(Shape::String),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Shape::Array),
            btree_map(strings(), inner, 0..24).prop_map(Shape::Object),
        ]
    })
}

/// Spells a shape; `choices` decides between white space, orders, escapes and number spellings.
fn spell(shape: &Shape, choices: &mut impl Iterator<Item = u8>, out: &mut String) {
    let mut choose = |count: u8| choices.next().unwrap_or(0) % count;
    out.push_str(["", " ", "\n\t", "\r"][usize::from(choose(4))]);
    match shape {
        Shape::Null => out.push_str("null"),
        Shape::Bool(value) => out.push_str(&value.to_string()),
        Shape::Number(mantissa, exponent) => {
            let spelling = match choose(5) {
                0 => format!("{mantissa}e{exponent}"),
                1 => format!("{mantissa}.00E{exponent:+}"),
                2 if *mantissa != 0 => format!("{mantissa}00e{}", exponent - 2),
                3 if *exponent == 0 => mantissa.to_string(),
                _ => {
                    let (sign, digits) =
                        if *mantissa < 0 { ("-", mantissa.unsigned_abs()) } else { ("", mantissa.unsigned_abs()) };
                    let digits = digits.to_string();
                    let places = i16::try_from(digits.len()).unwrap();
                    format!("{sign}0.{digits}e{}", exponent + places)
                }
            };
            out.push_str(&spelling);
        }
        Shape::String(value) => spell_string(value, &mut choose, out),
        Shape::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spell(element, choices, out);
            }
            out.push_str(" ]");
        }
        Shape::Object(members) => {
            out.push('{');
            let mut order: Vec<_> = members.iter().collect();
            for at in 0..order.len() {
                let other = at + usize::from(choose(255)) % (order.len() - at);
                order.swap(at, other);
            }
            for (at, (key, member)) in order.into_iter().enumerate() {
                out.push_str(if at > 0 { " ," } else { "" });
                spell_string(key, &mut |count| choices.next().unwrap_or(0) % count, out);
                out.push_str(" :");
                spell(member, choices, out);
            }
            out.push('}');
        }
    }
}

fn spell_string(value: &str, choose: &mut impl FnMut(u8) -> u8, out: &mut String) {
    out.push('"');
    for character in value.chars() {
        if character < ' ' || matches!(character, '"' | '\\') || choose(4) == 0 {
            if let Some(short) = short_escape(character).filter(|_| choose(2) == 0) {
                out.push('\\');
                out.push(short);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                if choose(2) == 0 {
                    let _ = write!(out, "\\u{unit:04x}");
                } else {
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
        } else {
            out.push(character);
        }
    }
    out.push('"');
}

/// What stands behind the backslash, where a character has an escape of its own (RFC 8259 §7).
fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '"' | '\\' | '/' => character,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return None,
    })
}

pub(super) fn spelled(shape: &Shape, choices: &[u8]) -> Document {
    let mut text = String::new();
    spell(shape, &mut choices.iter().copied().cycle(), &mut text);
    Document::parse(text, Limits::ARGUMENTS).unwrap()
}

pub(super) fn choices() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..64)
}

/// Texts that are nearly JSON: pieces of it in any order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        proptest::sample::select(
            &[
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\\",
                "\"a\"",
                "\"b\"",
                "\"\\u0061\"",
                "\\ud800",
                "\\udc00",
                "null",
                "true",
                "false",
                "0",
                "1",
                "-",
                "+",
                ".",
                "e",
                "E5",
                "1e400",
                "NaN",
                "Infinity",
                " ",
                "\n",
                "\u{feff}",
                "\0",
                "é",
                "\"k\":",
                "[1]",
                "{}",
            ][..]
        )
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

/// Valid texts with one piece cut out or put in.
fn damaged() -> impl Strategy<Value = String> {
    (shapes(), choices(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), soup()).prop_map(
        |(shape, choices, from, length, piece)| {
            let text: Vec<char> = spelled(&shape, &choices).text().chars().collect();
            let from = from.index(text.len());
            let to = (from + length.index(4)).min(text.len());
            let piece = if length.index(2) == 0 { piece } else { String::new() };
            text[..from].iter().copied().chain(piece.chars()).chain(text[to..].iter().copied()).collect()
        },
    )
}

/// Both parsers agree on what is JSON; only what is JSON but refused here may differ.
fn agrees_with_serde_json(text: &str) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_str::<IgnoredAny>(text).is_ok();
    match Document::parse(text, Limits::ARGUMENTS).map_err(|error| error.fault()) {
        Ok(_) => prop_assert!(theirs, "{text:?}"),
        Err(Fault::NotJson | Fault::TrailingCharacters) => prop_assert!(!theirs, "{text:?}"),
        Err(Fault::DuplicateKey | Fault::InvalidUnicode | Fault::NonFiniteNumber) => {}
        Err(Fault::TooDeep | Fault::TooLarge) => prop_assert!(false, "{text:?}"),
    }
    Ok(())
}

type Row = (i128, u64, Option<bool>, String);

proptest! {
    #[test]
    fn soup_is_judged_as_serde_json_judges_it(text in soup()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn damaged_text_is_judged_as_serde_json_judges_it(text in damaged()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        agrees_with_serde_json(&text)?;
    }

    #[test]
    fn the_canonical_form_depends_on_the_value_only(shape in shapes(), first in choices(), second in choices()) {
        let (first, second) = (spelled(&shape, &first), spelled(&shape, &second));
        prop_assert_eq!(first.canonical(), second.canonical());
        prop_assert!(first.same_value(&second));
        let again = Document::parse(first.canonical(), Limits::ARGUMENTS).unwrap();
        prop_assert_eq!(again.canonical(), first.canonical());
    }

    #[test]
    fn different_values_have_different_canonical_forms(left in shapes(), right in shapes()) {
        let (one, other) = (spelled(&left, &[0]), spelled(&right, &[0]));
        if left == right {
            prop_assert!(one.same_value(&other));
        } else if one.canonical() == other.canonical() {
            // Only numbers have several shapes for one value.
            prop_assert_eq!(strip_zeros(&left), strip_zeros(&right));
        }
    }

    #[test]
    fn members_are_sorted_by_utf16(keys in proptest::collection::hash_set(strings(), 0..30), escape in choices()) {
        let shape = Shape::Object(keys.iter().map(|key| (key.clone(), Shape::Null)).collect());
        let canonical = Document::parse(spelled(&shape, &escape).canonical(), Limits::ARGUMENTS).unwrap();
        let written: Vec<Vec<u16>> = canonical.root().members().map(|(key, _)| key.encode_utf16().collect()).collect();
        let mut expected: Vec<Vec<u16>> = keys.iter().map(|key| key.encode_utf16().collect()).collect();
        expected.sort();
        prop_assert_eq!(written, expected);
    }

    #[test]
    fn writing_makes_the_tape_that_parsing_makes(shape in shapes(), spelling in choices()) {
        let value = spelled(&shape, &spelling).to_json_value();
        let written = Document::from_serialize(&value).unwrap();
        let theirs = Document::parse(serde_json::to_string(&value).unwrap(), Limits::ARGUMENTS).unwrap();
        prop_assert_eq!(theirs.to_json_value(), written.to_json_value());
        let parsed = Document::parse(written.text(), Limits::ARGUMENTS).unwrap();
        prop_assert_eq!(format!("{:?}", written.inner.tape), format!("{:?}", parsed.inner.tape));
        let copied = Document::from_json_value(&value);
        prop_assert!(copied.same_value(&parsed));
        prop_assert_eq!(copied.to_json_value(), value);
    }

    #[test]
    fn a_document_survives_its_round_trips(shape in shapes(), spelling in choices()) {
        let document = spelled(&shape, &spelling);
        let decoded: Document = document.decode().unwrap();
        prop_assert_eq!(decoded.text(), document.text().trim());
        let wrapped = Document::from_serialize(&[&document]).unwrap();
        let unwrapped: Vec<Document> = wrapped.decode().unwrap();
        prop_assert_eq!(unwrapped[0].text(), document.text().trim());
        let part = wrapped.root().index(0).unwrap().to_document();
        prop_assert_eq!(part.canonical(), document.canonical());
    }

    #[test]
    fn typed_values_survive_their_round_trips(
        value in btree_map(strings(), vec((any::<i128>(), any::<u64>(), any::<Option<bool>>(), strings()), 0..4), 0..20),
        floats in vec(any::<f64>().prop_filter("finite", |float| float.is_finite()), 0..8),
    ) {
        let document = Document::from_serialize(&(&value, &floats)).unwrap();
        let reparsed = Document::parse(document.text(), Limits::ARGUMENTS).unwrap();
        let (back, floats_back): (BTreeMap<String, Vec<Row>>, Vec<f64>) = reparsed.decode().unwrap();
        prop_assert_eq!(back, value);
        prop_assert_eq!(floats_back, floats);
    }

    #[test]
    fn numbers_agree_with_128_bit_arithmetic(left in any::<i128>(), right in any::<i128>(), zeros in 0usize..5) {
        let spelling = format!("{left}.{}", "0".repeat(zeros + 1));
        let (left_number, right_text) = (Number::parse(&spelling).unwrap(), right.to_string());
        let right_number = Number::parse(&right_text).unwrap();
        prop_assert_eq!(left_number.as_i128(), Some(left));
        prop_assert_eq!(left_number.as_u128(), u128::try_from(left).ok());
        prop_assert_eq!(left_number.as_i64(), i64::try_from(left).ok());
        prop_assert_eq!(left_number.as_u64(), u64::try_from(left).ok());
        prop_assert_eq!(left_number.cmp(&right_number), left.cmp(&right));
        prop_assert_eq!(left_number.decimal(), left.to_string());
    }

    #[test]
    fn numbers_are_ordered_as_floats_are(left in any::<f64>(), right in any::<f64>()) {
        prop_assume!(left.is_finite() && right.is_finite());
        let (left_text, right_text) = (format!("{left:?}"), format!("{right:e}"));
        let (left_number, right_number) = (Number::parse(&left_text).unwrap(), Number::parse(&right_text).unwrap());
        prop_assert_eq!(Some(left_number.cmp(&right_number)), left.partial_cmp(&right));
        prop_assert_eq!(left_number.as_lossless_f64(), Some(left));
        let decimal = left_number.decimal().into_owned();
        prop_assert_eq!(decimal.parse::<f64>().ok(), Some(left));
    }
}

/// The shape with each number's trailing zeros moved into its exponent.
pub(super) fn strip_zeros(shape: &Shape) -> Shape {
    match shape {
        Shape::Number(0, _) => Shape::Number(0, 0),
        Shape::Number(mantissa, exponent) if mantissa % 10 == 0 => {
            strip_zeros(&Shape::Number(mantissa / 10, exponent + 1))
        }
        Shape::Array(elements) => Shape::Array(elements.iter().map(strip_zeros).collect()),
        Shape::Object(members) => {
            Shape::Object(members.iter().map(|(key, member)| (key.clone(), strip_zeros(member))).collect())
        }
        other => other.clone(),
    }
}
