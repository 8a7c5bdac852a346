//! Gemini's recorded traffic: what the provider answered is read exactly, whole and as a stream; what its own client sent is what this
//! adapter sends; and what came with a part goes back with it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Delta, Message, MessageCall, ModelAdapter, ModelRequest, ModelResponse, ToolDefinition,
};
use lockgate_models::{Provider, ToolCalls};
use serde_json::{Value, json};

use crate::recorded::{continue_with, document, exchanges, list};
use crate::server::{Reply, Server};

const RECORDINGS: [&str; 15] = [
    "gemini-choice-auto",
    "gemini-choice-list-single",
    "gemini-choice-none",
    "gemini-choice-none-with-output",
    "gemini-code-execution",
    "gemini-instructions-only-with-tool-calls",
    "gemini-model-structured-output",
    "gemini-model-thinking-part-from-other-model",
    "gemini-model-web-search-history",
    "gemini-multiple-agent-tool-calls",
    "gemini-nested-models",
    "gemini-prompted-output-with-tools",
    "gemini-thinking-with-tool-calls-from-other-model",
    "gemini-tool-output",
    "gemini-vertex-tool-combination",
];

/// Streams, with the calls in them and the text.
const STREAMS: [(&str, &[(&str, &str)]); 5] = [
    (
        "no-args-tool-call",
        &[
            ("read_theme", ""),
            ("read_screen", r#"{"id":"A"}"#),
            ("read_screen", r#"{"id":"B"}"#),
            ("read_screen", r#"{"id":"C"}"#),
        ],
    ),
    ("tool-call", &[("weather", r#"{"location":"San Francisco"}"#)]),
    (
        "tool-call-arguments",
        &[("getWeather", r#"{"location":"Boston"}"#), ("getWeather", r#"{"location":"San Francisco"}"#)],
    ),
    (
        "tool-call-array-arguments-missing-terminal-function-call",
        &[(
            "writeItems",
            concat!(
                r#"{"operations":[{"action":"add","description":"Fresh red apple","itemid":"apple_001","price":0.5},"#,
                r#"{"action":"add","description":"Ripe yellow banana","itemid":"banana_001","price":0.3}]}"#
            ),
        )],
    ),
    ("tool-call-gemini3", &[("weather", r#"{"location":"San Francisco"}"#)]),
];

/// Asks a server of one reply for a stream, and returns the turn with the text that was heard.
async fn streamed(reply: Reply) -> (ModelResponse, String) {
    let server = Server::start(vec![reply]);
    let heard = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&heard);
    let model = server.model_of(Provider::Gemini, ToolCalls::Native);
    let listen = move |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            into.lock().unwrap().push_str(text);
        }
    };
    let response = model.stream(&hello(), &listen).await.unwrap();
    let [received] = server.finish().await.try_into().unwrap();
    let expected = "post /base/models/test-model:streamgeneratecontent?alt=sse http/1.1\r\n";
    assert!(received.head.starts_with(expected), "{}", received.head);
    let heard = heard.lock().unwrap().clone();
    (response, heard)
}

fn hello() -> ModelRequest {
    ModelRequest { step: 0, messages: vec![Message::User { text: "Hi".to_owned() }], tools: Vec::new() }
}

fn parts(response: &Value) -> &[Value] {
    list(&response["candidates"][0]["content"]["parts"])
}

#[tokio::test]
async fn every_recorded_answer_is_read_exactly_whole_and_as_a_stream() {
    let (mut calls, mut signatures) = (0, 0);
    for name in RECORDINGS {
        for exchange in exchanges(name) {
            let recorded = &exchange["response"];
            let server = Server::start(vec![Reply::json(200, recorded.to_string())]);
            let model = server.model_of(Provider::Gemini, ToolCalls::Native);
            let response = model.respond(&request(&exchange["request"]).await).await.unwrap();
            let [received] = server.finish().await.try_into().unwrap();
            assert!(received.head.starts_with("post /base/models/test-model:generatecontent http/1.1\r\n"));

            let said: String = parts(recorded)
                .iter()
                .filter(|part| part["thought"] != true)
                .filter_map(|part| part["text"].as_str())
                .collect();
            assert_eq!(response.text.clone().unwrap_or_default(), said, "{name}");
            let expected = parts(recorded).iter().map(|part| &part["functionCall"]).filter(|call| call.is_object());
            let expected: Vec<_> = expected
                .map(|call| {
                    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
                    (text("id"), text("name"), call["args"].to_string())
                })
                .collect();
            let seen = response.calls.iter().cloned();
            let seen: Vec<_> = seen.map(|call| (call.provider_call_id, call.name, call.arguments_text)).collect();
            assert_eq!(seen, expected, "{name}");
            let counts = &recorded["usageMetadata"];
            let count = |key: &str| counts[key].as_u64();
            let input = count("promptTokenCount").unwrap() + count("toolUsePromptTokenCount").unwrap_or(0);
            let output = count("candidatesTokenCount").unwrap() + count("thoughtsTokenCount").unwrap_or(0);
            assert_eq!(response.usage.input_tokens, Some(input), "{name}");
            assert_eq!(response.usage.output_tokens, Some(output), "{name}");
            assert_eq!(response.usage.reasoning_tokens, count("thoughtsTokenCount"), "{name}");

            assert_eq!(
                streamed(Reply::events([recorded.to_string().as_str()])).await,
                (response.clone(), said),
                "{name}"
            );
            calls += response.calls.len();
            signatures += parts(recorded).iter().filter(|part| part.get("thoughtSignature").is_some()).count();
        }
    }
    assert_eq!((calls, signatures), (19, 15), "the recordings hold so many calls and signatures");
}

#[tokio::test]
async fn what_came_with_a_part_goes_back_with_it() {
    let mut turns = 0;
    for name in RECORDINGS {
        for exchange in exchanges(name) {
            let reply = || Reply::json(200, exchange["response"].to_string());
            let server = Server::start(vec![reply(), reply()]);
            let model = server.model_of(Provider::Gemini, ToolCalls::Native);
            let mut request = hello();
            let response = model.respond(&request).await.unwrap();
            let results = response.calls.len();
            continue_with(&mut request, response);
            model.respond(&request).await.unwrap();
            let received = server.finish().await;
            let sent: Value = serde_json::from_str(&received[1].body).unwrap();
            let told = list(&sent["contents"][1]["parts"]);
            let recorded: Vec<_> =
                parts(&exchange["response"]).iter().filter(|part| part["text"] != "").cloned().collect();
            assert_agrees(name, &json!(told), &json!(recorded));
            let answers = list(&sent["contents"][2]["parts"]);
            assert_eq!(answers.len(), results, "{name}");
            for (answer, call) in answers.iter().zip(told.iter().filter(|part| part.get("functionCall").is_some())) {
                assert_eq!(answer["functionResponse"]["id"], call["functionCall"]["id"], "{name}");
                assert_eq!(answer["functionResponse"]["name"], call["functionCall"]["name"], "{name}");
                assert_eq!(answer["functionResponse"]["response"], json!({"ok": true}), "{name}");
            }
            turns += 1;
        }
    }
    assert_eq!(turns, 25);
}

#[tokio::test]
async fn every_recorded_conversation_is_sent_as_it_was() {
    let mut results = 0;
    for name in RECORDINGS {
        for exchange in exchanges(name) {
            let server = Server::start(vec![Reply::json(200, exchange["response"].to_string())]);
            let model = server.model_of(Provider::Gemini, ToolCalls::Native);
            model.respond(&request(&exchange["request"]).await).await.unwrap();
            let [received] = server.finish().await.try_into().unwrap();
            let sent: Value = serde_json::from_str(&received.body).unwrap();
            let recorded = &exchange["request"];
            for (content, recorded) in list(&sent["contents"]).iter().zip(list(&recorded["contents"])) {
                assert_agrees(name, content, &merged(recorded));
                let answers = list(&content["parts"]).iter().filter(|part| part.get("functionResponse").is_some());
                results += answers.count();
            }
            assert_eq!(list(&sent["contents"]).len(), list(&recorded["contents"]).len(), "{name}");
            assert_agrees(name, &sent["systemInstruction"], &recorded["systemInstruction"]);
            for (sent, recorded) in list(&sent["tools"][0]["functionDeclarations"]).iter().zip(declarations(recorded)) {
                assert_eq!(sent["name"], recorded["name"], "{name}");
                assert_eq!(sent["description"], recorded["description"], "{name}");
                assert_eq!(sent["parametersJsonSchema"], schema(recorded), "{name}");
            }
            let known = ["contents", "systemInstruction", "tools"];
            assert!(sent.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{sent}");
        }
    }
    assert_eq!(results, 25, "the recordings hold so many results");
}

#[tokio::test]
async fn every_recorded_stream_becomes_its_calls() {
    for (name, expected) in STREAMS {
        let data = stream(name);
        let (response, heard) = streamed(Reply::events(data.lines())).await;
        let calls: Vec<_> =
            response.calls.iter().map(|call| (call.name.as_str(), call.arguments_text.as_str())).collect();
        assert_eq!(calls, expected, "{name}");
        assert_eq!(response.text.clone().unwrap_or_default(), heard, "{name}");
        let last: Value = serde_json::from_str(data.lines().last().unwrap()).unwrap();
        let counts = &last["usageMetadata"];
        assert_eq!(response.usage.input_tokens, counts["promptTokenCount"].as_u64(), "{name}");
        assert_eq!(response.usage.reasoning_tokens, counts["thoughtsTokenCount"].as_u64(), "{name}");

        // The signature stands on the very call.
        let server = Server::start(vec![Reply::json(500, "")]);
        let mut request = hello();
        continue_with(&mut request, response);
        server.model_of(Provider::Gemini, ToolCalls::Native).respond(&request).await.unwrap_err();
        let [received] = server.finish().await.try_into().unwrap();
        let sent: Value = serde_json::from_str(&received.body).unwrap();
        let call = list(&sent["contents"][1]["parts"]).iter().find(|part| part.get("functionCall").is_some()).unwrap();
        let signed = data.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let signature =
            signed.flat_map(|piece| parts(&piece).to_vec()).find_map(|part| part.get("thoughtSignature").cloned());
        assert_eq!(call.get("thoughtSignature"), signature.as_ref(), "{name}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_no_turn() {
    for (name, _) in STREAMS {
        let data = stream(name);
        let pieces: Vec<&str> = data.lines().collect();
        for length in 0..pieces.len() {
            let server = Server::start(vec![Reply::events(pieces[..length].iter().copied())]);
            let model = server.model_of(Provider::Gemini, ToolCalls::Native);
            let error = model.stream(&hello(), &|_| ()).await.unwrap_err();
            assert_eq!(error.code(), "model_unreachable", "{name} after {length} pieces: {error}");
            server.finish().await;
        }
    }
}

fn stream(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/provider-traffic");
    lockgate_host::files::read_to_string(&folder.join(format!("gemini-stream-{name}.chunks.txt"))).unwrap()
}

/// Checks that two values say the same where both say something.
fn assert_agrees(name: &str, sent: &Value, recorded: &Value) {
    match (sent, recorded) {
        (Value::Object(sent), Value::Object(recorded)) => {
            for (key, value) in sent {
                assert_agrees(name, value, recorded.get(key).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(sent), Value::Array(recorded)) => {
            assert_eq!(sent.len(), recorded.len(), "{name}: {sent:?} is not {recorded:?}");
            for (sent, recorded) in sent.iter().zip(recorded) {
                assert_agrees(name, sent, recorded);
            }
        }
        (_, Value::Null) | (Value::Null, _) => {}
        _ => assert_eq!(sent, recorded, "{name}"),
    }
}

/// A recorded content with texts that stand side by side made one, as the neutral history has them.
fn merged(content: &Value) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for part in list(&content["parts"]) {
        let is_plain = |part: &Value| part["text"].is_string() && part.as_object().unwrap().len() == 1;
        match parts.last_mut() {
            Some(last) if is_plain(last) && is_plain(part) => {
                last["text"] = json!(format!("{}{}", last["text"].as_str().unwrap(), part["text"].as_str().unwrap()));
            }
            _ => parts.push(part.clone()),
        }
    }
    // Thoughts of one turn come one by one, and are one thought.
    let is_thought = |part: &Value| part["thought"] == true;
    let thoughts: String =
        parts.iter().filter(|part| is_thought(part)).filter_map(|part| part["text"].as_str()).collect();
    parts.dedup_by(|next, first| is_thought(next) && is_thought(first));
    if let Some(first) = parts.iter_mut().find(|part| is_thought(part)) {
        first["text"] = json!(thoughts);
    }
    json!({"role": content["role"], "parts": parts})
}

fn declarations(recorded: &Value) -> Vec<&Value> {
    let tools = &recorded["tools"];
    let lists = list(tools).iter().chain(tools.is_object().then_some(tools));
    lists
        .flat_map(|tool| list(&tool["functionDeclarations"]).iter().chain(list(&tool["function_declarations"])))
        .collect()
}

fn schema(declaration: &Value) -> Value {
    let keys = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
    keys.iter().find_map(|key| declaration.get(key)).unwrap().clone()
}

/// The neutral form of a recorded request. A turn of the model comes from the adapter itself, which is shown it as an answer.
async fn request(recorded: &Value) -> ModelRequest {
    let run = RunId::new("run-000000000001");
    let mut messages = Vec::new();
    for part in list(&recorded["systemInstruction"]["parts"]) {
        messages.push(Message::System { text: part["text"].as_str().unwrap().to_owned() });
    }
    let mut open: Vec<CallId> = Vec::new();
    for (step, content) in (0..).zip(list(&recorded["contents"])) {
        if content["role"] == "model" {
            let answer = json!({"candidates": [{"content": content, "finishReason": "STOP"}]});
            let server = Server::start(vec![Reply::json(200, answer.to_string())]);
            let turn = server.model_of(Provider::Gemini, ToolCalls::Native).respond(&hello()).await.unwrap();
            server.finish().await;
            let calls = (0..).zip(turn.calls).map(|(index, call)| MessageCall {
                call_id: run.call(step, index),
                provider_call_id: call.provider_call_id,
                name: call.name,
                arguments_text: call.arguments_text,
                language: call.language,
            });
            let calls: Vec<_> = calls.collect();
            open = calls.iter().map(|call| call.call_id.clone()).collect();
            messages.push(Message::Assistant { text: turn.text, calls, items: turn.items });
            continue;
        }
        for part in list(&content["parts"]) {
            messages.push(match part.get("functionResponse") {
                Some(answer) => Message::Tool {
                    call_id: open.remove(0),
                    ok: true,
                    content: document(&answer["response"].to_string()),
                },
                None => Message::User { text: part["text"].as_str().unwrap().to_owned() },
            });
        }
    }
    let tools = declarations(recorded).into_iter().map(|tool| ToolDefinition {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().unwrap().to_owned(),
        input_schema: document(&schema(tool).to_string()),
    });
    ModelRequest { step: 0, messages, tools: tools.collect() }
}
