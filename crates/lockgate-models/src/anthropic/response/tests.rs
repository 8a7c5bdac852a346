use super::*;

fn read_plain(body: &str) -> Result<ModelResponse, ModelError> {
    read(body.to_owned(), &WireNames::for_tools(["a.b", "plain"]))
}

fn turn(content: &str, stop: &str) -> Result<ModelResponse, ModelError> {
    read_plain(&format!(r#"{{"content": [{content}], "stop_reason": "{stop}"}}"#))
}

const TEXT: &str = r#"{"type": "text", "text": "so"}"#;
const CALL: &str = r#"{"type": "tool_use", "id": "x", "name": "plain", "input": {"n": 1}}"#;

#[test]
fn inputs_keep_their_text() {
    for (input, expected) in [
        (r#"{"n" : 123456789012345678901234567890, "x":1.10}"#, r#"{"n" : 123456789012345678901234567890, "x":1.10}"#),
        ("{}", "{}"),
        ("{ }", "{ }"),
        ("null", "{}"),
        ("[1,  2]", "[1,  2]"),
        (r#""so""#, "so"),
    ] {
        let call = format!(r#"{{"type": "tool_use", "id": "", "name": "plain", "input": {input}}}"#);
        assert_eq!(turn(&call, "tool_use").unwrap().calls[0].arguments_text, expected);
    }
    let without = turn(r#"{"type": "tool_use", "name": "plain", "new": 1}"#, "tool_use").unwrap();
    assert_eq!(without.calls[0].arguments_text, "{}");
    assert_eq!(without.calls[0].provider_call_id, "");
}

#[test]
fn names_come_back() {
    let wire = WireNames::for_tools(["a.b", "plain"]).wire("a.b").unwrap().to_owned();
    let call = |name: &str| turn(&format!(r#"{{"type": "tool_use", "name": "{name}"}}"#), "tool_use");
    assert_eq!(call(&wire).unwrap().calls[0].name, "a.b");
    assert_eq!(call("made up").unwrap().calls[0].name, "made up");
    assert_eq!(call("").unwrap_err().code(), "model_invalid_response");
}

#[test]
fn a_turn_that_ended_early_is_none() {
    let code = |content: &str, stop| turn(content, stop).map_err(|error| error.code());
    for stop in ["end_turn", "stop_sequence", "something_new"] {
        assert_eq!(code(TEXT, stop).unwrap().text.as_deref(), Some("so"));
    }
    for stop in ["max_tokens", "model_context_window_exceeded", "pause_turn"] {
        assert_eq!(code(TEXT, stop).unwrap_err(), "model_invalid_response", "{stop}");
    }
    // Cut behind its calls, they are whole; in the last one nobody knows what is missing.
    assert_eq!(code(&format!("{CALL}, {TEXT}"), "max_tokens").unwrap().calls.len(), 1);
    assert_eq!(code(&format!("{TEXT}, {CALL}"), "max_tokens").unwrap_err(), "model_invalid_response");
    assert_eq!(code(CALL, "pause_turn").unwrap().calls.len(), 1);
}

#[test]
fn what_was_refused_is_not_used() {
    assert_eq!(turn(CALL, "refusal").unwrap_err().code(), "model_refused");
    let body = r#"{"content": [], "stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "no"}}"#;
    assert_eq!(read_plain(body).unwrap_err(), ModelError::Refused { detail: "no".to_owned() });
}

#[test]
fn an_error_in_an_answer_is_typed() {
    for (kind, code) in [
        ("overloaded_error", "model_overloaded"),
        ("api_error", "model_overloaded"),
        ("timeout_error", "model_overloaded"),
        ("rate_limit_error", "model_rate_limited"),
        ("authentication_error", "model_unauthorized"),
        ("permission_error", "model_unauthorized"),
        ("billing_error", "model_refused"),
        ("invalid_request_error", "model_invalid_request"),
        ("not_found_error", "model_invalid_request"),
        ("request_too_large", "model_invalid_request"),
        ("something_new", "model_invalid_response"),
    ] {
        let error = read_plain(&format!(r#"{{"type": "error", "error": {{"type": "{kind}", "message": "why"}}}}"#));
        let error = error.unwrap_err();
        assert_eq!(error.code(), code, "{kind}");
        assert!(error.to_string().ends_with(": why"), "{error}");
    }
    for body in ["{}", "[]", "nothing", r#"{"content": [{"text": "so"}]}"#] {
        assert_eq!(read_plain(body).unwrap_err().code(), "model_invalid_response", "{body}");
    }
}

#[test]
fn tokens_of_the_cache_were_read_too() {
    let usage = |usage: &str| read_plain(&format!(r#"{{"content": [{TEXT}], "usage": {usage}}}"#)).unwrap().usage;
    let whole = r#"{"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100,
        "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}"#;
    let expected = Usage {
        input_tokens: Some(125),
        output_tokens: Some(7),
        cached_input_tokens: Some(20),
        reasoning_tokens: Some(3),
        cost_microusd: None,
    };
    assert_eq!(usage(whole), expected);
    let little = usage(r#"{"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": null}"#);
    assert_eq!((little.input_tokens, little.cached_input_tokens), (Some(5), None));
    assert_eq!(usage("null"), Usage::default());
}
