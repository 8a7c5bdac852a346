//! Numbers keep their digits, all the way and back; what is no number never passes.

use lockgate::contract::arguments::Arguments;
use lockgate::contract::document::Limits;
use lockgate::contract::effect::Permission;

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{Act, World, at_once, echo, raw};
use lockgate::prelude::*;

pub(super) async fn digits_survive(case: Case) {
    let (returned, calls) = (case.text("/input/tool_returns"), case.calls());
    for mut world in World::of_each_kind() {
        world.add(case.tool(), raw(&returned));
        let wire = Wire::asking_for(calls.clone());
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), ["ok"]);
        assert_eq!(world.entered(), [calls[0].arguments_text.clone()]);
        assert_eq!(ran.told(0), returned);
        assert!(ran.journal_text().contains("9007199254740993") && ran.journal_text().contains(&returned));
        // The next request, as text: a parser would round.
        let request = wire.bodies().pop().unwrap();
        assert!(request.contains("9007199254740993") && request.contains("7960607143101464576"), "{request}");
        assert!(!request.contains("9007199254740992"), "{request}");
    }
    let digest = |text: &str| Arguments::parse(text, Limits::ARGUMENTS).unwrap().digest();
    assert_ne!(digest(r#"{"id":9007199254740993}"#), digest(r#"{"id":9007199254740992}"#));

    // A typed handler reads the same digits.
    let world = World::in_memory();
    let typed = Handler::typed(|arguments: std::collections::BTreeMap<String, i64>| async move { Ok(arguments["id"]) });
    world.registry.register(case.tool().handler(typed).build().unwrap()).unwrap();
    assert_eq!(world.run(calls).await.told(0), "9007199254740993");
}

pub(super) async fn not_finite(case: Case) {
    let world = World::in_memory();
    world.add(case.tool(), raw(&case.text("/input/tool_returns")));
    let ran = world.run(vec![proposed("c1", &case.tool_name(), "{}")]).await;
    assert_eq!(ran.codes(), ["invalid_tool_output(non_finite_number)"]); // R-073
    assert!(ran.audit(0).contains("/mean"), "{}", ran.audit(0));
    assert!(!ran.journal_text().contains("NaN"), "bare NaN leaves nowhere");

    // In arguments, of any spelling.
    for text in [r#"{"mean":NaN}"#, r#"{"mean":Infinity}"#, r#"{"mean":-Infinity}"#, r#"{"mean":1e400}"#] {
        let ran = world.run(vec![proposed("c1", &case.tool_name(), text)]).await;
        assert_eq!(ran.codes(), ["invalid_arguments(non_finite_number)"], "{text}");
    }
    assert_eq!(world.entered().len(), 1);
}

/// A value in an array of an object, and how a tool ends that returns it.
const OUTPUTS: &[(&str, &str)] = &[
    ("NaN", "invalid_tool_output(non_finite_number)"),
    ("-NaN", "invalid_tool_output(not_json)"),
    ("nan", "invalid_tool_output(not_json)"),
    ("Infinity", "invalid_tool_output(non_finite_number)"),
    ("-Infinity", "invalid_tool_output(non_finite_number)"),
    ("+Infinity", "invalid_tool_output(not_json)"),
    ("inf", "invalid_tool_output(not_json)"),
    ("1e400", "invalid_tool_output(non_finite_number)"),
    ("-1E+400", "invalid_tool_output(non_finite_number)"),
    ("1e99999999999", "invalid_tool_output(non_finite_number)"),
    ("01", "invalid_tool_output(not_json)"),
    ("-01", "invalid_tool_output(not_json)"),
    ("+1", "invalid_tool_output(not_json)"),
    (".5", "invalid_tool_output(not_json)"),
    ("5.", "invalid_tool_output(not_json)"),
    ("1e", "invalid_tool_output(not_json)"),
    ("0x10", "invalid_tool_output(not_json)"),
    ("1_000", "invalid_tool_output(not_json)"),
    ("--1", "invalid_tool_output(not_json)"),
    ("-", "invalid_tool_output(not_json)"),
    ("٣", "invalid_tool_output(not_json)"),
    // These keep their text.
    ("-0", "ok"),
    ("-0.0", "ok"),
    ("0e0", "ok"),
    ("1E+2", "ok"),
    ("1e-7", "ok"),
    ("1.0", "ok"),
    ("1.10", "ok"),
    ("0.1", "ok"),
    ("0.30000000000000004", "ok"),
    ("9007199254740993", "ok"),
    ("9223372036854775808", "ok"),
    ("-9223372036854775809", "ok"),
    ("18446744073709551615", "ok"),
    ("18446744073709551616", "ok"),
    ("1000000000000000000000000000000", "ok"),
    ("123456789012345678901234567890.123456789012345678901234567890", "ok"),
    ("1.7976931348623157e308", "ok"),
    ("5e-324", "ok"),
    ("1e-400", "ok"),
];

#[tokio::test]
async fn the_text_of_a_number_is_kept_or_refused() {
    for (number, code) in OUTPUTS {
        let text = format!(r#"{{"list":[0,{number}]}}"#);
        let mut world = World::in_memory();
        world.add(ToolSpec::builder("read").effect(Effect::Read), raw(&text));
        world.add(ToolSpec::builder("open").effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#), echo());
        let wire = Wire::asking_for(vec![proposed("c1", "read", "{}"), proposed("c2", "open", &text)]);
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        let of_arguments = code.replace("invalid_tool_output", "invalid_arguments");
        assert_eq!(ran.codes(), [*code, &*of_arguments], "{number}");
        if *code == "ok" {
            assert_eq!((ran.told(0), ran.told(1)), (text.clone(), text.clone()), "{number}");
            assert_eq!(world.entered()[1], text, "{number}");
            let in_the_request = serde_json::to_string(&text).unwrap();
            // In the call and in both results, byte for byte.
            assert_eq!(wire.bodies()[1].matches(&in_the_request).count(), 3, "{number}: {}", wire.bodies()[1]);
        } else {
            assert!(ran.audit(0).contains("/list/1"), "{number}: {}", ran.audit(0));
        }
    }
}

/// A schema of `n`, a value of it, and whether it fits.
const SCHEMAS: &[(&str, &str, bool)] = &[
    (r#"{"enum":[9007199254740993]}"#, "9007199254740993", true),
    (r#"{"enum":[9007199254740993]}"#, "9007199254740992", false),
    (r#"{"enum":[9007199254740993]}"#, "9007199254740993.0", true),
    (r#"{"enum":[9007199254740993]}"#, "\"9007199254740993\"", false),
    (r#"{"const":1000000000000000000000000000000}"#, "1e30", true),
    (r#"{"const":1000000000000000000000000000000}"#, "1000000000000000000000000000001", false),
    (r#"{"const":0.1}"#, "1e-1", true),
    (r#"{"const":0.3}"#, "0.30000000000000004", false),
    (r#"{"const":0}"#, "-0", true),
    (r#"{"const":1}"#, "true", false),
    (r#"{"type":"integer"}"#, "1.0", true),
    (r#"{"type":"integer"}"#, "1e2", true),
    (r#"{"type":"integer"}"#, "1.5", false),
    (r#"{"type":"integer"}"#, "9007199254740992.5", false),
    (r#"{"maximum":9007199254740992}"#, "9007199254740993", false),
    (r#"{"exclusiveMinimum":9223372036854775807}"#, "9223372036854775808", true),
    (r#"{"maximum":18446744073709551615}"#, "18446744073709551616", false),
    (r#"{"multipleOf":0.01}"#, "0.07", true),
    (r#"{"multipleOf":0.01}"#, "0.075", false),
    (r#"{"multipleOf":3}"#, "9007199254740993", true),
];

#[tokio::test]
async fn schemas_compare_exactly() {
    for (schema, value, fits) in SCHEMAS {
        let world = World::in_memory();
        let schema = format!(r#"{{"type":"object","properties":{{"n":{schema}}},"required":["n"]}}"#);
        world.add(ToolSpec::builder("take").effect(Effect::Read).input_schema_text(schema.clone()), echo());
        let output = format!(r#"{{"n":{value}}}"#);
        let give = ToolSpec::builder("give").effect(Effect::Read).output_schema_text(schema.clone());
        world.add(give, raw(&output));
        let ran = world.run(vec![proposed("c1", "take", &output), proposed("c2", "give", "{}")]).await;
        let expected = if *fits { ["ok", "ok"] } else { ["invalid_arguments(schema)", "invalid_tool_output(schema)"] };
        assert_eq!(ran.codes(), expected, "{schema} {value}");
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Typed {
    small: Option<u8>,
    signed: Option<i64>,
    unsigned: Option<u64>,
    float: Option<f64>,
}

/// An argument of a typed handler, and what comes back.
const TYPED: &[(&str, &str)] = &[
    (r#"{"small":255}"#, r#"{"small":255,"signed":null,"unsigned":null,"float":null}"#),
    (r#"{"small":2.0}"#, r#"{"small":2,"signed":null,"unsigned":null,"float":null}"#),
    (r#"{"small":256}"#, "invalid_arguments(schema)"),
    (r#"{"small":-1}"#, "invalid_arguments(schema)"),
    (r#"{"small":1.5}"#, "invalid_arguments(schema)"),
    (
        r#"{"signed":9223372036854775807}"#,
        r#"{"small":null,"signed":9223372036854775807,"unsigned":null,"float":null}"#,
    ),
    (r#"{"signed":9223372036854775808}"#, "invalid_arguments(schema)"),
    (r#"{"signed":1000000000000000000000000000000}"#, "invalid_arguments(schema)"),
    (r#"{"signed":1e18}"#, r#"{"small":null,"signed":1000000000000000000,"unsigned":null,"float":null}"#),
    (
        r#"{"unsigned":18446744073709551615}"#,
        r#"{"small":null,"signed":null,"unsigned":18446744073709551615,"float":null}"#,
    ),
    (r#"{"unsigned":18446744073709551616}"#, "invalid_arguments(schema)"),
    (r#"{"float":0.5}"#, r#"{"small":null,"signed":null,"unsigned":null,"float":0.5}"#),
    // An integer that a float cannot hold is not rounded behind anybody's back.
    (r#"{"float":9007199254740993}"#, "invalid_arguments(schema)"),
];

#[tokio::test]
async fn typed_handlers_get_the_number_or_nothing() {
    let world = World::in_memory();
    let open = ToolSpec::builder("typed").effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#);
    world
        .registry
        .register(open.handler(Handler::typed(|typed: Typed| async move { Ok(typed) })).build().unwrap())
        .unwrap();
    for (arguments, expected) in TYPED {
        let ran = world.run(vec![proposed("c1", "typed", arguments)]).await;
        let got = if ran.codes() == ["ok"] { ran.told(0) } else { ran.codes().remove(0) };
        assert_eq!(got, *expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_typed_output_that_is_not_finite_is_refused() {
    #[derive(serde::Serialize)]
    struct Stats {
        rows: Vec<Row>,
    }
    #[derive(serde::Serialize)]
    struct Row {
        mean: f64,
        narrow: f32,
    }
    let output = |mean, narrow| -> Act {
        at_once(move |_| Ok(Output::of(&Stats { rows: vec![Row { mean: 1.0, narrow: 1.0 }, Row { mean, narrow }] })))
    };
    let rows = [
        (f64::NAN, 1.0, "/rows/1/mean"),
        (f64::INFINITY, 1.0, "/rows/1/mean"),
        (f64::NEG_INFINITY, 1.0, "/rows/1/mean"),
        (1.0, f32::NAN, "/rows/1/narrow"),
    ];
    for (mean, narrow, place) in rows {
        let world = World::in_memory();
        world.add(ToolSpec::builder("stats").effect(Effect::Read), output(mean, narrow));
        let ran = world.run(vec![proposed("c1", "stats", "{}")]).await;
        assert_eq!(ran.codes(), ["invalid_tool_output(non_finite_number)"]);
        assert!(ran.audit(0).contains(place), "{}", ran.audit(0));
        assert!(!ran.journal_text().contains("null}]"), "nor does it become null");
    }
}

#[tokio::test]
async fn equal_numbers_are_one_argument_and_others_are_not() {
    let digest = |text: &str| Arguments::parse(&format!(r#"{{"n":{text}}}"#), Limits::ARGUMENTS).unwrap().digest();
    for group in [["1", "1.0", "1e0"], ["100", "1E+2", "1000e-1"], ["0", "-0", "0.0"]] {
        assert!(group.iter().all(|text| digest(text) == digest(group[0])), "{group:?}");
    }
    for [one, other] in [["0.1", "0.10000000000000001"], ["1e30", "1000000000000000000000000000001"], ["1", "\"1\""]] {
        assert_ne!(digest(one), digest(other), "{one} {other}");
    }
    // What a call is allowed to do does not hang on a number's spelling, and its text is still what the model sent.
    let world = World::in_memory();
    let tool = ToolSpec::builder("take").effect(Effect::Read).permission(Permission::Allow);
    world.add(tool.input_schema_text(r#"{"type":"object"}"#), echo());
    let ran = world.run(vec![proposed("c1", "take", r#"{"n":1.0}"#), proposed("c2", "take", r#"{"n":1}"#)]).await;
    assert_eq!(ran.settled(0).audit.arguments_digest, ran.settled(1).audit.arguments_digest);
    assert_eq!((ran.told(0).as_str(), ran.told(1).as_str()), (r#"{"n":1.0}"#, r#"{"n":1}"#));
}
