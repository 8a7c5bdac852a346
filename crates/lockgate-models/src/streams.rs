//! Recorded streams, and made ones, in pieces: a turn is the same however its bytes were cut, and a stream that lost its end is no turn.

use std::path::{Path, PathBuf};

use lockgate_contract::ports::{ModelError, ModelResponse};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Provider;
use crate::framing::{Event, Frames};
use crate::wire::{Framing, Sent};

const MOST: usize = 8 * 1024 * 1024;

fn event(data: &Value) -> Event {
    Event { kind: String::new(), data: data.to_string() }
}

fn read(provider: Provider, events: &[Event]) -> Result<ModelResponse, ModelError> {
    let mut reader = provider.wire().reader(Sent::default());
    for event in events {
        reader.event(&event.kind, &event.data, &|_| {})?;
    }
    reader.finish()
}

/// The events of a stream that comes in these pieces.
fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut frames = Frames::new(Framing::Events, MOST);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(frames.feed(piece).unwrap());
    }
    events.extend(frames.end().unwrap());
    events
}

/// Every recorded stream, by its file, with the provider whose protocol it is.
fn recorded() -> Vec<(String, Provider, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/provider-traffic");
    let mut streams = Vec::new();
    for (folder, provider) in
        [(folder.join("chat"), Provider::OpenaiCompatible), (folder.join("responses"), Provider::Openai)]
    {
        let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let text = lockgate_host::files::read_to_string(&file).unwrap();
            if file.extension().is_some_and(|extension| extension == "sse") {
                streams.push((name, provider, text));
            } else if name.ends_with(".chunks.txt") {
                let events = text.lines().filter(|line| !line.is_empty()).map(|line| format!("data: {line}\n\n"));
                streams.push((name, provider, events.collect()));
            } else {
                let recording: Value = serde_json::from_str(&text).unwrap();
                let exchanges = recording["exchanges"].as_array().into_iter().flatten();
                let of_streams = exchanges.filter_map(|exchange| exchange["stream"].as_str());
                streams.extend(of_streams.map(|stream| (name.clone(), provider, stream.to_owned())));
            }
        }
    }
    assert_eq!(streams.len(), 34, "there are this many recorded streams");
    streams
}

#[test]
fn a_recorded_stream_cut_at_any_byte_ended_early_or_is_the_same_turn() {
    for (name, provider, text) in recorded() {
        let all = events([text.as_bytes()]);
        let whole = read(provider, &all);
        // Each byte for itself gives the same events; the end of the stream at a byte gives those that ended before it.
        assert_eq!(events(text.as_bytes().chunks(1)), all, "{name}");
        for many in 0..all.len() {
            match read(provider, &all[..many]) {
                Err(ModelError::Unreachable { .. }) => {}
                // Usage may come behind the turn's end.
                Ok(turn) => {
                    let whole = whole.as_ref().unwrap();
                    assert_eq!(
                        (&turn.text, &turn.calls, &turn.items),
                        (&whole.text, &whole.calls, &whole.items),
                        "{name}"
                    );
                }
                // A failure that was told in the stream is one from there on.
                error => assert_eq!(error, whole, "{name} after {many}"),
            }
        }
    }
}

/// A call to make a stream of: its index, its id, its name, and its arguments in pieces.
type Made = Vec<(String, Vec<String>)>;

fn made() -> impl Strategy<Value = Made> {
    let piece = prop_oneof![
        "[ -~é\u{1f600}]{0,6}",
        Just(r#"{"a": "#.to_owned()),
        Just("1.10}".to_owned()),
        Just("{}".to_owned())
    ];
    let call = ("[a-z]{1,6}", prop::collection::vec(piece, 0..6));
    prop::collection::vec(call, 0..5)
}

/// A turn of Chat Completions in pieces, the calls' mixed in the order that the numbers say.
fn chat(made: &Made, order: &[usize], ids: bool) -> Vec<Event> {
    let mut events = vec![event(&json!({"choices": [{"index": 0, "delta": {"content": "é"}}]}))];
    let piece = |index: usize, name: Option<&str>, arguments: &str| {
        let id = ids.then(|| format!("id{index}"));
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"index": index, "id": id, "function": function});
        event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    };
    events.extend(made.iter().enumerate().map(|(index, (name, _))| piece(index, Some(name), "")));
    for (index, at) in mixed(made, order) {
        events.push(piece(index, None, &made[index].1[at]));
    }
    events.push(event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})));
    events.push(event(&json!({"choices": [], "usage": {"prompt_tokens": 1}})));
    events.push(Event { kind: String::new(), data: "[DONE]".to_owned() });
    events
}

/// The same as a response.
fn response(made: &Made, order: &[usize], ids: bool) -> Vec<Event> {
    let item = |index: usize| {
        let (name, pieces) = &made[index];
        let id = if ids { format!("fc_{index}") } else { String::new() };
        json!({"type": "function_call", "id": id, "call_id": format!("id{index}"), "name": name, "arguments": pieces.concat()})
    };
    let mut events = Vec::new();
    for (index, at) in mixed(made, order) {
        let kind = "response.function_call_arguments.delta";
        events.push(event(&json!({"type": kind, "output_index": index, "delta": made[index].1[at]})));
    }
    for (index, (_, pieces)) in made.iter().enumerate() {
        let kind = "response.function_call_arguments.done";
        events.push(event(&json!({"type": kind, "output_index": index, "arguments": pieces.concat()})));
        events.push(event(&json!({"type": "response.output_item.done", "output_index": index, "item": item(index)})));
    }
    let output: Vec<Value> = (0..made.len()).map(item).collect();
    let response = json!({"status": "completed", "output": output, "usage": {"input_tokens": 1}});
    events.push(event(&json!({"type": "response.completed", "response": response})));
    events
}

/// The pieces of all calls, each call's in their own order.
fn mixed(made: &Made, order: &[usize]) -> Vec<(usize, usize)> {
    let mut next = vec![0; made.len()];
    let mut pieces = Vec::new();
    let left = |next: &[usize]| (0..made.len()).filter(|call| next[*call] < made[*call].1.len()).collect::<Vec<_>>();
    let mut order = order.iter().cycle();
    while let Some(calls) = Some(left(&next)).filter(|calls| !calls.is_empty()) {
        let call = calls[order.next().copied().unwrap_or_default() % calls.len()];
        pieces.push((call, next[call]));
        next[call] += 1;
    }
    pieces
}

/// What was done to a stream on its way.
#[derive(Debug, Clone)]
enum Harm {
    Dropped(usize),
    Doubled(usize),
    Swapped(usize, usize),
}

fn harms() -> impl Strategy<Value = Vec<Harm>> {
    let at = 0..64_usize;
    let harm = prop_oneof![
        at.clone().prop_map(Harm::Dropped),
        at.clone().prop_map(Harm::Doubled),
        (at.clone(), at).prop_map(|(from, to)| Harm::Swapped(from, to)),
    ];
    prop::collection::vec(harm, 1..6)
}

fn harmed(mut events: Vec<Event>, harms: &[Harm]) -> Vec<Event> {
    for harm in harms {
        let many = events.len();
        match *harm {
            _ if many == 0 => {}
            Harm::Dropped(at) => drop(events.remove(at % many)),
            Harm::Doubled(at) => events.insert(at % many, events[at % many].clone()),
            Harm::Swapped(from, to) => events.swap(from % many, to % many),
        }
    }
    events
}

/// What these events say the arguments of the call at an index are: its pieces as they came, and nothing else's.
fn said(events: &[Event], index: u64) -> String {
    let parsed = events.iter().filter_map(|event| serde_json::from_str::<Value>(&event.data).ok());
    let calls = parsed.map(|data| data["choices"][0]["delta"]["tool_calls"][0].clone());
    let of_call = calls.filter(|call| call["index"].as_u64() == Some(index));
    of_call.map(|call| call["function"]["arguments"].as_str().unwrap_or_default().to_owned()).collect()
}

fn as_bytes(events: &[Event]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {}\r\n\r\n", event.data).into_bytes()).collect()
}

proptest! {
    #[test]
    fn a_turn_is_the_same_however_its_bytes_are_cut(
        made in made(), order in prop::collection::vec(0..8_usize, 1..8), cuts in prop::collection::vec(1..40_usize, 1..8), ids: bool,
    ) {
        for (provider, sent) in [
            (Provider::OpenaiCompatible, chat(&made, &order, ids)),
            (Provider::Openai, response(&made, &order, ids)),
        ] {
            let bytes = as_bytes(&sent);
            let mut rest = bytes.as_slice();
            let mut pieces = Vec::new();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, left) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = left;
            }
            let turn = read(provider, &events(pieces)).unwrap();
            let texts: Vec<String> = turn.calls.iter().map(|call| call.arguments_text.clone()).collect();
            let expected: Vec<String> = made.iter().map(|(_, pieces)| pieces.concat()).collect();
            prop_assert_eq!(texts, expected);
            let names: Vec<&str> = turn.calls.iter().map(|call| call.name.as_str()).collect();
            prop_assert_eq!(names, made.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_harmed_stream_yields_no_call_with_arguments_that_were_not_its_own(
        made in made(), order in prop::collection::vec(0..8_usize, 1..8), harms in harms(),
    ) {
        // The pieces of Chat Completions are all that there is: whatever of them came for a call is its text, and no other's.
        let came = harmed(chat(&made, &order, true), &harms);
        if let Ok(turn) = read(Provider::OpenaiCompatible, &came) {
            for call in turn.calls {
                let index: u64 = call.provider_call_id.trim_start_matches("id").parse().unwrap();
                prop_assert_eq!(call.arguments_text, said(&came, index));
                prop_assert_eq!(call.name.as_str(), made[usize::try_from(index).unwrap()].0.as_str());
            }
        }
        // A response says in the end what it is: a call is the one that was sent, or there is none.
        if let Ok(turn) = read(Provider::Openai, &harmed(response(&made, &order, true), &harms)) {
            for call in turn.calls {
                let index: usize = call.provider_call_id.trim_start_matches("id").parse().unwrap();
                prop_assert_eq!(call.arguments_text, made[index].1.concat());
                prop_assert_eq!(call.name.as_str(), made[index].0.as_str());
            }
        }
    }

    #[test]
    fn nothing_that_a_server_sends_panics(
        text in "\\PC{0,40}", at in 0..64_usize, made in made(), byte: u8, order in prop::collection::vec(0..8_usize, 1..4),
    ) {
        for (provider, sent) in [
            (Provider::OpenaiCompatible, chat(&made, &order, true)),
            (Provider::Openai, response(&made, &order, true)),
        ] {
            let _ = read(provider, &[Event { kind: "error".to_owned(), data: text.clone() }]);
            let _ = provider.wire().read(text.clone(), Sent::default());
            let mut bytes = as_bytes(&sent);
            let at = at * 7 % bytes.len();
            bytes[at] = byte;
            let mut frames = Frames::new(Framing::Events, MOST);
            if let Ok(events) = frames.feed(&bytes) {
                let _ = read(provider, &events);
            }
        }
    }
}
