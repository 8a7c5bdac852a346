use lockgate_contract::ports::ModelResponse;

use super::*;
use crate::names::WireNames;
use crate::testing::{call, document, result};
use crate::wire::{Sent, Wire as _};

/// The contents for a history, as JSON.
fn told(messages: &[Message]) -> serde_json::Value {
    let mut names = WireNames::default();
    names.add("plain");
    serde_json::to_value(contents(messages, &names).unwrap()).unwrap()
}

/// The turn of an answer with these parts, with results for its calls.
fn answered(parts: &str) -> (serde_json::Value, Vec<Message>) {
    let body = format!(r#"{{"candidates": [{{"content": {{"parts": {parts}}}, "finishReason": "STOP"}}]}}"#);
    let ModelResponse { text, calls, items, .. } = super::super::Gemini.read(body, Sent::default()).unwrap();
    let calls: Vec<_> = (0..)
        .zip(calls)
        .map(|(index, made)| call(index, &made.name, &made.provider_call_id, &made.arguments_text))
        .collect();
    let results: Vec<_> = calls.iter().map(|call| result(call, true, "{}")).collect();
    let mut messages = vec![Message::User { text: "Hi".to_owned() }, Message::Assistant { text, calls, items }];
    messages.extend(results);
    (serde_json::from_str(parts).unwrap(), messages)
}

#[test]
fn what_the_model_said_goes_back_part_by_part() {
    for parts in [
        r#"[{"text": "a"}, {"functionCall": {"id": "1", "name": "plain", "args": {}}, "thoughtSignature": "S"}]"#,
        r#"[{"text": "hm", "thought": true}, {"text": "é"}, {"functionCall": {"id": "1", "name": "plain", "args": {"n": 1.0}}, "thoughtSignature": "S"},
            {"functionCall": {"id": "2", "name": "plain", "args": {}}}, {"text": "b"}, {"functionCall": {"id": "3", "name": "plain", "args": {}}},
            {"text": "", "thoughtSignature": "T"}]"#,
        r#"[{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}, {"text": "It is 1."}, {"executableCode": {"code": "2"}}, {"text": "Or 2."}]"#,
        r#"[{"text": "ab", "thoughtSignature": "S"}, {"text": "ab"}, {"text": "ab", "thoughtSignature": "T"}]"#,
        r#"[{"text": "t", "thought": true, "thoughtSignature": "S"}, {"functionCall": {"id": "1", "name": "plain", "args": {}}, "thoughtSignature": "U"}]"#,
    ] {
        let (sent, messages) = answered(parts);
        assert_eq!(told(&messages)[1]["parts"], sent, "{parts}");
    }
}

#[test]
fn a_text_that_was_scrubbed_stands_in_the_first_place() {
    let parts = r#"[{"text": "secret"}, {"functionCall": {"id": "1", "name": "plain"}, "thoughtSignature": "S"}, {"text": "b", "thoughtSignature": "T"}]"#;
    let (_, mut messages) = answered(parts);
    let Message::Assistant { text, .. } = &mut messages[1] else { panic!() };
    *text = Some("[redacted]b".to_owned());
    let expected = serde_json::json!([
        {"text": "[redacted]b"},
        {"functionCall": {"id": "1", "name": "plain", "args": {}}, "thoughtSignature": "S"},
        {"text": "", "thoughtSignature": "T"}
    ]);
    assert_eq!(told(&messages)[1]["parts"], expected);
}

#[test]
fn items_of_another_adapter_stay_away() {
    let foreign = ProviderItem { adapter: "other".to_owned(), before: 0, item: document(r#"{"part": {"x": 1}}"#) };
    let messages = [
        Message::User { text: "Hi".to_owned() },
        Message::Assistant { text: None, calls: Vec::new(), items: vec![foreign] },
    ];
    assert_eq!(told(&messages)[1]["parts"], serde_json::json!([{"text": ""}]));
}

#[test]
fn the_first_word_is_the_users() {
    for messages in [vec![], vec![Message::Assistant { text: None, calls: Vec::new(), items: Vec::new() }]] {
        assert_eq!(told(&messages)[0], serde_json::json!({"role": "user", "parts": [{"text": ""}]}));
    }
}

#[test]
fn a_result_is_an_object() {
    let response = |ok, text: &str| serde_json::to_string(&response(ok, text)).unwrap();
    assert_eq!(response(true, r#"{"a": 1.10}"#), r#"{"a": 1.10}"#);
    assert_eq!(response(true, "null"), r#"{"output":null}"#);
    assert_eq!(response(true, r#"{"error": "none"}"#), r#"{"output":{"error": "none"}}"#);
    assert_eq!(response(false, r#"{"code": "x"}"#), r#"{"error":{"code": "x"}}"#);
    assert_eq!(response(false, "\"no\""), r#"{"error":"no"}"#);
}

#[test]
fn a_history_out_of_order_is_refused() {
    let call = call(0, "plain", "x", "{}");
    let turn = Message::Assistant { text: None, calls: vec![call.clone()], items: Vec::new() };
    let names = WireNames::default();
    for messages in
        [vec![turn.clone()], vec![turn, Message::User { text: "Hi".to_owned() }], vec![result(&call, true, "{}")]]
    {
        assert_eq!(contents(&messages, &names).unwrap_err().code(), "model_invalid_request");
    }
}
