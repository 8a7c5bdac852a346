//! What is digested is a value: every value and every digit of it, and nothing of how it was spelled (architecture rule 3).

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::properties::{Shape, choices, shapes, spelled, strip_zeros};
use crate::approval::{Binding, Circumstances};
use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::document::{Document, Limits};
use crate::effect::Effect;
use crate::ids::{CallId, RunId};
use crate::tool::{ToolSpec, ToolSpecBuilder};

/// Every digest that a document goes into: by itself, as arguments, as what an approval binds, as either schema of a tool.
fn digests(value: &Document) -> [Digest; 5] {
    let object = Document::parse(format!("{{\"a\" :{}}}", value.text()), Limits::ARGUMENTS).unwrap();
    let binding = Binding {
        arguments: &object,
        attempt: None,
        call_id: &CallId::new("c"),
        circumstances: &Circumstances::default(),
        definition: Digest::of_text("t", "d"),
        effect: Effect::Write,
        run_id: &RunId::new("r"),
        subject: ["t", "u", "a"],
        tool_name: "tool",
    };
    let tool = |schemas: fn(ToolSpecBuilder, Document) -> ToolSpecBuilder| {
        schemas(ToolSpec::builder("t"), object.clone()).build().unwrap().definition()
    };
    [
        Digest::of("tag", value),
        Arguments::parse(object.text(), Limits::ARGUMENTS).unwrap().digest(),
        binding.digest(),
        tool(ToolSpecBuilder::input_schema),
        tool(ToolSpecBuilder::output_schema),
    ]
}

/// The value with one thing changed, somewhere inside: a digit, a sign, a character, a type, a key, a member, an order.
fn change(shape: &mut Shape, steps: &mut impl Iterator<Item = Index>) {
    let mut choose = |count: usize| steps.next().map_or(0, |index| index.index(count));
    match shape {
        // One of the values inside, or else the container itself.
        Shape::Array(elements) if !elements.is_empty() && choose(4) > 0 => {
            let at = choose(elements.len());
            return change(&mut elements[at], steps);
        }
        Shape::Object(members) if !members.is_empty() && choose(4) > 0 => {
            let at = choose(members.len());
            return change(members.values_mut().nth(at).unwrap(), steps);
        }
        _ => {}
    }
    *shape = match shape.clone() {
        Shape::Null => {
            [Shape::Bool(false), Shape::String("null".to_owned()), Shape::Array(Vec::new())][choose(3)].clone()
        }
        Shape::Bool(value) => [Shape::Bool(!value), Shape::String(value.to_string()), Shape::Null][choose(3)].clone(),
        Shape::Number(mantissa, exponent) => match choose(4) {
            0 => Shape::Number(mantissa, exponent + 1),
            1 => Shape::Number(mantissa.checked_neg().unwrap_or(0), exponent),
            2 => Shape::String(mantissa.to_string()),
            _ => Shape::Number(other_digit(mantissa, choose(40), choose(9)), exponent),
        },
        Shape::String(text) => {
            let mut text: Vec<char> = text.chars().collect();
            let at = choose(text.len() + 1);
            match (choose(3), text.get(at).copied()) {
                (0, Some(_)) => drop(text.remove(at)),
                (1, Some(old)) => {
                    text[at] = ['\\', '"', '\u{0}', 'A', 'é'].into_iter().find(|new| *new != old).unwrap();
                }
                _ => text.insert(at, ['0', ' ', '\u{200b}', '/'][choose(4)]),
            }
            Shape::String(text.into_iter().collect())
        }
        Shape::Array(mut elements) => {
            let at = choose(elements.len() + 1);
            match choose(4) {
                0 => return *shape = Shape::Array(vec![Shape::Array(elements)]),
                1 if at < elements.len() => drop(elements.remove(at)),
                2 if elements.len() > 1 => elements.rotate_left(1),
                _ => elements.insert(at, Shape::Null),
            }
            Shape::Array(elements)
        }
        Shape::Object(mut members) => {
            let key = members.keys().nth(choose(members.len().max(1))).cloned();
            match (choose(4), key) {
                (0, Some(key)) => drop(members.remove(&key)),
                (1, Some(key)) => {
                    let value = members.remove(&key).unwrap();
                    members.insert(format!("{key}0"), value);
                }
                (2, Some(key)) => return *shape = Shape::Array(vec![Shape::String(key), Shape::Object(members)]),
                _ => drop(members.insert("new".to_owned(), Shape::Null)),
            }
            Shape::Object(members)
        }
    };
}

/// The number with one of its decimal digits changed.
fn other_digit(number: i128, place: usize, by: usize) -> i128 {
    let mut digits = number.unsigned_abs().to_string().into_bytes();
    let at = place % digits.len();
    digits[at] = b'0' + (digits[at] - b'0' + 1 + u8::try_from(by).unwrap()) % 10;
    let changed: i128 = String::from_utf8(digits).unwrap().parse().unwrap_or(0);
    if number < 0 { -changed } else { changed }
}

/// The words of an approval's binding, from few letters, so that two of them are often the same; and those that frame JSON.
fn words() -> impl Strategy<Value = String> {
    "[a\",\\\\]{0,3}"
}

type Parts = ([String; 6], u8, Effect, String);

fn parts() -> impl Strategy<Value = Parts> {
    let arguments =
        select(vec![r#"{"a":1}"#, r#"{ "a" : 1.0 }"#, r#"{"a":"1"}"#, r#"{"b":1}"#]).prop_map(str::to_owned);
    (prop::array::uniform6(words()), 0..2u8, select(Effect::ALL), arguments)
}

/// The second is the first with a few other parts, or with the border between two of its words moved.
fn two_bindings() -> impl Strategy<Value = (Parts, Parts)> {
    let others = (parts(), prop::array::uniform6(prop::bool::weighted(0.1)), any::<[bool; 3]>());
    let border = (0..5usize, select(vec!["", ",", "\",\""]), any::<Index>());
    (parts(), others, proptest::option::of(border)).prop_map(
        |(one, (mut other, words, [definition, effect, arguments]), border)| {
            if let Some((at, separator, cut)) = border {
                other = one.clone();
                let joined = [one.0[at].as_str(), one.0[at + 1].as_str()].join(separator);
                let cuts: Vec<usize> = joined.match_indices(separator).map(|(cut, _)| cut).collect();
                let cut = cuts[cut.index(cuts.len())];
                other.0[at] = joined[..cut].to_owned();
                other.0[at + 1] = joined[cut + separator.len()..].to_owned();
                return (one, other);
            }
            for (at, differs) in words.into_iter().enumerate() {
                if !differs {
                    other.0[at].clone_from(&one.0[at]);
                }
            }
            other.1 = if definition { one.1 } else { other.1 };
            other.2 = if effect { one.2 } else { other.2 };
            other.3 = if arguments { one.3.clone() } else { other.3 };
            (one, other)
        },
    )
}

fn bound(([call_id, run_id, tenant, user, agent, tool_name], definition, effect, arguments): &Parts) -> Digest {
    Binding {
        arguments: &Document::parse(arguments.as_str(), Limits::ARGUMENTS).unwrap(),
        attempt: None,
        call_id: &CallId::new(call_id.as_str()),
        circumstances: &Circumstances::default(),
        definition: Digest::from_bytes([*definition; 32]),
        effect: *effect,
        run_id: &RunId::new(run_id.as_str()),
        subject: [tenant, user, agent],
        tool_name,
    }
    .digest()
}

/// What is said of a tool in words: description, version, source, reason, scopes, resource keys.
type Said = (String, String, String, Option<String>, BTreeSet<String>, BTreeSet<String>);

fn said() -> impl Strategy<Value = Said> {
    let set = || prop::collection::btree_set(words(), 0..3);
    (words(), words(), words(), proptest::option::of(words()), set(), set())
}

fn defined((description, version, source, reason, scopes, keys): &Said) -> Digest {
    let tool = ToolSpec::builder("t").description(description).version(version).source(source);
    let tool = tool.scopes(scopes.clone()).resource_keys(keys.clone());
    let tool = match reason {
        Some(reason) => tool.permission_reason(reason),
        None => tool,
    };
    tool.build().unwrap().definition()
}

proptest! {
    // Values take a while to make.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    /// Members in any order, white space anywhere, characters escaped in any way, numbers spelled in any way.
    #[test]
    fn a_digest_ignores_order_white_space_and_spelling(shape in shapes(), first in choices(), second in choices()) {
        prop_assert_eq!(digests(&spelled(&shape, &first)), digests(&spelled(&shape, &second)));
    }

    #[test]
    fn a_digest_depends_on_every_value(
        shape in shapes(),
        spelling in choices(),
        steps in prop::collection::vec(any::<Index>(), 1..24),
    ) {
        let mut changed = shape.clone();
        change(&mut changed, &mut steps.into_iter());
        let (before, after) = (digests(&spelled(&shape, &spelling)), digests(&spelled(&changed, &spelling)));
        // An order of equal values, a sign of nothing: not every change is one.
        let same = strip_zeros(&shape) == strip_zeros(&changed);
        for (before, after) in before.into_iter().zip(after) {
            prop_assert_eq!(before == after, same, "{:?} and {:?}", shape, changed);
        }
    }

    #[test]
    fn a_digest_depends_on_every_digit(
        shape in shapes(),
        digits in "-?[1-9][0-9]{0,50}(\\.[0-9]{0,50}[1-9])?",
        place in any::<Index>(),
        digit in 0..9u8,
    ) {
        let inside = |number: &str| {
            let text = format!("[{},{number}]", spelled(&shape, &[0]).text());
            Document::parse(text, Limits::ARGUMENTS).map(|document| digests(&document))
        };
        let places: Vec<usize> = digits.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = places[place.index(places.len())];
        let old = digits.as_bytes()[at] - b'0';
        let mut other = digits.clone();
        other.replace_range(at..=at, &((old + 1 + digit) % 10).to_string());
        // A first digit of 0 is no number.
        if let Ok(changed) = inside(&other) {
            for (before, after) in inside(&digits).unwrap().into_iter().zip(changed) {
                prop_assert_ne!(before, after, "{} and {}", digits, other); // R-171
            }
        }
    }
}

proptest! {
    #[test]
    fn an_approval_binds_each_of_its_parts((one, other) in two_bindings()) {
        let value = |parts: &Parts| Document::parse(parts.3.as_str(), Limits::ARGUMENTS).unwrap().canonical();
        let same = (&one.0, one.1, one.2, value(&one)) == (&other.0, other.1, other.2, value(&other));
        prop_assert_eq!(bound(&one) == bound(&other), same); // R-171, R-172
    }

    #[test]
    fn a_definition_depends_on_all_that_is_said((one, other) in (said(), said()), which in any::<[bool; 6]>()) {
        let pick = |which: bool| if which { &one } else { &other };
        let mixed = (
            pick(which[0]).0.clone(),
            pick(which[1]).1.clone(),
            pick(which[2]).2.clone(),
            pick(which[3]).3.clone(),
            pick(which[4]).4.clone(),
            pick(which[5]).5.clone(),
        );
        prop_assert_eq!(defined(&one) == defined(&mixed), one == mixed);
    }
}
