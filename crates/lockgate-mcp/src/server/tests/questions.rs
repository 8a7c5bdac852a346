//! Questions in the modern era: `input_required`, and the request that comes back with the answers.

use std::time::Duration;

use ::http::StatusCode;
use lockgate_contract::ports::Unanswered;
use serde_json::{Value, json};

use super::fixture::{Fixture, Reply, SOON, endpoint, endpoint_with, modern, principal, request, send, tool};
use crate::server::Limits;
use crate::server::http::{Endpoint, Options};
use crate::wire::{code, key};

fn accept(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

/// Calls a tool with answers, and the state where there is one.
fn retry(name: &str, answers: &Value, state: Option<&Value>) -> Value {
    let mut params = tool(name);
    params["inputResponses"] = answers.clone();
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    params
}

async fn call(endpoint: &Endpoint, params: &Value) -> Value {
    send(endpoint, request("tools/call", params)).await.json()
}

#[tokio::test]
async fn a_question_is_answered_by_the_request_that_comes_back() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let asked = call(&endpoint, &tool("ask")).await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(
        result["inputRequests"],
        json!({"name": {"method": "elicitation/create", "params": {"message": "Who?"}}})
    );
    assert_eq!(result.get("ttlMs"), None, "questions are never kept");
    let answers = json!({"name": accept(&json!({"name": "Anna"})), "nobody asked": 1});
    let done = call(&endpoint, &retry("ask", &answers, Some(&result["requestState"]))).await;
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(done["result"]["content"][0]["text"], r#"{"name":{"action":"accept","content":{"name":"Anna"}}}"#);
    // It is one call, asked once, and the answers are none of its arguments.
    assert_eq!(fixture.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn what_is_missing_or_no_answer_is_asked_for_again() {
    let endpoint = endpoint(&Fixture::new());
    let mut state = call(&endpoint, &tool("ask_two")).await["result"]["requestState"].take();
    for answers in [
        json!({}),
        Value::Null,
        json!({"name": 12345}),
        json!({"name": {"action": "perhaps"}}),
        json!({"name": {"action": "accept", "content": 1}}),
    ] {
        let again = call(&endpoint, &retry("ask_two", &answers, Some(&state))).await;
        assert_eq!(again["result"]["inputRequests"].as_object().unwrap().len(), 2, "{answers}");
        assert_ne!(again["result"]["requestState"], state);
        state = again["result"]["requestState"].clone();
    }
    let half = call(&endpoint, &retry("ask_two", &json!({"color": accept(&json!({}))}), Some(&state))).await;
    let open: Vec<_> = half["result"]["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(open, ["name"], "what was answered is not asked again");
    let answers = json!({"name": {"action": "decline"}});
    let done = call(&endpoint, &retry("ask_two", &answers, Some(&half["result"]["requestState"]))).await;
    let text = done["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("decline") && text.contains("color"), "{text}");
}

#[tokio::test]
async fn each_round_has_a_state_of_its_own() {
    let endpoint = endpoint(&Fixture::new());
    let first = call(&endpoint, &tool("ask_again")).await;
    let answers = json!({"first": accept(&json!({}))});
    let second = call(&endpoint, &retry("ask_again", &answers, Some(&first["result"]["requestState"]))).await;
    assert_eq!(second["result"]["inputRequests"]["second"]["params"]["message"], "Second?");
    assert_ne!(first["result"]["requestState"], second["result"]["requestState"]);
    let answers = json!({"second": accept(&json!({}))});
    let done = call(&endpoint, &retry("ask_again", &answers, Some(&second["result"]["requestState"]))).await;
    assert_eq!(done["result"]["resultType"], "complete");
}

#[tokio::test]
async fn answers_may_come_before_the_question() {
    let endpoint = endpoint(&Fixture::new());
    let answers = json!({"name": accept(&json!({"name": "Anna"})), "other": {}});
    let done = call(&endpoint, &retry("ask", &answers, None)).await;
    assert_eq!(done["result"]["resultType"], "complete");
    let asked = call(&endpoint, &retry("ask", &json!({"other": accept(&json!({}))}), None)).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
}

/// smg-project/smg#2441 and its like: a request that comes twice must not run twice.
#[tokio::test]
async fn a_state_is_good_once_for_one_request_of_one_principal() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let answers = json!({"name": accept(&json!({}))});
    let refused = |reply: &Reply| {
        assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, code::INVALID_PARAMS));
    };
    let state = call(&endpoint, &tool("ask")).await["result"]["requestState"].take();
    let text = state.as_str().unwrap();
    for wrong in [json!(format!("{text}-TAMPERED")), json!(&text[..text.len() - 2]), json!(""), json!(7)] {
        refused(&send(&endpoint, request("tools/call", &retry("ask", &answers, Some(&wrong)))).await);
    }
    // Each character counts.
    let mut turned = text.to_owned();
    let last = if turned.pop() == Some('A') { 'E' } else { 'A' };
    turned.push(last);
    refused(&send(&endpoint, request("tools/call", &retry("ask", &answers, Some(&json!(turned))))).await);
    // Another tool, other arguments, somebody else.
    refused(&send(&endpoint, request("tools/call", &retry("ask_two", &answers, Some(&state)))).await);
    let mut other = retry("ask", &answers, Some(&state));
    other["arguments"] = json!({"a": 1});
    refused(&send(&endpoint, request("tools/call", &other)).await);
    let berta = endpoint.answer(request("tools/call", &retry("ask", &answers, Some(&state))), principal("berta")).await;
    refused(&Reply::of(berta).await);
    // None of that used it up.
    let done = call(&endpoint, &retry("ask", &answers, Some(&state))).await;
    assert_eq!(done["result"]["resultType"], "complete");
    refused(&send(&endpoint, request("tools/call", &retry("ask", &answers, Some(&state)))).await);
    assert_eq!(fixture.asked("tools/call").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_for_ever() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let state = call(&endpoint, &tool("ask")).await["result"]["requestState"].take();
    tokio::time::timeout(Duration::from_hours(1), fixture.cancelled.notified()).await.unwrap();
    assert_eq!(*fixture.unanswered.lock().unwrap(), Some(Unanswered::Gone));
    let late = call(&endpoint, &retry("ask", &json!({"name": accept(&json!({}))}), Some(&state))).await;
    assert_eq!(late["error"]["code"], code::INVALID_PARAMS);
}

#[tokio::test]
async fn so_many_calls_of_one_principal_wait_and_the_oldest_makes_room() {
    let fixture = Fixture::new();
    let limits = Limits { questions: 2, ..Limits::default() };
    let endpoint = endpoint_with(&fixture, Options { limits, ..Options::default() });
    let mut states = Vec::new();
    for _ in 0..3 {
        states.push(call(&endpoint, &tool("ask")).await["result"]["requestState"].take());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
    let answers = json!({"name": accept(&json!({}))});
    let gone = call(&endpoint, &retry("ask", &answers, Some(&states[0]))).await;
    assert_eq!(gone["error"]["code"], code::INVALID_PARAMS);
    for state in &states[1..] {
        let done = call(&endpoint, &retry("ask", &answers, Some(state))).await;
        assert_eq!(done["result"]["resultType"], "complete");
    }
}

#[tokio::test]
async fn only_what_this_request_declares_may_be_asked() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    for (name, declared, lacking) in [
        ("ask", json!({"sampling": {}}), "elicitation"),
        ("ask", json!({"elicitation": {"url": {}}}), "elicitation.form"),
        ("ask_by_url", json!({"elicitation": {}}), "elicitation.url"),
        ("ask_model", json!({"elicitation": {}}), "sampling"),
    ] {
        let mut params = tool(name);
        params["_meta"][key::CLIENT_CAPABILITIES] = declared;
        let reply = call(&endpoint, &params).await;
        assert_eq!(reply["error"]["code"], code::MISSING_CAPABILITY);
        assert_eq!(*fixture.unanswered.lock().unwrap(), Some(Unanswered::Cannot(lacking.to_owned())));
    }
    // What the first request declared counts no more once another one goes on with the call.
    let first = call(&endpoint, &tool("ask_again")).await;
    let mut params = retry("ask_again", &json!({"first": accept(&json!({}))}), Some(&first["result"]["requestState"]));
    params["_meta"][key::CLIENT_CAPABILITIES] = json!({});
    assert_eq!(call(&endpoint, &params).await["error"]["code"], code::MISSING_CAPABILITY);
}

#[tokio::test]
async fn prompts_ask_too_and_lists_never_do() {
    let endpoint = endpoint(&Fixture::new());
    let mut params = modern(json!({}));
    params["requestState"] = json!("x");
    let list = send(&endpoint, request("tools/list", &params)).await;
    assert_eq!(list.status, StatusCode::OK, "a state means nothing here");
    params["name"] = json!("x");
    assert_eq!(send(&endpoint, request("prompts/get", &params)).await.code(), code::INVALID_PARAMS);
}
