//! Sizes and depths: everything has a bound, and at the bound only one call ends.

use lockgate::contract::effect::Permission;
use lockgate::contract::ports::Message;

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{World, at_once, echo, raw};
use lockgate::prelude::*;

fn open_tool(name: &str) -> lockgate::ToolSpecBuilder {
    ToolSpec::builder(name).effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#)
}

/// What `memo = '['*3000 + ']'*3000` stands for: a product of quoted characters and counts, summed.
fn generated(expression: &str) -> (String, String) {
    let (field, terms) = expression.split_once(" = ").unwrap();
    let value = terms
        .split(" + ")
        .map(|term| {
            let (text, times) = term.split_once('*').unwrap();
            text.trim_matches('\'').repeat(times.parse().unwrap())
        })
        .collect();
    (field.to_owned(), value)
}

pub(super) async fn deep_nesting(case: Case) {
    let (field, value) = generated(&case.text("/input/arguments_generator"));
    let text = format!(r#"{{"to":"bob","amount":5,"{field}":{value}}}"#);
    assert!(text.len() > 6000);
    let world = World::in_memory();
    world.add(case.tool().permission(Permission::Allow), echo());
    let ran = world.run(vec![proposed("c1", &case.tool_name(), &text)]).await;
    assert_eq!(ran.codes(), ["invalid_arguments(too_deep)"]);
    assert!(world.entered().is_empty());
    assert_eq!(ran.stop(), ("completed", "final_answer"));
}

pub(super) async fn two_hundred_calls(case: Case) {
    let batch: usize = case.number("/input/batch");
    let calls: Vec<_> = (0..batch).map(|n| proposed(&format!("c{n}"), "note", &format!(r#"{{"n":{n}}}"#))).collect();
    let most = usize::try_from(Budget::default().max_calls_per_turn).unwrap();
    for mut world in World::of_each_kind() {
        world.add(open_tool("note"), echo());
        let wire = Wire::asking_for(calls.clone());
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        let codes = ran.codes();
        assert_eq!(codes.len(), batch);
        assert!(codes[..most].iter().all(|code| code == "ok"), "{codes:?}");
        assert!(codes[most..].iter().all(|code| code == "limit_reached(max_calls_per_turn)"), "{codes:?}");
        assert_eq!(world.entered().len(), most);
        assert_eq!(ran.stop(), ("completed", "final_answer"), "the run goes on");
        // `last_request` looks at how many calls stand in one message.
        let request = wire.last_request();
        let messages = request["messages"].as_array().unwrap();
        assert_eq!(messages.iter().filter(|message| message["role"] == "tool").count(), batch);
    }
}

#[tokio::test]
async fn the_cap_on_calls_is_the_operators() {
    for cap in [0_u32, 1, 127, 128, 129, 300] {
        let mut world = World::in_memory();
        world.budget.max_calls_per_turn = cap;
        world.budget.max_valid_actions = 1000;
        world.add(open_tool("note"), echo());
        let wire = Wire::asking_for((0..260).map(|n| proposed(&format!("c{n}"), "note", "{}")).collect());
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(world.entered().len(), usize::try_from(cap.min(260)).unwrap(), "{cap}");
        assert_eq!(ran.stop(), ("completed", "final_answer"), "{cap}");
        wire.last_request();
    }
}

/// So many calls that anything quadratic would show.
#[tokio::test]
async fn a_flood_of_calls_ends() {
    let world = World::in_memory();
    world.add(open_tool("note"), echo());
    let ran = world.run((0..1500).map(|_| proposed("", "note", "{}")).collect()).await;
    assert_eq!(world.entered().len(), 32);
    assert_eq!(ran.codes().len(), 1500);
    let largest = world.requests()[1]
        .messages
        .iter()
        .map(|message| if let Message::Assistant { calls, .. } = message { calls.len() } else { 0 })
        .max();
    assert_eq!(largest, Some(128));
}

/// An object that is exactly so many levels deep.
fn levels(depth: usize) -> String {
    format!(r#"{{"a":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1))
}

#[tokio::test]
async fn a_hundred_and_twenty_eight_levels_and_no_more() {
    for (depth, fits) in [(2, true), (127, true), (128, true), (129, false), (257, false), (100_000, false)] {
        let text = levels(depth);
        for mut world in World::of_each_kind() {
            world.add(open_tool("take"), echo());
            world.add(open_tool("give"), raw(&text));
            let wire = Wire::asking_for(vec![proposed("c1", "take", &text), proposed("c2", "give", "{}")]);
            world.model = Some(wire.model());
            let ran = world.run(Vec::new()).await;
            let expected =
                if fits { ["ok", "ok"] } else { ["invalid_arguments(too_deep)", "invalid_tool_output(too_deep)"] };
            assert_eq!(ran.codes(), expected, "{depth}");
            wire.last_request();
        }
    }
}

/// A value that a handler made itself is bounded as well: what cannot be stored must not be answered with.
#[tokio::test]
async fn a_typed_output_is_no_deeper_than_a_parsed_one() {
    #[derive(serde::Serialize)]
    struct Nested(Option<Box<[Nested; 1]>>);
    fn nested(depth: usize) -> Nested {
        (0..depth).fold(Nested(None), |inner, _| Nested(Some(Box::new([inner]))))
    }
    for (depth, fits) in [(1, true), (128, true), (129, false), (200, false), (250, false), (256, false), (257, false)]
    {
        for world in World::of_each_kind() {
            let act = at_once(move |_| Ok(Output::of(&nested(depth))));
            world.add(open_tool("give"), act);
            let ran = world.run(vec![proposed("c1", "give", "{}")]).await;
            let expected = if fits { "ok" } else { "invalid_tool_output(too_deep)" };
            assert_eq!(ran.codes(), [expected], "{depth}");
            assert_eq!(ran.stop().0, "completed");
        }
    }
}

#[tokio::test]
async fn a_document_of_a_handlers_own_is_bounded_too() {
    use lockgate::contract::document::Limits;
    for depth in [128, 129, 200, 255, 256] {
        let text = levels(depth);
        let world = World::in_memory();
        let act = at_once(move |_| Ok(Output::new(Document::parse(text.as_str(), Limits::OWN).unwrap())));
        world.add(open_tool("give"), act);
        let ran = world.run(vec![proposed("c1", "give", "{}")]).await;
        // Stored whole, or refused: never half of either.
        let expected = if depth <= 128 { "ok" } else { "invalid_tool_output(too_deep)" };
        assert_eq!(ran.codes(), [expected], "{depth}");
    }
}

#[tokio::test]
async fn a_mebibyte_of_arguments_and_not_a_byte_more() {
    let most = GateOptions::default().max_argument_bytes;
    assert_eq!(most, 1 << 20);
    for (bytes, expected) in [(most - 1, "ok"), (most, "ok"), (most + 1, "invalid_arguments(too_large)")] {
        let frame = r#"{"a":""}"#.len();
        let text = format!(r#"{{"a":"{}"}}"#, "n".repeat(bytes - frame));
        assert_eq!(text.len(), bytes);
        for world in World::of_each_kind() {
            world.add(open_tool("take"), at_once(|_| Ok(Output::of("taken"))));
            let ran = world.run(vec![proposed("c1", "take", &text)]).await;
            assert_eq!(ran.codes(), [expected], "{bytes}");
            assert_eq!(ran.stop().0, "completed");
        }
        // White space counts: nothing is free.
        let world = World::in_memory();
        world.add(open_tool("take"), echo());
        let ran = world.run(vec![proposed("c1", "take", &" ".repeat(bytes))]).await;
        assert_eq!(ran.codes(), [expected], "{bytes}");
    }
}

#[tokio::test]
async fn the_limit_on_arguments_is_the_operators() {
    let mut world = World::in_memory();
    world.options.max_argument_bytes = 10;
    world.add(open_tool("take"), echo());
    let calls = vec![proposed("a", "take", r#"{"a":"bc"}"#), proposed("b", "take", r#"{"a":"bcd"}"#)];
    let ran = world.run(calls).await;
    assert_eq!(ran.codes(), ["ok", "invalid_arguments(too_large)"]);
}

#[tokio::test]
async fn many_keys_and_many_elements() {
    let keys: Vec<String> = (0..60_000).map(|n| format!(r#""n{n}":{n}"#)).collect();
    let many_keys = format!("{{{}}}", keys.join(","));
    let twice = format!("{{{},\"n59999\":1}}", keys.join(","));
    let elements = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(200_000));
    let long_key = format!(r#"{{"{}":1}}"#, "n".repeat(500_000));
    let rows = [(&many_keys, "ok"), (&twice, "invalid_arguments(duplicate_key)"), (&elements, "ok"), (&long_key, "ok")];
    for (text, expected) in rows {
        assert!(text.len() < 1 << 20);
        let world = World::in_memory();
        world.add(open_tool("take"), at_once(|_| Ok(Output::of("taken"))));
        let ran = world.run(vec![proposed("c1", "take", text)]).await;
        assert_eq!(ran.codes(), [expected], "{}", &text[..40]);
    }
    // A hundred thousand keys, with the room that an operator gives them.
    let keys: Vec<String> = (0..100_000).map(|n| format!(r#""n{n}":{n}"#)).collect();
    let mut world = World::in_memory();
    world.options.max_argument_bytes = 4 << 20;
    world.add(open_tool("take"), at_once(|_| Ok(Output::of("taken"))));
    let ran = world.run(vec![proposed("c1", "take", &format!("{{{}}}", keys.join(",")))]).await;
    assert_eq!(ran.codes(), ["ok"]);
}

#[tokio::test]
async fn a_long_name_and_a_long_id_are_only_a_failed_call() {
    let long = "n".repeat(1 << 20);
    for mut world in World::of_each_kind() {
        let wire = Wire::asking_for(vec![proposed(&long, &long, "{}"), proposed(&long, "x", "{}")]);
        world.add(open_tool("take"), echo());
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), ["unknown_tool", "unknown_tool"]);
        wire.last_request();
    }
}
