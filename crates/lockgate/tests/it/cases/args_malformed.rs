//! Argument text that is not what a tool asked for: one call fails, and nothing else does.

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{World, echo};
use lockgate::contract::effect::Permission;

/// The line's own tool, which is not asked for, in a new world.
fn world_of(case: &Case) -> World {
    let world = World::in_memory();
    world.add(case.tool().permission(Permission::Allow), echo());
    world
}

/// The transfer tool of the file: two required fields, closed.
pub(super) fn transfer_world() -> World {
    world_of(&Case::named("args-duplicate-keys"))
}

pub(super) async fn empty_text(case: Case) {
    let world = world_of(&case);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["ok", "ok"]);
    assert_eq!(world.entered(), ["{}", "{}"]);
    assert_eq!(ran.history_arguments(), ["{}", "{}"]);

    // A tool with required fields is not called with nothing.
    let world = transfer_world();
    let ran = world.run(vec![proposed("c1", "transfer", "")]).await;
    assert_eq!(ran.codes(), ["invalid_arguments(schema)"]); // R-070
    assert!(ran.audit(0).contains("to") && ran.audit(0).contains("amount"), "{}", ran.audit(0));
    assert!(!ran.told(0).contains("amount"), "the model is told no field: {}", ran.told(0)); // R-090
    assert!(world.entered().is_empty());
}

pub(super) async fn cut_off(case: Case) {
    let text = case.texts("/input/stream").concat();
    let mut world = world_of(&case);
    let wire = Wire::asking_for(vec![proposed("c1", &case.tool_name(), &text)]);
    world.model = Some(wire.model());
    let ran = world.run(Vec::new()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(not_json)"]);
    assert!(world.entered().is_empty());
    assert_eq!(ran.history_arguments(), ["{}"]);
    assert_eq!(wire.last_request()["messages"][1]["tool_calls"][0]["function"]["arguments"], "{}"); // Z-42
    let quoted = serde_json::to_string(&text).unwrap();
    assert!(ran.journal_text().contains(&quoted), "the raw text stands in the journal"); // R-131
}

pub(super) async fn one_broken_of_two(case: Case) {
    let world = world_of(&case);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(not_json)", "ok"]);
    assert_eq!(world.entered(), [case.calls()[1].arguments_text.clone()]);
    assert_eq!(ran.stop(), ("completed", "final_answer")); // R-107, R-200
    assert_eq!((ran.result.steps, ran.result.valid_actions), (2, 1)); // R-119
}

pub(super) async fn double_encoded(case: Case) {
    let world = world_of(&case);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(schema)"]);
    assert!(ran.audit(0).contains("/todos"), "{}", ran.audit(0));
    assert!(world.entered().is_empty());
}

pub(super) async fn duplicate_keys(case: Case) {
    let world = world_of(&case);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(duplicate_key)"]); // S-07
    assert!(ran.audit(0).contains("/amount"), "{}", ran.audit(0));
    assert!(world.entered().is_empty());
}

pub(super) async fn python_literal(case: Case) {
    let world = world_of(&case);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["invalid_arguments(not_json)"]);
    assert!(world.entered().is_empty());
}

/// Texts, and how a call of the transfer tool with them ends.
const TEXTS: &[(&str, &str)] = &[
    // Only JSON's own white space is nothing.
    ("\t\r\n ", "invalid_arguments(schema)"),
    ("\u{a0}", "invalid_arguments(not_json)"),
    ("\u{feff}", "invalid_arguments(not_json)"),
    ("\u{2003}{\"to\":\"bob\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("\u{feff}{\"to\":\"bob\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("\0", "invalid_arguments(not_json)"),
    // JSON, but no object.
    ("null", "invalid_arguments(not_an_object)"),
    ("[]", "invalid_arguments(not_an_object)"),
    ("true", "invalid_arguments(not_an_object)"),
    ("5", "invalid_arguments(not_an_object)"),
    ("\"\"", "invalid_arguments(not_an_object)"),
    (r#""{\"to\":\"bob\",\"amount\":5}""#, "invalid_arguments(not_an_object)"),
    (r#"[{"to":"bob","amount":5}]"#, "invalid_arguments(not_an_object)"),
    // More than one value, or something behind it.
    (r#"{"to":"bob","amount":5}{"to":"eve","amount":5}"#, "invalid_arguments(trailing_characters)"),
    (r#"{"to":"bob","amount":5} and thanks"#, "invalid_arguments(trailing_characters)"),
    ("{\"to\":\"bob\",\"amount\":5}\0", "invalid_arguments(trailing_characters)"),
    ("{\"to\":\"bob\",\"amount\":5}\n```", "invalid_arguments(trailing_characters)"),
    // Nearly JSON.
    ("```json\n{\"to\":\"bob\",\"amount\":5}\n```", "invalid_arguments(not_json)"),
    ("Sure: {\"to\":\"bob\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":\"bob\",\"amount\":5,}", "invalid_arguments(not_json)"),
    ("{\"to\":\"bob\",\"amount\":5", "invalid_arguments(not_json)"),
    ("{\"to\":\"bob\" \"amount\":5}", "invalid_arguments(not_json)"),
    ("{to:\"bob\",amount:5}", "invalid_arguments(not_json)"),
    ("{\"to\":\"bob\",/* five */\"amount\":5}", "invalid_arguments(not_json)"),
    ("// five\n{\"to\":\"bob\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":'bob',\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":\"bo\nb\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":\"b\\ob\",\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":None,\"amount\":5}", "invalid_arguments(not_json)"),
    ("{\"to\":\"bob\",\"amount\":True}", "invalid_arguments(not_json)"),
    // One key twice, however it is written and wherever it stands.
    (r#"{"to":"bob","amount":1,"\u0061mount":1000}"#, "invalid_arguments(duplicate_key)"),
    (r#"{"to":"bob","amount":1,"amount":1}"#, "invalid_arguments(duplicate_key)"),
    (r#"{"to":"bob","amount":1,"memo":{"a":1,"a":2}}"#, "invalid_arguments(duplicate_key)"),
    (r#"{"to":"bob","amount":1,"memo":[{"":1,"":2}]}"#, "invalid_arguments(duplicate_key)"),
    // Two keys that look alike are two keys, and the schema knows one.
    (r#"{"to":"bob","amount":1,"Amount":1000}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":1,"amount ":1000}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":1,"аmount":1000}"#, "invalid_arguments(schema)"),
    // Nothing is coerced.
    (r#"{"to":"bob","amount":"5"}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":true}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":null}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":[5]}"#, "invalid_arguments(schema)"),
    (r#"{"to":5,"amount":5}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob","amount":5.5}"#, "invalid_arguments(schema)"),
    (r#"{"to":"bob"}"#, "invalid_arguments(schema)"),
    // And these are fine.
    (r#"{"to":"bob","amount":5}"#, "ok"),
    ("\n\t {\"amount\" : 5 , \"to\" : \"bob\"}\r\n ", "ok"),
    (r#"{"\u0074o":"bob","amount":5}"#, "ok"),
];

#[tokio::test]
async fn texts_that_are_nearly_arguments() {
    for (text, code) in TEXTS {
        let mut world = transfer_world();
        let wire = Wire::asking_for(vec![proposed("c1", "transfer", text)]);
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), [*code], "{text:?}");
        // R-062: a handler sees nothing of what was refused, and what it sees is the text as it came.
        let expected: Vec<&str> = if *code == "ok" { vec![text.trim()] } else { Vec::new() };
        let entered = world.entered();
        assert_eq!(entered.iter().map(|text| text.trim()).collect::<Vec<_>>(), expected, "{text:?}");
        assert_eq!(ran.stop().0, "completed", "{text:?}"); // R-107
        wire.last_request();
    }
}
