//! Recorded traffic (`testdata/provider-traffic`): what real servers answered is read exactly, and what real clients sent is
//! what this adapter sends.

use std::path::Path;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Message, MessageCall, ModelAdapter, ModelRequest, ModelResponse, ProposedCall, ToolDefinition,
};
use serde_json::Value;

use crate::server::{Reply, Server};

const RECORDINGS: [&str; 10] = [
    "deepseek-dice",
    "gemini-empty-id",
    "groq-summary",
    "groq-tool-use-failed",
    "mistral-weather",
    "ollama-final-result",
    "openai-weather",
    "openrouter-nested",
    "openrouter-no-arguments",
    "xai-weather",
];

#[tokio::test]
async fn every_recorded_answer_is_read_exactly() {
    let mut calls = 0;
    for name in RECORDINGS {
        for exchange in exchanges(name) {
            let server = Server::start(vec![reply(&exchange)]);
            let response = server.model().respond(&request(&exchange["request"])).await;
            server.finish().await;
            if exchange["status"] != 200 {
                let error = response.unwrap_err();
                assert_eq!(error.code(), "model_invalid_request", "{name}");
                let said = exchange["response"]["error"]["message"].as_str().unwrap();
                assert!(error.to_string().contains(said), "{name}: {error}");
                continue;
            }
            let response = response.unwrap();
            let message = &exchange["response"]["choices"][0]["message"];
            assert_eq!(response.calls, recorded_calls(message), "{name}");
            let text = message["content"].as_str().filter(|text| !text.is_empty());
            assert_eq!(response.text.as_deref(), text, "{name}");
            let usage = &exchange["response"]["usage"];
            assert_eq!(response.usage.input_tokens, usage["prompt_tokens"].as_u64(), "{name}");
            let count = |usage: &Value| usage.as_u64().unwrap_or_default();
            let (read, said) = (count(&usage["prompt_tokens"]), count(&usage["completion_tokens"]));
            let thought = count(&usage["completion_tokens_details"]["reasoning_tokens"]);
            // xAI counts what only the model reads beside what it said.
            let beside = if read + said + thought == count(&usage["total_tokens"]) { thought } else { 0 };
            assert_eq!(response.usage.output_tokens, Some(said + beside), "{name}");
            calls += response.calls.len();
        }
    }
    assert_eq!(calls, 13, "the recordings hold this many calls");
}

#[tokio::test]
async fn every_recorded_conversation_is_sent_as_it_was() {
    let mut results = 0;
    for name in RECORDINGS {
        for exchange in exchanges(name).into_iter().filter(|exchange| exchange["request"].is_object()) {
            let server = Server::start(vec![reply(&exchange)]);
            let _ = server.model().respond(&request(&exchange["request"])).await;
            let [received] = server.finish().await.try_into().unwrap();
            let sent: Value = serde_json::from_str(&received.body).unwrap();
            results += assert_paired(&sent);

            let messages = sent["messages"].as_array().unwrap();
            let recorded = exchange["request"]["messages"].as_array().unwrap();
            assert_eq!(messages.len(), recorded.len(), "{name}");
            for (message, recorded) in messages.iter().zip(recorded) {
                assert_eq!(message["role"], recorded["role"], "{name}");
                assert_eq!(message["tool_call_id"], recorded["tool_call_id"], "{name}");
                for (call, recorded) in list(&message["tool_calls"]).iter().zip(list(&recorded["tool_calls"])) {
                    assert_eq!(call["id"], recorded["id"], "{name}");
                    assert_eq!(call["function"], recorded["function"], "{name}");
                }
                assert_eq!(list(&message["tool_calls"]).len(), list(&recorded["tool_calls"]).len(), "{name}");
            }
            for (tool, recorded) in list(&sent["tools"]).iter().zip(list(&exchange["request"]["tools"])) {
                assert_eq!(tool["function"]["name"], recorded["function"]["name"], "{name}");
                assert_eq!(tool["function"]["parameters"], recorded["function"]["parameters"], "{name}");
                assert!(tool["function"].get("strict").is_none(), "{name}");
            }
        }
    }
    assert_eq!(results, 10, "the recordings hold this many results");
}

#[tokio::test]
async fn calls_that_came_back_are_sent_on_in_pairs_even_without_ids() {
    for name in ["gemini-empty-id", "deepseek-dice", "openrouter-no-arguments", "openai-weather", "xai-weather"] {
        let exchange = exchanges(name).into_iter().next().unwrap();
        let server = Server::start(vec![reply(&exchange), reply(&exchange)]);
        let model = server.model();
        let mut request = request(&exchange["request"]);
        let first = model.respond(&request).await.unwrap();
        let ids: Vec<String> = first.calls.iter().map(|call| call.provider_call_id.clone()).collect();
        continue_with(&mut request, first);
        model.respond(&request).await.unwrap();

        let received = server.finish().await;
        let sent: Value = serde_json::from_str(&received[1].body).unwrap();
        assert_eq!(assert_paired(&sent), ids.len(), "{name}");
        let turn = sent["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
        for (call, given) in list(&turn["tool_calls"]).iter().zip(ids).filter(|(_, given)| !given.is_empty()) {
            assert_eq!(call["id"], given.as_str(), "{name}");
        }
    }
}

/// Adds a response and one result for each of its calls to the history.
pub(crate) fn continue_with(request: &mut ModelRequest, response: ModelResponse) {
    let run = RunId::new("run-000000000001");
    let calls = (0..).zip(response.calls).map(|(index, call)| MessageCall {
        call_id: run.call(request.step, index),
        provider_call_id: call.provider_call_id,
        name: call.name,
        arguments_text: call.arguments_text,
        language: call.language,
    });
    let calls: Vec<MessageCall> = calls.collect();
    let ids: Vec<CallId> = calls.iter().map(|call| call.call_id.clone()).collect();
    request.messages.push(Message::Assistant { text: response.text, calls, items: response.items });
    for call_id in ids {
        request.messages.push(Message::Tool { call_id, ok: true, content: document("{\"ok\": true}") });
    }
    request.step += 1;
}

/// Checks that each call is answered once, right behind its turn, under an id of its own; returns how many there are.
fn assert_paired(sent: &Value) -> usize {
    let mut seen = std::collections::HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for message in sent["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let at = open.iter().position(|open| *open == id).unwrap();
            open.remove(at);
            continue;
        }
        assert!(open.is_empty(), "{open:?} have no results");
        for call in list(&message["tool_calls"]) {
            let id = call["id"].as_str().unwrap();
            assert!(!id.is_empty() && seen.insert(id), "`{id}` is empty or doubled");
            let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            assert!(arguments.is_object());
            open.push(id);
        }
    }
    assert!(open.is_empty(), "{open:?} have no results");
    seen.len()
}

pub(crate) fn exchanges(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/provider-traffic");
    let text = lockgate_host::files::read_to_string(&folder.join(name).with_extension("json")).unwrap();
    let recording: Value = serde_json::from_str(&text).unwrap();
    recording["exchanges"].as_array().unwrap().clone()
}

fn reply(exchange: &Value) -> Reply {
    let status = u16::try_from(exchange["status"].as_u64().unwrap()).unwrap();
    Reply::json(status, exchange["response"].to_string())
}

/// The calls of a recorded message, with their texts as they stand.
fn recorded_calls(message: &Value) -> Vec<ProposedCall> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list(&message["tool_calls"])
        .iter()
        .map(|call| ProposedCall {
            provider_call_id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            arguments_text: text(&call["function"]["arguments"]),
            language: ActionLanguage::Call,
        })
        .collect()
}

/// The neutral form of a recorded request.
fn request(recorded: &Value) -> ModelRequest {
    let run = RunId::new("run-000000000001");
    let mut call_ids: Vec<(String, CallId)> = Vec::new();
    let mut messages = Vec::new();
    for (step, message) in (0..).zip(list(&recorded["messages"])) {
        let text = message["content"].as_str().map(str::to_owned);
        messages.push(match message["role"].as_str().unwrap() {
            "system" => Message::System { text: text.unwrap() },
            "user" => Message::User { text: text.unwrap() },
            "assistant" => {
                let calls = (0..).zip(recorded_calls(message)).map(|(index, call)| {
                    let call_id = run.call(step, index);
                    call_ids.push((call.provider_call_id.clone(), call_id.clone()));
                    MessageCall {
                        call_id,
                        provider_call_id: call.provider_call_id,
                        name: call.name,
                        arguments_text: call.arguments_text,
                        language: call.language,
                    }
                });
                Message::Assistant { text, calls: calls.collect(), items: Vec::new() }
            }
            _ => {
                let id = message["tool_call_id"].as_str().unwrap();
                let (_, call_id) = call_ids.iter().find(|(given, _)| given == id).unwrap();
                Message::Tool { call_id: call_id.clone(), ok: true, content: document(&message["content"].to_string()) }
            }
        });
    }
    let tools = list(&recorded["tools"]).iter().map(|tool| ToolDefinition {
        name: tool["function"]["name"].as_str().unwrap().to_owned(),
        description: tool["function"]["description"].as_str().unwrap_or_default().to_owned(),
        input_schema: document(&tool["function"]["parameters"].to_string()),
    });
    ModelRequest { step: 0, messages, tools: tools.collect() }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn document(text: &str) -> Document {
    Document::parse(text, Limits { max_bytes: text.len(), max_depth: 64 }).unwrap()
}
