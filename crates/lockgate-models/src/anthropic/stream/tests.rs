use std::sync::{Arc, Mutex};

use lockgate_contract::ports::Delta;

use super::*;

/// Reads these events; what was said aloud and what was thought aloud stand behind the turn.
fn told(events: &[&str]) -> (Result<ModelResponse, ModelError>, String) {
    let said = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&said);
    let heard = move |delta: Delta<'_>| {
        let mut said = log.lock().unwrap();
        match delta {
            Delta::Text(text) => said.push_str(text),
            Delta::Reasoning(text) => said.extend(["(", text, ")"]),
        }
    };
    let mut reader = Box::new(Reader::new(Sent::default()));
    let outcome = events.iter().try_for_each(|event| reader.event("", event, &heard)).and_then(|()| reader.finish());
    let said = said.lock().unwrap().clone();
    (outcome, said)
}

fn turn(events: &[&str]) -> Result<ModelResponse, ModelError> {
    told(events).0
}

const STOP: &str = r#"{"type": "message_stop"}"#;
const CALLED: &str =
    r#"{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}"#;
const CUT: &str = r#"{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}"#;
const CALL: &str = r#"{"type": "content_block_start", "index": 1,
    "content_block": {"type": "tool_use", "id": "x", "name": "t", "input": {}}}"#;

fn input(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type": "content_block_delta", "index": 1, "delta": {{"type": "input_json_delta", "partial_json": {text}}}}}"#
    )
}

#[test]
fn a_turn_is_put_together() {
    let (response, said) = told(&[
        r#"{"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}}}"#,
        r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}"#,
        r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}"#,
        r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "S1"}}"#,
        r#"{"type": "ping"}"#,
        CALL,
        &input(r#"{"n": 12345678901234567890"#),
        &input("1.0}"),
        r#"{"type": "content_block_stop", "index": 1}"#,
        r#"{"type": "something_new", "delta": 1}"#,
        CALLED,
        STOP,
    ]);
    let response = response.unwrap();
    assert_eq!(said, "(hm)");
    assert_eq!(response.calls[0].arguments_text, r#"{"n": 123456789012345678901.0}"#);
    assert_eq!(response.items[0].item.text(), r#"{"signature":"S1","thinking":"hm","type":"thinking"}"#);
    assert_eq!(response.items[0].before, 0);
    assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (Some(7), Some(9)));
}

#[test]
fn no_input_is_an_empty_one_and_one_that_came_at_once_counts() {
    assert_eq!(turn(&[CALL, &input(""), CALLED, STOP]).unwrap().calls[0].arguments_text, "{}");
    assert_eq!(turn(&[CALL, CALLED, STOP]).unwrap().calls[0].arguments_text, "{}");
    let at_once = CALL.replace("{}", r#"{"n": 1}"#);
    assert_eq!(turn(&[&at_once, CALLED, STOP]).unwrap().calls[0].arguments_text, r#"{"n": 1}"#);
}

#[test]
fn a_used_index_begins_another_block() {
    let second = CALL.replace(r#""x""#, r#""y""#);
    let response = turn(&[CALL, &input("{}"), &second, &input(r#"{"n":2}"#), CALLED, STOP]).unwrap();
    let calls: Vec<_> = response.calls.iter().map(|call| (&*call.provider_call_id, &*call.arguments_text)).collect();
    assert_eq!(calls, [("x", "{}"), ("y", r#"{"n":2}"#)]);
}

#[test]
fn nothing_counts_before_the_end() {
    for events in [vec![], vec![CALL], vec![CALL, CALLED]] {
        assert_eq!(turn(&events).unwrap_err(), ended_early());
    }
    assert_eq!(turn(&[&input("{}")]).unwrap_err().code(), "model_invalid_response");
}

#[test]
fn a_cut_input_is_passed_on_as_it_is_unless_none_came() {
    // What is no JSON is refused by the gate.
    assert_eq!(turn(&[CALL, &input(r#"{"n": "#), CUT, STOP]).unwrap().calls[0].arguments_text, r#"{"n": "#);
    for nothing in ["", "  "] {
        assert_eq!(turn(&[CALL, &input(nothing), CUT, STOP]).unwrap_err().code(), "model_invalid_response");
    }
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let error = turn(&[CALL, r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#]);
    let detail = "error 529 inside the answer: Overloaded".to_owned();
    assert_eq!(error.unwrap_err(), ModelError::Overloaded { detail, retry_after: None });
}

#[test]
fn what_the_provider_did_itself_is_kept_with_its_place() {
    let start = |index: u32, block: &str| {
        format!(r#"{{"type": "content_block_start", "index": {index}, "content_block": {block}}}"#)
    };
    let (response, said) = told(&[
        &start(0, r#"{"type": "text", "text": "Let me look. "}"#),
        &start(1, r#"{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}"#),
        &input(r#"{"query": 1.0}"#),
        &start(2, r#"{"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"n" : 1}]}"#),
        &start(3, r#"{"type": "text", "text": "", "citations": []}"#),
        r#"{"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "It is so."}}"#,
        r#"{"type": "content_block_delta", "index": 3, "delta": {"type": "citations_delta", "citation": {"u": "v"}}}"#,
        &start(4, r#"{"type": "tool_use", "id": "x", "name": "t", "input": {}, "caller": {"type": "direct"}}"#),
        &start(5, r#"{"type": "tool_use", "id": "y", "name": "t", "caller": {"type": "code", "tool_id": "s1"}}"#),
        CALLED,
        STOP,
    ]);
    let response = response.unwrap();
    assert_eq!(said, "Let me look. It is so.");
    assert_eq!(response.text.as_deref(), Some("Let me look. It is so."));
    let items: Vec<_> = response.items.iter().map(|item| (item.before, item.item.text())).collect();
    let expected = [
        (0, r#"{"text":"Let me look. ","type":"text"}"#),
        (0, r#"{"id":"s1","input":{"query": 1.0},"name":"web_search","type":"server_tool_use"}"#),
        (0, r#"{"content":[{"n" : 1}],"tool_use_id":"s1","type":"web_search_tool_result"}"#),
        (0, r#"{"citations":[{"u": "v"}],"text":"It is so.","type":"text"}"#),
        (1, r#"{"caller":{"type": "code", "tool_id": "s1"},"type":"tool_use"}"#),
    ];
    assert_eq!(items, expected);
}
