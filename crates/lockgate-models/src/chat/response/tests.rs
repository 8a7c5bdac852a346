use lockgate_contract::ports::Usage;

use super::*;

fn read_plain(body: &str) -> Result<ModelResponse, ModelError> {
    read(body.to_owned(), &WireNames::for_tools(["a.b", "plain"]))
}

/// The response to a message, given as JSON.
fn message(message: &str, finish: &str) -> Result<ModelResponse, ModelError> {
    read_plain(&format!(r#"{{"choices": [{{"message": {message}, "finish_reason": "{finish}"}}]}}"#))
}

fn only_call(function: &str) -> ProposedCall {
    let response =
        message(&format!(r#"{{"tool_calls": [{{"id": "x", "function": {function}}}]}}"#), "tool_calls").unwrap();
    let [call] = response.calls.try_into().unwrap();
    call
}

#[test]
fn argument_texts_stay_as_they_are() {
    for (wire, expected) in [
        (r#""{\"n\": 9007199254740993}""#, r#"{"n": 9007199254740993}"#),
        (r#""{\"a\":1,\"a\":2}""#, r#"{"a":1,"a":2}"#),
        (r#""{\"a\": \"\\ud83d""#, r#"{"a": "\ud83d"#),
        (r#"" ```json\n{}\n``` ""#, " ```json\n{}\n``` "),
        (r#""""#, ""),
        ("null", ""),
        // The form of native Ollama: JSON instead of its text. The slice is kept, digits and spaces too.
        (r#"{"n" : 123456789012345678901234567890, "x":1.0}"#, r#"{"n" : 123456789012345678901234567890, "x":1.0}"#),
        ("[1,  2]", "[1,  2]"),
        ("true", "true"),
    ] {
        assert_eq!(
            only_call(&format!(r#"{{"name": "plain", "arguments": {wire}}}"#)).arguments_text,
            expected,
            "{wire}"
        );
    }
    assert_eq!(only_call(r#"{"name": "plain"}"#).arguments_text, "");
}

#[test]
fn names_come_back_and_unknown_ones_stay() {
    let wire = WireNames::for_tools(["a.b", "plain"]).wire("a.b").unwrap().to_owned();
    assert_eq!(only_call(&format!(r#"{{"name": "{wire}"}}"#)).name, "a.b");
    for name in ["plain", "a.b", "made up", ""] {
        assert_eq!(only_call(&format!(r#"{{"name": "{name}"}}"#)).name, name); // R-191
    }
}

#[test]
fn calls_keep_their_order_and_ids() {
    let response = message(
        r#"{"content": null, "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "plain", "arguments": "{}"}},
            {"id": "", "function": {"name": "plain", "arguments": "{}"}},
            {"id": null, "function": {"name": "plain", "arguments": "{}"}},
            {"function": {"name": "plain", "arguments": "{}"}},
            {"id": 7, "function": {"name": "plain", "arguments": "{}"}},
            {"id": "x", "function": {"name": "plain", "arguments": "{}"}}]}"#,
        "tool_calls",
    );
    let ids: Vec<String> = response.unwrap().calls.into_iter().map(|call| call.provider_call_id).collect();
    assert_eq!(ids, ["x", "", "", "", "7", "x"]);
}

#[test]
fn a_custom_call_is_code() {
    let response = message(
        r#"{"content": null, "tool_calls": [
            {"id": "x", "type": "custom", "custom": {"name": "python", "input": "print(\"a\")\nif a < b: {"}},
            {"id": "y", "type": "custom", "custom": {"name": "a.b", "input": "{\"a\": 1}"}},
            {"id": "z", "custom": {"name": "python"}},
            {"id": "f", "type": "custom", "function": {"name": "plain", "arguments": "{}"}}]}"#,
        "tool_calls",
    );
    let calls = response.unwrap().calls;
    let seen: Vec<_> = calls
        .iter()
        .map(|call| (call.provider_call_id.as_str(), call.name.as_str(), call.arguments_text.as_str(), call.language))
        .collect();
    let (code, call) = (ActionLanguage::Code, ActionLanguage::Call);
    let expected = [
        ("x", "python", "print(\"a\")\nif a < b: {", code), // R-106
        // Not taken for arguments, even where it looks like some, and where a tool has that name.
        ("y", "a.b", r#"{"a": 1}"#, code),
        ("z", "python", "", code),
        ("f", "plain", "{}", call),
    ];
    assert_eq!(seen, expected);
    // Cut off, it is still code: nothing of it would run.
    let cut = message(r#"{"tool_calls": [{"type": "custom", "custom": {"name": "python", "input": ""}}]}"#, "length");
    assert_eq!(cut.unwrap().calls[0].language, code);
}

#[test]
fn the_old_function_call_is_one_call_without_an_id() {
    let response = message(r#"{"function_call": {"name": "plain", "arguments": "{}"}}"#, "function_call").unwrap();
    let expected = ProposedCall {
        provider_call_id: String::new(),
        name: "plain".to_owned(),
        arguments_text: "{}".to_owned(),
        language: ActionLanguage::Call,
    };
    assert_eq!(response.calls, [expected]);
}

#[test]
fn texts_come_in_several_forms() {
    for (wire, expected) in [
        (r#"{"content": "hello"}"#, Some("hello")),
        (r#"{"content": ""}"#, None),
        (r#"{"content": null}"#, None),
        ("{}", None),
        (
            r#"{"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}"#,
            Some("ab"),
        ),
        (r#"{"content": null, "refusal": "I will not."}"#, Some("I will not.")),
        (r#"{"content": "yes", "refusal": null}"#, Some("yes")),
    ] {
        assert_eq!(message(wire, "stop").unwrap().text.as_deref(), expected, "{wire}");
    }
}

#[test]
fn a_response_cut_at_the_limit_does_not_pass_for_a_whole_one() {
    let cut = |arguments: &str| {
        let call = format!(r#"{{"tool_calls": [{{"function": {{"name": "plain", "arguments": "{arguments}"}}}}]}}"#);
        message(&call, "length")
    };
    assert_eq!(cut(r#"{\"a\": "#).unwrap().calls[0].arguments_text, r#"{"a": "#);
    assert_eq!(cut("").unwrap_err().code(), "model_invalid_response");
    assert_eq!(message(r#"{"content": ""}"#, "length").unwrap_err().code(), "model_invalid_response");
    // A text without a call ends the run: half of one is no answer.
    assert_eq!(message(r#"{"content": "half a sen"}"#, "length").unwrap_err().code(), "model_invalid_response");
    assert_eq!(message(r#"{"content": ""}"#, "content_filter").unwrap_err().code(), "model_refused");
}

#[test]
fn usage_is_counted_where_it_is_a_count() {
    let usage =
        |text: &str| read_plain(&format!(r#"{{"choices": [{{"message": {{}}}}], "usage": {text}}}"#)).unwrap().usage;
    let expected = Usage { input_tokens: Some(35), output_tokens: Some(12), ..Usage::default() };
    assert_eq!(usage(r#"{"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}"#), expected);
    assert_eq!(usage(r#"{"prompt_tokens": -1, "completion_tokens": 1.5}"#), Usage::default());
    assert_eq!(usage("null"), Usage::default());
}

#[test]
fn what_cannot_be_read_is_said() {
    for body in [
        "",
        "<html>",
        "[]",
        "null",
        "{}",
        r#"{"choices": []}"#,
        r#"{"choices": [{}]}"#,
        r#"{"choices": [{"message": {"content": 1}}]}"#,
        r#"{"choices": [{"message": {"tool_calls": {}}}]}"#,
        r#"{"choices": [{"message": {"tool_calls": [{}]}}]}"#,
        r#"{"choices": [{"message": {"tool_calls": [{"type": "gesture", "gesture": {"name": "wave"}}]}}]}"#,
        r#"{"choices": [{"message": {"tool_calls": [{"type": "custom", "custom": {"input": "1"}}]}}]}"#,
        r#"{"choices": [{"message": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}"#,
        r#"{"choices": [{"message": {"content": "a", "content": "b"}}]}"#,
        r#"{"error": {"message": "no"}}"#,
    ] {
        assert_eq!(read_plain(body).unwrap_err().code(), "model_invalid_response", "{body}");
    }
    let nested = format!(r#"{{"choices": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read_plain(&nested).unwrap_err().code(), "model_invalid_response");
}

#[test]
fn an_error_in_place_of_a_choice_keeps_its_kind() {
    let code = |body: &str| read_plain(body).unwrap_err().code();
    assert_eq!(code(r#"{"error": {"code": 429, "message": "slow down"}}"#), "model_rate_limited");
    assert_eq!(code(r#"{"choices": [{"error": {"code": 502, "message": "upstream"}}]}"#), "model_overloaded");
}
