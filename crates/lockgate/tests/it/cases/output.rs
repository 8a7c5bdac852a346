//! What a tool answers: of the declared form, of bounded size, or not at all.

use lockgate::contract::effect::{EffectState, Permission};
use lockgate::contract::event::EventType;
use lockgate::contract::ids::ArtifactId;
use lockgate::contract::outcome::Status;
use lockgate::sources::core::{Root, read_tools};

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{Act, Ran, Turn, World, at_once, code_of, raw};
use lockgate::prelude::*;

fn giver(output_schema: Option<&str>) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("give").effect(Effect::Read);
    match output_schema {
        None => tool,
        Some(schema) => tool.output_schema_text(schema),
    }
}

fn text(text: String) -> Act {
    at_once(move |_| Ok(Output::of(&text)))
}

async fn given(world: &World) -> Ran {
    world.run(vec![proposed("c1", "give", "{}")]).await
}

pub(super) async fn schema_enforced(case: Case) {
    let returned = case.at("/input/tool_returns").to_document();
    let tool = ToolSpec::builder("give").effect(Effect::Write).permission(Permission::Allow);
    let tool = tool.output_schema(case.at("/input/output_schema").to_document());
    let mut world = World::in_memory();
    let output = returned.clone();
    world.add(tool, at_once(move |_| Ok(Output::new(output.clone()))));
    let wire = Wire::asking_for(vec![proposed("c1", "give", "{}")]);
    world.model = Some(wire.model());
    let ran = world.run(Vec::new()).await;
    assert_eq!(ran.codes(), ["invalid_tool_output(schema)"]); // R-073
    assert!(!wire.last_request().to_string().contains("unexpected"), "nothing of it enters the context"); // R-183
    assert!(ran.settled(0).data.is_none()); // R-087
    let (settled, call) = (ran.settled(0), &ran.result.calls[0]);
    assert_eq!((settled.effect_state, call.status), (EffectState::Done, Some(Status::Executed)));
    assert_eq!(ran.result.valid_actions, 1); // R-120
    assert_eq!(world.entered().len(), 1);
}

pub(super) async fn huge(case: Case) {
    let bytes: usize = case.number("/input/tool_returns_bytes");
    let whole: String = (0..)
        .map(|n| format!("line {n} of it all é\n"))
        .scan(0, |sum, line| {
            *sum += line.len();
            (*sum <= bytes + 40).then_some(line)
        })
        .collect();
    let whole = whole[..whole.floor_char_boundary(bytes)].to_owned();
    let mut last = None;
    for world in World::of_each_kind() {
        world.add(giver(None), text(whole.clone()));
        let folder = tempfile::tempdir().unwrap();
        for tool in read_tools(&Arc::new(Root::open(folder.path()).unwrap())).unwrap() {
            world.registry.register(tool).unwrap();
        }
        let ran = given(&world).await;
        let shown = check_shortened(&ran, &whole, world.options.max_output_bytes);
        let artifact = ran.settled(0).meta.artifact.clone().unwrap();
        assert!(shown.len() <= world.options.max_output_bytes);
        let elsewhere = format!(r#"{{"artifact":"{artifact}"}}"#);
        let other = world.direct("read_artifact", &elsewhere).await;
        assert_eq!(code_of(&other), "artifact_not_found");
        // A program gets it at once.
        let stored = world.restarted().journal.artifact(ran.run_id(), &artifact).await.unwrap();
        assert_eq!(stored.as_deref(), Some(whole.as_str()));
        last = Some((world, artifact));
    }
    // The whole of it can be paged through with a read tool.
    let (world, artifact) = last.unwrap();
    let read = page_through(&world, &artifact).await;
    assert!(read == whole, "{} of {} bytes", read.len(), whole.len());
}

/// A run that gets the output and then reads it page by page, as a model would.
async fn page_through(world: &World, artifact: &ArtifactId) -> String {
    // The pages stay under the cap of outputs themselves, and overlap by more than a character.
    let page = 50_000;
    let pages = (0..5_100_000).step_by(page - 10).map(|offset| {
        let arguments = format!(r#"{{"artifact":"{artifact}","offset":{offset},"max_bytes":{page}}}"#);
        proposed("r", "read_artifact", &arguments)
    });
    let turns = vec![Turn::Calls(vec![proposed("g", "give", "{}")]), Turn::Calls(pages.collect())];
    let mut world = world.clone();
    (world.budget.max_calls_per_turn, world.budget.max_valid_actions) = (200, 500);
    let ran = world.run_turns(turns).await;
    let mut read: Vec<u8> = Vec::new();
    for index in 1..ran.result.calls.len() {
        let settled = ran.settled(index);
        if !settled.ok {
            assert_eq!(ran.codes()[index], "offset_past_end");
            continue;
        }
        assert!(settled.meta.artifact.is_none(), "a page is not cut again");
        let data = settled.data.as_ref().unwrap().root();
        let (start, text): (usize, String) =
            (data.get("offset").unwrap().decode().unwrap(), data.get("text").unwrap().decode().unwrap());
        read.truncate(start);
        read.extend(text.as_bytes());
    }
    String::from_utf8(read).unwrap()
}

/// What is shown of an output that was too large: head and tail on character bounds, and the exact count of the rest.
fn check_shortened(ran: &Ran, whole: &str, cap: usize) -> String {
    assert_eq!(ran.codes(), ["ok"]);
    let settled = ran.settled(0);
    let shown = settled.data.as_ref().unwrap().root().as_str().unwrap().into_owned();
    let left_out = usize::try_from(settled.meta.truncated_bytes.unwrap()).unwrap();
    assert!(shown.len() <= cap, "{} > {cap}", shown.len());
    let head = whole.bytes().zip(shown.bytes()).take_while(|(whole, shown)| whole == shown).count();
    let tail = whole.bytes().rev().zip(shown.bytes().rev()).take_while(|(whole, shown)| whole == shown).count();
    // The notice stands between them; by chance it may go on like the text for a few bytes.
    assert!(
        head + tail + left_out >= whole.len() && head + tail + left_out <= whole.len() + 8,
        "{head} {tail} {left_out}"
    );
    assert!(shown.contains(&format!("{left_out} bytes")), "{shown}");
    let left_out_chars = settled.meta.truncated_chars.unwrap();
    assert!(left_out_chars <= left_out as u64 && left_out_chars > 0);
    shown
}

#[tokio::test]
async fn at_the_cap_and_one_byte_over() {
    let cap = GateOptions::default().max_output_bytes;
    for character in ["a", "é", "日", "😀"] {
        for bytes in [cap - 1, cap, cap + 1, cap + 2, cap + 3, cap + 4, cap + 5, cap + 6, 2 * cap] {
            // Whatever the byte at the cut is part of.
            let whole = format!("{}{}", "x".repeat(bytes % character.len()), character.repeat(bytes / character.len()));
            assert_eq!(whole.len(), bytes);
            let world = World::in_memory();
            world.add(giver(None), text(whole.clone()));
            let ran = given(&world).await;
            if bytes <= cap {
                assert_eq!(ran.told(0), serde_json::to_string(&whole).unwrap());
                assert!(ran.settled(0).meta.is_empty(), "small outputs stay as they are"); // Z-05
            } else {
                check_shortened(&ran, &whole, cap);
            }
        }
    }
}

#[tokio::test]
async fn the_cap_is_the_operators() {
    for cap in [0, 1, 2, 10, 100, 200, 1000] {
        let mut world = World::in_memory();
        world.options.max_output_bytes = cap;
        let whole = "word ".repeat(500);
        world.add(giver(None), text(whole.clone()));
        let ran = given(&world).await;
        assert_eq!(ran.codes(), ["ok"], "{cap}");
        let (data, meta) = (ran.settled(0).data.clone().unwrap(), ran.settled(0).meta.clone());
        if cap == 0 {
            assert_eq!(data.root().as_str().unwrap(), whole);
            continue;
        }
        let shown = data.root().as_str().unwrap().into_owned();
        assert!(shown.len() <= cap, "{cap}: {shown}");
        let stored = world.journal.artifact(ran.run_id(), &meta.artifact.unwrap()).await.unwrap();
        assert_eq!(stored.unwrap(), whole);
        assert!(meta.truncated_bytes.unwrap() <= 2500);
    }
}

/// What is no text is cut as the text of its JSON, and a handler's own count of what it left out is kept.
#[tokio::test]
async fn structured_data_is_cut_as_text() {
    let whole = format!(r#"{{"rows":[{}0]}}"#, r#""a\"b","#.repeat(20_000));
    let world = World::in_memory();
    let output = whole.clone();
    world.add(giver(None), at_once(move |_| Ok(Output::raw(output.as_str()).truncated_chars(7))));
    let ran = given(&world).await;
    assert_eq!(ran.codes(), ["ok"]);
    let settled = ran.settled(0);
    let shown = settled.data.as_ref().unwrap().root().as_str().unwrap().into_owned();
    assert!(shown.starts_with(r#"{"rows":["a\"b","#) && shown.ends_with("0]}"));
    assert_eq!(settled.meta.truncated_chars.unwrap(), settled.meta.truncated_bytes.unwrap() + 7); // R-057
}

/// An output text, an output schema, and how the call ends.
const OUTPUTS: &[(&str, Option<&str>, &str)] = &[
    ("", None, "invalid_tool_output(not_json)"),
    (" ", None, "invalid_tool_output(not_json)"),
    ("plain words", None, "invalid_tool_output(not_json)"),
    ("{}{}", None, "invalid_tool_output(trailing_characters)"),
    (r#"{"a":1,"a":2}"#, None, "invalid_tool_output(duplicate_key)"),
    (r#"{"a":1"#, None, "invalid_tool_output(not_json)"),
    ("undefined", None, "invalid_tool_output(not_json)"),
    ("\u{feff}{}", None, "invalid_tool_output(not_json)"),
    ("null", None, "ok"),
    ("\"\"", None, "ok"),
    ("[]", None, "ok"),
    ("{}", None, "ok"),
    ("0", None, "ok"),
    ("false", None, "ok"),
    ("null", Some(r#"{"type":"object"}"#), "invalid_tool_output(schema)"),
    ("{}", Some(r#"{"type":"null"}"#), "invalid_tool_output(schema)"),
    ("null", Some(r#"{"type":"null"}"#), "ok"),
    ("\"x\"", Some(r#"{"type":"string","minLength":2}"#), "invalid_tool_output(schema)"),
    ("[1,2,\"3\"]", Some(r#"{"type":"array","items":{"type":"integer"}}"#), "invalid_tool_output(schema)"),
    (
        r#"{"id":"a","secret":1}"#,
        Some(r#"{"type":"object","properties":{"id":{}},"additionalProperties":false}"#),
        "invalid_tool_output(schema)",
    ),
    (r#"{"a":{"b":[{"c":NaN}]}}"#, Some(r#"{"type":"object"}"#), "invalid_tool_output(non_finite_number)"),
    (
        r#"{"a":{"b":[{"c":1}]}}"#,
        Some(r#"{"properties":{"a":{"properties":{"b":{"items":{"properties":{"c":{"type":"string"}}}}}}}}"#),
        "invalid_tool_output(schema)",
    ),
    (r#"{"when":"yesterday"}"#, Some(r#"{"properties":{"when":{"format":"date"}}}"#), "invalid_tool_output(schema)"),
];

#[tokio::test]
async fn an_output_is_one_json_value_of_the_declared_form() {
    for (output, schema, code) in OUTPUTS {
        let mut world = World::in_memory();
        world.add(giver(*schema), raw(output));
        let wire = Wire::asking_for(vec![proposed("c1", "give", "{}")]);
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), [*code], "{output:?} {schema:?}");
        assert_eq!(ran.stop().0, "completed");
        let content = wire.last_request()["messages"][2]["content"].as_str().unwrap().to_owned();
        if *code == "ok" {
            assert_eq!(content, *output);
            assert_eq!(ran.events_of(&EventType::ToolFinished).len(), 1);
        } else {
            assert!(content.contains("invalid_tool_output"), "{content}");
            assert!(ran.settled(0).data.is_none() && ran.events_of(&EventType::ToolFailed).len() == 1); // R-183
        }
    }
}

#[tokio::test]
async fn a_business_failure_is_not_checked_against_the_output_schema() {
    let world = World::in_memory();
    let fails = at_once(|_| Err(ToolExecutionError::new("not_here", "look elsewhere").into()));
    world.add(giver(Some(r#"{"type":"object","required":["id"]}"#)), fails);
    let ran = given(&world).await;
    assert_eq!(ran.codes(), ["not_here"]); // R-072
    assert!(ran.told(0).contains("look elsewhere"));
}
