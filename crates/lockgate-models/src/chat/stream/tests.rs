use std::sync::{Arc, Mutex};

use lockgate_contract::ports::Delta;

use super::*;
use crate::names::WireNames;

/// Reads these events, and `[DONE]` behind them.
fn read(events: &[&str]) -> Result<ModelResponse, ModelError> {
    let sent = Sent { names: WireNames::for_tools(["f", "g"]), ..Sent::default() };
    let mut reader = Box::new(Reader::new(sent));
    for event in events.iter().chain(&["[DONE]"]) {
        reader.event("", event, &|_| {})?;
    }
    reader.finish()
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

/// The calls that come of these deltas: id, name, arguments.
fn calls(deltas: &[&str]) -> Vec<(String, String, String)> {
    let events: Vec<String> = deltas.iter().map(|text| delta(text)).collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let calls = read(&events).unwrap().calls.into_iter();
    calls.map(|call| (call.provider_call_id, call.name, call.arguments_text)).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn calls_are_told_apart_however_a_server_sends_them() {
    let two = [call("", "f", r#"{"a":1}"#), call("", "g", r#"{"b":2}"#)];
    // Whole calls, all with the same index or with none, and without ids.
    for index in [r#""index":0,"#, ""] {
        let f = format!(r#"{{"tool_calls":[{{{index}"id":"","function":{{"name":"f","arguments":"{{\"a\":1}}"}}}}]}}"#);
        let g = format!(r#"{{"tool_calls":[{{{index}"function":{{"name":"g","arguments":"{{\"b\":2}}"}}}}]}}"#);
        assert_eq!(calls(&[&f, &g]), two, "{index}");
        // The same tool twice.
        assert_eq!(calls(&[&f, &f]), [two[0].clone(), two[0].clone()], "{index}");
    }
    // Whole calls without arguments and index.
    let bare = |name: &str| format!(r#"{{"tool_calls":[{{"function":{{"name":"{name}"}}}}]}}"#);
    assert_eq!(calls(&[&bare("f"), &bare("g")]), [call("", "f", ""), call("", "g", "")]);
    // A new id on a used index.
    let of = |id: &str, text: &str| {
        format!(r#"{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"f","arguments":"{text}"}}}}]}}"#)
    };
    assert_eq!(
        calls(&[&of("x", "{"), &of("y", "{"), &of("x", "}"), &of("y", "}")]),
        [call("x", "f", "{}"), call("y", "f", "{}")]
    );
    // Several pieces of one index in one chunk, and the name again with each.
    let pieces = r#"{"tool_calls":[{"index":1,"id":"x","function":{"name":"f","arguments":"{\"a\""}},{"index":1,"function":{"name":"f","arguments":":1}"}},{"index":1,"function":{"name":"f","arguments":""}}]}"#;
    assert_eq!(calls(&[pieces]), [call("x", "f", r#"{"a":1}"#)]);
    // The form before tool calls.
    let old = [
        r#"{"function_call":{"name":"f","arguments":""}}"#,
        r#"{"function_call":{"arguments":"{\"a\""}}"#,
        r#"{"function_call":{"arguments":":1}"}}"#,
    ];
    assert_eq!(calls(&old), [call("", "f", r#"{"a":1}"#)]);
}

#[test]
fn a_call_that_came_twice_under_one_id_is_never_two_calls() {
    let whole = r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#;
    assert_eq!(calls(&[whole, whole]), [call("x", "f", r#"{"a":1}{"a":1}"#)]);
}

#[test]
fn one_of_two_choices_counts_and_is_not_mixed_with_the_other() {
    let other = r#"{"choices":[{"index":1,"delta":{"content":"other","tool_calls":[{"index":0,"id":"o","function":{"name":"g","arguments":"{}"}}]}}]}"#;
    let first = r#"{"choices":[{"index":0,"delta":{"content":"one","tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let both = r#"{"choices":[{"index":1,"delta":{"content":"2"}},{"index":0,"delta":{"content":"1"},"finish_reason":"stop"}]}"#;
    let response = read(&[other, first, other, both]).unwrap();
    assert_eq!(response.text.as_deref(), Some("one1"));
    assert_eq!(response.calls.len(), 1);
    assert_eq!((response.calls[0].name.as_str(), response.calls[0].arguments_text.as_str()), ("f", "{}"));
    // Another choice's end is not this one's.
    let mut reader = Box::new(Reader::new(Sent::default()));
    let end = r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#;
    reader.event("", end, &|_| {}).unwrap();
    assert_eq!(reader.finish().unwrap_err(), ended_early());
}

#[test]
fn an_error_in_the_middle_has_its_kind() {
    let content = delta(r#"{"content":"half"}"#);
    for (error, expected) in [
        (r#"{"error":{"code":502,"message":"upstream"}}"#, "model_overloaded"),
        (
            r#"{"error":{"type":"invalid_request_error","code":"tool_use_failed","status_code":400}}"#,
            "model_invalid_request",
        ),
        (r#"{"error":{"code":"rate_limit_exceeded","message":"slow"},"choices":[]}"#, "model_rate_limited"),
        (r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":429}}]}"#, "model_rate_limited"),
        (r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}"#, "model_overloaded"),
        (r#"{"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}"#, "model_overloaded"),
    ] {
        assert_eq!(read(&[&content, error]).unwrap_err().code(), expected, "{error}");
    }
}

#[test]
fn usage_comes_on_a_chunk_of_its_own_or_in_groqs_place() {
    let text = delta(r#"{"content":"hi"}"#);
    let own = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"cost":0.5}}"#;
    let usage = read(&[&text, own]).unwrap().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_microusd), (Some(3), Some(4), Some(500_000)));
    let groq = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5}}}"#;
    assert_eq!(read(&[&text, groq]).unwrap().usage.input_tokens, Some(5));
}

#[test]
fn thoughts_are_heard_once_and_kept() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let listen = move |delta: Delta<'_>| listener.lock().unwrap().push(format!("{delta:?}"));
    let mut reader = Box::new(Reader::new(Sent::default()));
    for text in [r#"{"reasoning":"hm","reasoning_content":"hm"}"#, r#"{"content":"hi"}"#] {
        reader.event("", &delta(text), &listen).unwrap();
    }
    reader.event("", "[DONE]", &listen).unwrap();
    assert_eq!(heard.lock().unwrap().as_slice(), [r#"Reasoning("hm")"#, r#"Text("hi")"#]);
    assert_eq!(reader.finish().unwrap().items.len(), 2);
}
