//! Local servers: Ollama's own protocol, and servers that drop tools.

use std::sync::{Arc, Mutex};

use lockgate_contract::ports::{Delta, Message, ModelAdapter, ModelRequest, ModelResponse, ToolDefinition};
use lockgate_models::{Provider, ToolCalls};
use serde_json::{Value, json};

use crate::recorded::{continue_with, document, list};
use crate::server::{Received, Reply, Server};

fn weather() -> ModelRequest {
    let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;
    let tool = ToolDefinition {
        name: "get.weather".to_owned(),
        description: "The weather of a city.".to_owned(),
        input_schema: document(schema),
    };
    let messages = vec![Message::User { text: "What is the weather in Paris?".to_owned() }];
    ModelRequest { step: 0, messages, tools: vec![tool] }
}

/// Asks for a stream of the model at this server; returns the turn, and what was heard of its text.
async fn streamed(server: &Server, provider: Provider, tools: ToolCalls) -> (ModelResponse, String) {
    let heard = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&heard);
    let listen = move |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            into.lock().unwrap().push_str(text);
        }
    };
    let response = server.model_of(provider, tools).stream(&weather(), &listen).await.unwrap();
    let heard = heard.lock().unwrap().clone();
    (response, heard)
}

fn body(received: &Received) -> Value {
    serde_json::from_str(&received.body).unwrap()
}

/// A piece of Ollama's, with these members of a message.
fn piece(message: &str) -> String {
    format!(
        r#"{{"model": "m", "created_at": "2026-11-01T00:00:00Z", "message": {{"role": "assistant", {message}}}, "done": false}}"#
    )
}

const DONE: &str = r#"{"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
 "total_duration": 1, "prompt_eval_count": 26, "eval_count": 12}"#;

#[tokio::test]
async fn a_call_of_ollama_and_its_result() {
    let done = DONE.replace('\n', "");
    let pieces = [
        piece(r#""content": "", "thinking": "hm""#),
        piece(r#""content": "Look""#),
        piece(
            r#""content": "ing", "tool_calls": [{"function": {"name": "get_weather_WIRE", "arguments": {"city" : "Paris", "n": 1.0}}}]"#,
        ),
        done.clone(),
    ];
    let wire = {
        let server = Server::start(vec![Reply::json(200, done.clone())]);
        server.model_of(Provider::Ollama, ToolCalls::Native).respond(&weather()).await.unwrap();
        let [received] = server.finish().await.try_into().unwrap();
        assert!(received.head.starts_with("post /base/api/chat http/1.1\r\n"), "{}", received.head);
        body(&received)["tools"][0]["function"]["name"].as_str().unwrap().to_owned()
    };
    let pieces = pieces.map(|piece| piece.replace("get_weather_WIRE", &wire));
    let server = Server::start(vec![Reply::lines(pieces.iter().map(String::as_str))]);
    let (turn, heard) = streamed(&server, Provider::Ollama, ToolCalls::Native).await;
    assert_eq!(body(&server.finish().await[0])["stream"], true);
    assert_eq!((turn.text.as_deref(), heard.as_str()), (Some("Looking"), "Looking"));
    assert_eq!(turn.calls[0].name, "get.weather");
    assert_eq!(turn.calls[0].arguments_text, r#"{"city" : "Paris", "n": 1.0}"#);
    assert_eq!(turn.usage.input_tokens, Some(26));

    let mut request = weather();
    continue_with(&mut request, turn);
    let server = Server::start(vec![Reply::json(200, done.clone())]);
    server.model_of(Provider::Ollama, ToolCalls::Native).respond(&request).await.unwrap();
    let sent = body(&server.finish().await[0]);
    let expected = json!([
        {"role": "user", "content": "What is the weather in Paris?"},
        {"role": "assistant", "content": "Looking", "thinking": "hm",
         "tool_calls": [{"function": {"name": wire, "arguments": {"city": "Paris", "n": 1.0}}}]},
        {"role": "tool", "content": "{\"ok\": true}", "tool_name": wire},
    ]);
    assert_eq!(sent["messages"], expected);
}

#[tokio::test]
async fn a_stream_of_ollama_cut_anywhere_is_no_turn() {
    let done = DONE.replace('\n', "");
    let whole = format!("{}\n{}\n{done}\n", piece(r#""content": "Hello""#), piece(r#""content": " é""#));
    for length in (0..whole.len() - 1).filter(|length| whole.is_char_boundary(*length)) {
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
        let server = Server::start(vec![Reply::Bytes([head, &whole[..length]].concat().into_bytes())]);
        let model = server.model_of(Provider::Ollama, ToolCalls::Native);
        let turn = model.stream(&weather(), &|_| ()).await;
        assert!(turn.is_err(), "after {length} bytes: {turn:?}");
        server.finish().await;
    }
}

#[tokio::test]
async fn an_error_of_ollama_is_typed_before_and_in_a_stream() {
    let no_tools = r#"{"error": "registry.ollama.ai/library/m does not support tools"}"#;
    let broken = r#"{"error": "an error was encountered while running the model"}"#;
    for (reply, code) in [
        (Reply::json(400, no_tools), "model_invalid_request"),
        (Reply::json(404, r#"{"error": "model 'm' not found"}"#), "model_invalid_request"),
        (Reply::lines([piece(r#""content": "Hello""#).as_str(), broken]), "model_overloaded"),
    ] {
        let server = Server::start(vec![reply]);
        let model = server.model_of(Provider::Ollama, ToolCalls::Native);
        assert_eq!(model.stream(&weather(), &|_| ()).await.unwrap_err().code(), code);
        server.finish().await;
    }
}

/// An answer of Chat Completions.
fn chat(content: &str, prompt_tokens: u64) -> String {
    json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}], "usage": {"prompt_tokens": prompt_tokens}})
        .to_string()
}

const CALL: &str = r#"{"call": {"name": "get.weather", "arguments": {"city" : "Paris"}}}"#;

#[tokio::test]
async fn a_server_that_drops_tools_is_found_out_once_and_told_in_words() {
    let server = Server::start(vec![
        Reply::json(200, chat("x", 10)),
        Reply::json(200, chat("x", 10)),
        Reply::json(200, chat(CALL, 90)),
        Reply::json(200, chat(r#"{"say": "Sunny."}"#, 99)),
    ]);
    let model = server.model_of(Provider::OpenaiCompatible, ToolCalls::Auto);
    let mut request = weather();
    let turn = model.respond(&request).await.unwrap();
    assert_eq!(
        (turn.calls[0].name.as_str(), turn.calls[0].arguments_text.as_str()),
        ("get.weather", r#"{"city" : "Paris"}"#)
    );
    continue_with(&mut request, turn);
    // A clone is the same model.
    assert_eq!(model.clone().respond(&request).await.unwrap().text.as_deref(), Some("Sunny."));

    let received = server.finish().await;
    let sent: Vec<Value> = received.iter().map(body).collect();
    assert!(sent[0].get("tools").is_none() && sent[1]["tools"].is_array());
    assert_eq!((&sent[0]["max_completion_tokens"], &sent[1]["max_completion_tokens"]), (&json!(1), &json!(1)));
    for sent in &sent[2..] {
        assert!(sent.get("tools").is_none() && sent["response_format"]["type"] == "json_schema", "{sent}");
        assert!(list(&sent["messages"]).iter().all(|message| message.as_object().unwrap().len() == 2), "{sent}");
        assert!(sent["messages"][0]["content"].as_str().unwrap().contains("get.weather"));
    }
    let roles: Vec<_> = list(&sent[3]["messages"]).iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn a_server_that_shows_tools_gets_them() {
    let server = Server::start(vec![
        Reply::json(200, chat("x", 10)),
        Reply::json(200, chat("x", 90)),
        Reply::json(200, chat("Sunny.", 90)),
    ]);
    let model = server.model_of(Provider::OpenaiCompatible, ToolCalls::Auto);
    assert_eq!(model.respond(&weather()).await.unwrap().text.as_deref(), Some("Sunny."));
    let received = server.finish().await;
    assert!(body(&received[2])["tools"].is_array());
}

#[tokio::test]
async fn a_probe_that_fails_is_an_error_and_decides_nothing() {
    let server = Server::start(vec![
        Reply::json(503, ""),
        Reply::json(200, chat("x", 10)),
        Reply::json(500, r#"{"error": {"message": "tools param requires --jinja flag"}}"#),
        Reply::json(200, chat(CALL, 90)),
    ]);
    let model = server.model_of(Provider::OpenaiCompatible, ToolCalls::Auto);
    assert_eq!(model.respond(&weather()).await.unwrap_err().code(), "model_overloaded");
    assert_eq!(model.respond(&weather()).await.unwrap().calls.len(), 1);
    server.finish().await;
}

#[tokio::test]
async fn described_tools_work_in_streams() {
    let event = |content: &str| json!({"choices": [{"index": 0, "delta": {"content": content}}]}).to_string();
    let answer = r#"{"say": "It is \"sunny\".\n"}"#;
    let mut events: Vec<String> = answer.chars().map(|character| event(&character.to_string())).collect();
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string());
    let server = Server::start(vec![Reply::events(events.iter().map(String::as_str))]);
    let (turn, heard) = streamed(&server, Provider::OpenaiCompatible, ToolCalls::JsonSchema).await;
    server.finish().await;
    assert_eq!((turn.text.as_deref(), heard.as_str()), (Some("It is \"sunny\".\n"), "It is \"sunny\".\n"));

    let line = |content: &str| piece(&format!(r#""content": {}"#, json!(content)));
    let done = DONE.replace('\n', "");
    let (first, second) = CALL.split_at(30);
    let lines = [line(first), line(second), done];
    let server = Server::start(vec![Reply::lines(lines.iter().map(String::as_str))]);
    let (turn, heard) = streamed(&server, Provider::Ollama, ToolCalls::JsonSchema).await;
    let sent = body(&server.finish().await[0]);
    assert_eq!((turn.calls[0].arguments_text.as_str(), heard.as_str()), (r#"{"city" : "Paris"}"#, ""));
    assert_eq!(sent["format"]["anyOf"][1]["properties"]["call"]["properties"]["name"]["enum"], json!(["get.weather"]));
    assert!(sent.get("tools").is_none());
}

#[tokio::test]
async fn an_answer_that_is_cut_or_out_of_the_schema_is_none() {
    let cut = json!({"choices": [{"message": {"content": &CALL[..40]}, "finish_reason": "length"}]}).to_string();
    for body in [cut, chat(&CALL[..40], 1), chat("It is sunny.", 1), chat("", 1)] {
        let server = Server::start(vec![Reply::json(200, body)]);
        let model = server.model_of(Provider::OpenaiCompatible, ToolCalls::JsonSchema);
        assert_eq!(model.respond(&weather()).await.unwrap_err().code(), "model_invalid_response");
        server.finish().await;
    }
}
