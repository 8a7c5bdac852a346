//! What is no text never breaks a later request.

use lockgate::contract::document::Limits;
use lockgate::contract::effect::Permission;

use super::file::{Case, proposed, unhex};
use super::wire::Wire;
use crate::world::{Act, World, at_once, echo, raw};
use lockgate::prelude::*;

fn bytes(bytes: Vec<u8>) -> Act {
    at_once(move |_| Ok(Output::text_from_bytes(&bytes)))
}

fn reader(name: &str) -> lockgate::ToolSpecBuilder {
    ToolSpec::builder(name).effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#)
}

pub(super) async fn lone_surrogate(case: Case) {
    for mut world in World::of_each_kind() {
        world.add(reader("cat"), bytes(unhex(&case.text("/input/tool_returns_bytes"))));
        world.add(Case::named("args-extra-field").tool().permission(Permission::Allow), echo());
        let arguments = case.text("/input/also_arguments");
        let wire = Wire::asking_for(vec![proposed("c1", "cat", "{}"), proposed("c2", "transfer", &arguments)]);
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), ["ok", "invalid_arguments(invalid_unicode)"]);
        assert_eq!(ran.told(0), "\"Hello \u{fffd}\u{fffd}\u{fffd} World\"");
        assert!(ran.settled(0).meta.lossy);
        assert_eq!(world.entered(), ["{}"]);
        // The history stays one that a server takes, now and after a restart.
        wire.last_request();
        let again = world.restarted().runner(Vec::new()).state(ran.run_id()).await.unwrap();
        assert_eq!(format!("{:?}", again.messages()), format!("{:?}", ran.state.messages()));
    }
}

/// Bytes of a tool's text, and whether they are UTF-8.
const BYTES: &[(&str, bool)] = &[
    ("", true),
    ("00", true),
    ("7f", true),
    ("c3a9", true),
    ("efbbbf41", true),
    ("f09f9880", true),
    ("efbfbf", true),
    ("f48fbfbf", true),
    // Overlong, beyond the last code point, surrogates, halves, stray bytes.
    ("c080", false),
    ("c0af", false),
    ("e080af", false),
    ("f08080af", false),
    ("f4908080", false),
    ("f5808080", false),
    ("eda080", false),
    ("edb080", false),
    ("eda0bdedb880", false),
    ("c3", false),
    ("f09f98", false),
    ("80", false),
    ("41fe42ff43", false),
];

#[tokio::test]
async fn bytes_become_text_and_say_so() {
    for (digits, valid) in BYTES {
        let mut world = World::in_memory();
        world.add(reader("cat"), bytes(unhex(digits)));
        let wire = Wire::asking_for(vec![proposed("c1", "cat", "{}")]);
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), ["ok"], "{digits}");
        let settled = ran.settled(0);
        assert_eq!(settled.meta.lossy, !valid, "{digits}");
        let text = settled.data.as_ref().unwrap().root().as_str().unwrap().into_owned();
        assert_eq!(text, String::from_utf8_lossy(&unhex(digits)), "{digits}");
        let content = wire.last_request()["messages"][2]["content"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<String>(&content).unwrap(), text, "{digits}");
    }
}

/// A JSON text that is given as arguments and returned as output, and the reason word why not.
const TEXTS: &[(&str, &str)] = &[
    (r#"{"a":"\ud800"}"#, "invalid_unicode"),
    (r#"{"a":"\udc00"}"#, "invalid_unicode"),
    (r#"{"a":"\ude00\ud83d"}"#, "invalid_unicode"),
    (r#"{"a":"\ud83d\ud83d\ude00"}"#, "invalid_unicode"),
    (r#"{"a":"\ud83d "}"#, "invalid_unicode"),
    (r#"{"a":"\ud83d\n"}"#, "invalid_unicode"),
    (r#"{"\ud800":1}"#, "invalid_unicode"),
    (r#"{"a":[{"b\udfff":1}]}"#, "invalid_unicode"),
    (r#"{"a":"\uD83"}"#, "not_json"),
    (r#"{"a":"\u{1f600}"}"#, "not_json"),
    (r#"{"a":"\x41"}"#, "not_json"),
    ("{\"a\":\"\u{0}\"}", "not_json"),
    ("{\"a\":\"\u{1f}\"}", "not_json"),
    ("{\"a\":\"\u{9}\"}", "not_json"),
    // And these are texts.
    (r#"{"a":"\u0000"}"#, "ok"),
    (r#"{"\u0000":"\u0000"}"#, "ok"),
    (r#"{"a":"\ud83d\ude00"}"#, "ok"),
    ("{\"a\":\"\u{1f600}\u{7f}\u{80}\u{2028}\u{feff}\u{ffff}\u{10ffff}\"}", "ok"),
    ("{\"e\u{301}\":1,\"\u{e9}\":2}", "ok"),
    (r#"{"":""}"#, "ok"),
    (r#"{"__proto__":{"constructor":1}}"#, "ok"),
    (r#"{"$serde_json::private::RawValue":"1"}"#, "ok"),
    (r#"{"$serde_json::private::Number":"1"}"#, "ok"),
];

#[tokio::test]
async fn escapes_that_are_no_text_are_refused_in_arguments_and_outputs() {
    for (text, word) in TEXTS {
        for mut world in World::of_each_kind() {
            world.add(reader("take"), echo());
            world.add(reader("give"), raw(text));
            let wire = Wire::asking_for(vec![proposed("c1", "take", text), proposed("c2", "give", "{}")]);
            world.model = Some(wire.model());
            let ran = world.run(Vec::new()).await;
            let expected = match *word {
                "ok" => ["ok".to_owned(), "ok".to_owned()],
                word => [format!("invalid_arguments({word})"), format!("invalid_tool_output({word})")],
            };
            assert_eq!(ran.codes(), expected, "{text}");
            let request = wire.last_request();
            let again = world.restarted().runner(Vec::new()).state(ran.run_id()).await.unwrap();
            assert_eq!(format!("{:?}", again.messages()), format!("{:?}", ran.state.messages()), "{text}");
            if *word == "ok" {
                let content = request["messages"][3]["content"].as_str().unwrap().to_owned();
                assert!(
                    Document::parse(content, Limits::OWN).unwrap().same_value(ran.settled(1).data.as_ref().unwrap())
                );
            }
        }
    }
}

#[tokio::test]
async fn names_and_ids_of_any_script_survive() {
    let names = ["日本語", "cafe\u{301}", "Ünïcode tool", "🔧", "read·me"];
    let mut world = World::in_memory();
    for name in names {
        world.add(reader(name), at_once(move |_| Ok(Output::of(name))));
    }
    let calls: Vec<_> = names.iter().map(|name| proposed(name, name, "{}")).collect();
    let ran = world.run(calls.clone()).await;
    assert_eq!(ran.codes(), ["ok"; 5]);
    for (index, name) in names.iter().enumerate() {
        assert_eq!(ran.told(index), serde_json::to_string(name).unwrap());
    }
    // The other spelling of an accent is another name.
    assert_eq!(world.run(vec![proposed("c", "caf\u{e9}", "{}")]).await.codes(), ["unknown_tool"]);
    // On the wire they are what a server takes, and come back as what they are.
    let wire = Wire::start(vec![
        Box::new(move |request| {
            let tools = request["tools"].as_array().unwrap().iter();
            let calls = tools.map(|tool| proposed("c", tool["function"]["name"].as_str().unwrap(), "{}"));
            super::wire::assistant(&calls.collect::<Vec<_>>())
        }),
        Box::new(|_| super::wire::done()),
    ]);
    world.model = Some(wire.model());
    let ran = world.run(Vec::new()).await;
    assert_eq!(ran.codes(), ["ok"; 5]);
    wire.last_request();
    let mut called: Vec<_> = ran.result.calls.iter().map(|call| call.tool_name.as_str()).collect();
    called.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(called, expected);
}
