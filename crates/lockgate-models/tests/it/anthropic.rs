//! Recorded traffic with Messages (`testdata/provider-traffic/anthropic`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Delta, Message, MessageCall, ModelAdapter, ModelError, ModelRequest, ModelResponse, ProviderItem, ToolDefinition,
};
use lockgate_models::{Prices, Provider, RemoteModel, RemoteOptions};
use serde_json::{Value, json};

use crate::server::{Received, Reply, Server};

fn model(server: &Server) -> RemoteModel {
    let base_url = server.options().base_url.map(|url| url.trim_end_matches("/v1").to_owned());
    let options = RemoteOptions { base_url, ..RemoteOptions::new(Provider::Anthropic, "test-model") };
    RemoteModel::with_environment(options, |name| (name == "ANTHROPIC_API_KEY").then(|| "k".to_owned())).unwrap()
}

fn exchanges() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/provider-traffic/anthropic");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let of_file = files.iter().flat_map(|path| {
        let text = lockgate_host::files::read_to_string(path).unwrap();
        let recording: Value = serde_json::from_str(&text).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        recording["exchanges"].as_array().unwrap().clone().into_iter().map(move |exchange| (name.clone(), exchange))
    });
    of_file.collect()
}

/// The bytes of a stream of these events.
fn events(events: &[Value]) -> String {
    let of = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(of).collect()
}

fn streamed(body: String) -> Reply {
    Reply::Answer(200, vec![("content-type", "text/event-stream; charset=utf-8".to_owned())], body)
}

/// A whole answer as the events that a server would send for it, each text in two pieces.
fn in_pieces(answer: &Value) -> Vec<Value> {
    let mut all = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}})];
    for (index, block) in list(&answer["content"]).iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        for (key, kind) in [("text", "text_delta"), ("thinking", "thinking_delta"), ("signature", "signature_delta")] {
            if let Some(text) = block[key].as_str() {
                start[key] = json!("");
                let (first, second) =
                    text.split_at(text.char_indices().nth(text.chars().count() / 2).map_or(0, |c| c.0));
                deltas.extend([json!({"type": kind, key: first}), json!({"type": kind, key: second})]);
            }
        }
        if let Some(citations) = block["citations"].as_array() {
            start["citations"] = json!([]);
            deltas.extend(citations.iter().map(|one| json!({"type": "citations_delta", "citation": one})));
        }
        if block["type"].as_str().unwrap().ends_with("tool_use") {
            start["input"] = json!({});
            let text = if block["input"] == json!({}) { String::new() } else { block["input"].to_string() };
            deltas.push(json!({"type": "input_json_delta", "partial_json": text}));
        }
        all.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        all.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    all.push(
        json!({"type": "message_delta", "delta": {"stop_reason": answer["stop_reason"]}, "usage": answer["usage"]}),
    );
    all.push(json!({"type": "message_stop"}));
    all
}

/// The blocks of recorded events, put together by other means than the adapter's.
fn folded(all: &[Value]) -> Value {
    let (mut blocks, mut inputs): (Vec<Value>, BTreeMap<usize, String>) = (Vec::new(), BTreeMap::new());
    let mut usage = json!({});
    for event in all {
        let at = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        let counts = if event["message"].is_object() { &event["message"]["usage"] } else { &event["usage"] };
        for (key, count) in counts.as_object().into_iter().flatten() {
            usage[key] = count.clone();
        }
        if event["type"] == "content_block_start" {
            blocks.push(event["content_block"].clone());
        }
        if let Some(text) = event["delta"]["text"].as_str() {
            blocks[at]["text"] = json!(blocks[at]["text"].as_str().unwrap().to_owned() + text);
        }
        if let Some(text) = event["delta"]["partial_json"].as_str() {
            inputs.entry(at).or_default().push_str(text);
        }
    }
    for (at, text) in inputs.into_iter().filter(|(_, text)| !text.is_empty()) {
        blocks[at]["input"] = serde_json::from_str(&text).unwrap();
    }
    json!({"content": blocks, "usage": usage})
}

fn data(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

async fn stream(body: String, request: &ModelRequest) -> (ModelResponse, String) {
    let server = Server::start(vec![streamed(body)]);
    let said = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&said);
    let heard = move |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            log.lock().unwrap().push_str(text);
        }
    };
    let response = model(&server).stream(request, &heard).await.unwrap();
    server.finish().await;
    let said = said.lock().unwrap().clone();
    (response, said)
}

/// Checks a response against the recorded blocks; returns how many calls there are.
fn assert_read(name: &str, response: &ModelResponse, recorded: &Value) -> usize {
    let content = list(&recorded["content"]);
    let text: String = content.iter().filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(response.text.as_deref().unwrap_or_default(), text, "{name}");
    let calls: Vec<&Value> = content.iter().filter(|block| block["type"] == "tool_use").collect();
    assert_eq!(response.calls.len(), calls.len(), "{name}");
    for (call, recorded) in response.calls.iter().zip(&calls) {
        assert_eq!((&json!(call.name), &json!(call.provider_call_id)), (&recorded["name"], &recorded["id"]), "{name}");
        assert_eq!(serde_json::from_str::<Value>(&call.arguments_text).unwrap(), recorded["input"], "{name}");
    }
    let kept: Vec<Value> = response.items.iter().map(|item| serde_json::from_str(item.item.text()).unwrap()).collect();
    for block in content.iter().filter(|block| block["type"] != "text" && block["type"] != "tool_use") {
        let id = |block: &Value| (block["type"].clone(), block["id"].clone(), block["tool_use_id"].clone());
        assert!(kept.iter().any(|kept| id(kept) == id(block)), "{name}: {block}");
    }
    let usage = &recorded["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or_default();
    let input = count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens");
    assert_eq!(response.usage.input_tokens, Some(input), "{name}");
    assert_eq!(response.usage.output_tokens, usage["output_tokens"].as_u64(), "{name}");
    assert_eq!(response.usage.cached_input_tokens, usage["cache_read_input_tokens"].as_u64(), "{name}");
    let thought = usage["output_tokens_details"]["thinking_tokens"].as_u64();
    assert_eq!(response.usage.reasoning_tokens, thought, "{name}");
    calls.len()
}

#[tokio::test]
async fn every_recorded_answer_is_read_exactly_whole_and_in_pieces() {
    let (mut whole, mut in_events, mut calls) = (0, 0, 0);
    for (name, exchange) in exchanges() {
        let request = request(&exchange["request"]);
        if exchange["response"].is_object() {
            let answer = &exchange["response"];
            let server = Server::start(vec![Reply::json(200, answer.to_string())]);
            let response = model(&server).respond(&request).await.unwrap();
            server.finish().await;
            calls += assert_read(&name, &response, answer);
            let (again, _) = stream(events(&in_pieces(answer)), &request).await;
            assert_eq!(again, response, "{name}");
            whole += 1;
            continue;
        }
        let recorded = if let Some(stream) = exchange["stream"].as_str() {
            stream.to_owned()
        } else {
            let chunks = list(&exchange["chunks"]).iter();
            let all: Vec<Value> = chunks.map(|chunk| serde_json::from_str(chunk.as_str().unwrap()).unwrap()).collect();
            events(&all)
        };
        let (response, said) = stream(recorded.clone(), &request).await;
        calls += assert_read(&name, &response, &folded(&data(&recorded)));
        assert_eq!(said, response.text.unwrap_or_default(), "{name}");
        in_events += 1;
    }
    assert_eq!((whole, in_events, calls), (61, 14, 45), "the recordings hold this many");
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_is_no_turn() {
    for (name, exchange) in exchanges().into_iter().filter(|(_, exchange)| exchange["chunks"].is_array()) {
        let chunks: Vec<Value> = list(&exchange["chunks"])
            .iter()
            .map(|chunk| serde_json::from_str(chunk.as_str().unwrap()).unwrap())
            .collect();
        for end in [0, 1, chunks.len() / 2, chunks.len() - 2, chunks.len() - 1] {
            let server = Server::start(vec![streamed(events(&chunks[..end]))]);
            let error = model(&server).stream(&request(&Value::Null), &|_| {}).await.unwrap_err();
            server.finish().await;
            assert_eq!(error.code(), "model_unreachable", "{name} {end}");
        }
    }
}

#[tokio::test]
async fn every_recorded_conversation_is_sent_as_it_was() {
    let (mut requests, mut results) = (0, 0);
    for (name, exchange) in exchanges() {
        let recorded = &exchange["request"];
        // What a later protocol adds: a system message with a tool in it.
        if recorded.is_null() || list(&recorded["messages"]).iter().any(|message| message["role"] == "system") {
            continue;
        }
        let server = Server::start(vec![Reply::json(200, r#"{"content": [], "stop_reason": "end_turn"}"#)]);
        model(&server).respond(&request(recorded)).await.unwrap();
        let [Received { head, body }] = server.finish().await.try_into().unwrap();
        assert!(head.starts_with("post /v1/messages http/1.1\r\n") && head.contains("\r\nx-api-key: k\r\n"), "{head}");
        assert!(head.contains("\r\nanthropic-version: 2023-06-01\r\n") && !head.contains("authorization"), "{head}");
        let sent: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(sent["max_tokens"], 8192);
        let system = |of: &Value| match of.as_str() {
            Some(text) => text.to_owned(),
            None => list(of).iter().filter_map(|block| block["text"].as_str()).collect(),
        };
        assert_eq!(system(&sent["system"]), system(&recorded["system"]), "{name}");
        assert_eq!(list(&sent["messages"]).len(), list(&recorded["messages"]).len(), "{name}");
        for (message, recorded) in list(&sent["messages"]).iter().zip(list(&recorded["messages"])) {
            assert_eq!(message["role"], recorded["role"], "{name}");
            let (blocks, recorded) = (one_text(&message["content"]), one_text(&recorded["content"]));
            assert_eq!(blocks.len(), recorded.len(), "{name}: {message} {recorded:?}");
            for (block, recorded) in blocks.iter().zip(&recorded) {
                let mut recorded = recorded.clone();
                if recorded["type"] == "tool_result" {
                    results += 1;
                    recorded["content"] = json!(recorded["content"].to_string());
                }
                recorded.as_object_mut().unwrap().remove("cache_control");
                assert_eq!(*block, recorded, "{name}");
            }
        }
        let tools = list(&recorded["tools"]).iter().filter(|tool| tool["input_schema"].is_object());
        for (tool, recorded) in list(&sent["tools"]).iter().zip(tools) {
            for key in ["name", "description", "input_schema"] {
                assert_eq!(tool[key], recorded[key], "{name}");
            }
        }
        requests += 1;
    }
    assert_eq!((requests, results), (51, 40), "the recordings hold this many");
}

#[tokio::test]
async fn an_overload_is_typed_and_a_turn_costs_what_its_tokens_do() {
    let overloaded = r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    let headers = vec![("retry-after", "7".to_owned())];
    let counted =
        r#"{"content": [], "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5}}"#;
    let server = Server::start(vec![Reply::Answer(529, headers, overloaded.to_owned()), Reply::json(200, counted)]);
    let base_url = server.options().base_url.map(|url| url.trim_end_matches("/v1").to_owned());
    let prices = Some(Prices { input: 3_000_000, cached_input: Some(300_000), output: 15_000_000 });
    let options = RemoteOptions { base_url, prices, ..RemoteOptions::new(Provider::Anthropic, "m") };
    let model = RemoteModel::with_environment(options, |_| None).unwrap();
    let expected = ModelError::Overloaded {
        detail: "status 529: Overloaded".to_owned(),
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(model.respond(&request(&Value::Null)).await.unwrap_err(), expected);
    let response = model.respond(&request(&Value::Null)).await.unwrap();
    assert_eq!(response.usage.cost_microusd, Some(30 + 27 + 75));
    server.finish().await;
}

/// Blocks, with texts that stand side by side as one.
fn one_text(content: &Value) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for block in list(content) {
        match blocks.last_mut() {
            Some(last) if last["type"] == "text" && block["type"] == "text" => {
                last["text"] = json!(last["text"].as_str().unwrap().to_owned() + block["text"].as_str().unwrap());
            }
            _ => blocks.push(block.clone()),
        }
    }
    blocks
}

/// The neutral form of a recorded request.
fn request(recorded: &Value) -> ModelRequest {
    let run = RunId::new("run-000000000001");
    let mut call_ids: BTreeMap<String, CallId> = BTreeMap::new();
    let mut messages = Vec::new();
    match recorded["system"].as_str() {
        Some(text) => messages.push(Message::System { text: text.to_owned() }),
        None => messages.extend(
            list(&recorded["system"])
                .iter()
                .map(|block| Message::System { text: block["text"].as_str().unwrap().to_owned() }),
        ),
    }
    for (step, message) in (0..).zip(list(&recorded["messages"])) {
        let content = list(&message["content"]);
        if message["role"] == "assistant" {
            messages.push(assistant(&run, step, content, &mut call_ids));
            continue;
        }
        for block in content {
            match block["type"].as_str().unwrap() {
                "text" => messages.push(Message::User { text: block["text"].as_str().unwrap().to_owned() }),
                "tool_result" => messages.push(Message::Tool {
                    call_id: call_ids[block["tool_use_id"].as_str().unwrap()].clone(),
                    ok: block["is_error"] != true,
                    content: document(&block["content"]),
                }),
                _ => {}
            }
        }
    }
    let tools = list(&recorded["tools"]).iter().filter(|tool| tool["input_schema"].is_object());
    let tools = tools.map(|tool| ToolDefinition {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        input_schema: document(&tool["input_schema"]),
    });
    ModelRequest { step: 0, messages, tools: tools.collect() }
}

fn assistant(run: &RunId, step: u32, content: &[Value], call_ids: &mut BTreeMap<String, CallId>) -> Message {
    let (mut text, mut calls, mut items) = (String::new(), Vec::new(), Vec::new());
    let has_items = content.iter().any(|block| block["type"] != "text" && block["type"] != "tool_use");
    for block in content {
        let before = u32::try_from(calls.len()).unwrap();
        text.push_str(block["text"].as_str().unwrap_or_default());
        if block["type"] == "tool_use" {
            let id = block["id"].as_str().unwrap().to_owned();
            let call_id = run.call(step, before);
            call_ids.insert(id.clone(), call_id.clone());
            calls.push(MessageCall {
                call_id,
                provider_call_id: id,
                name: block["name"].as_str().unwrap().to_owned(),
                arguments_text: block["input"].to_string(),
                language: ActionLanguage::Call,
            });
        } else if has_items {
            items.push(ProviderItem { adapter: "anthropic".to_owned(), before, item: document(block) });
        }
    }
    Message::Assistant { text: (!text.is_empty()).then_some(text), calls, items }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn document(value: &Value) -> Document {
    let text = value.to_string();
    Document::parse(text.as_str(), Limits { max_bytes: text.len(), max_depth: 64 }).unwrap()
}
