use super::*;
use crate::wire::Answer as _;

/// What comes of these pieces.
fn turn(pieces: &[&str]) -> Result<Option<ModelResponse>, ModelError> {
    let mut answer = Answer::default();
    for piece in pieces {
        let document = crate::wire::parsed(*piece).unwrap();
        answer.piece(document.root(), &|_| ())?;
    }
    answer.finish(&WireNames::for_tools(["a.b", "plain"]))
}

/// The turn of one piece with these parts.
fn parts(parts: &str, finish: &str) -> Result<ModelResponse, ModelError> {
    let piece = format!(r#"{{"candidates": [{{"content": {{"parts": {parts}}}, "finishReason": "{finish}"}}]}}"#);
    Ok(turn(&[&piece])?.unwrap())
}

fn items(response: &ModelResponse) -> Vec<(u32, &str)> {
    response.items.iter().map(|item| (item.before, item.item.text())).collect()
}

#[test]
fn arguments_are_the_slice_that_was_sent() {
    for (wire, expected) in [
        (
            r#", "args": {"n" : 123456789012345678901234567890, "x":1.0}"#,
            r#"{"n" : 123456789012345678901234567890, "x":1.0}"#,
        ),
        (r#", "args": {}"#, "{}"),
        (r#", "args": null"#, ""),
        ("", ""),
        (r#", "args": "text""#, r#""text""#),
    ] {
        let response = parts(&format!(r#"[{{"functionCall": {{"name": "plain"{wire}}}}}]"#), "STOP").unwrap();
        assert_eq!(response.calls[0].arguments_text, expected);
    }
}

#[test]
fn calls_keep_order_names_and_ids() {
    let wire = WireNames::for_tools(["a.b", "plain"]).wire("a.b").unwrap().to_owned();
    let response = parts(
        &format!(
            r#"[{{"functionCall": {{"name": "{wire}", "id": "x"}}}}, {{"functionCall": {{"name": "made up"}}}},
                {{"functionCall": {{"name": "plain", "id": ""}}}}, {{"functionCall": {{"name": "plain", "id": "x"}}}}]"#
        ),
        "STOP",
    );
    let calls = response.unwrap().calls;
    let seen: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.provider_call_id.as_str())).collect();
    assert_eq!(seen, [("a.b", "x"), ("made up", ""), ("plain", ""), ("plain", "x")]);
    assert_eq!(parts(r#"[{"functionCall": {"args": {}}}]"#, "STOP").unwrap_err().code(), "model_invalid_response");
}

#[test]
fn a_plain_turn_has_nothing_to_come_back() {
    let response = parts(r#"[{"text": "a"}, {"text": "b"}, {"functionCall": {"name": "plain"}}]"#, "STOP").unwrap();
    assert_eq!((response.text.as_deref(), response.items.len()), (Some("ab"), 0));
}

#[test]
fn every_part_with_a_signature_keeps_its_place() {
    let response = parts(
        r#"[{"text": "hm", "thought": true}, {"text": "é1"}, {"text": "2", "thoughtSignature": "S1"}, {"text": "3"},
            {"functionCall": {"name": "plain"}, "thoughtSignature": "S2"}, {"functionCall": {"name": "plain"}},
            {"text": "t", "thought": true, "thoughtSignature": "S3"}, {"executableCode": {"code":  "1"}},
            {"text": "", "thoughtSignature": "S4"}, {"text": "", "thoughtSignature": ""}, {}]"#,
        "STOP",
    )
    .unwrap();
    assert_eq!(response.text.as_deref(), Some("é123"));
    let expected = [
        (0, r#"{"part":{"text":"hm","thought":true}}"#),
        (0, r#"{"text":3}"#),
        (0, r#"{"text":1,"thoughtSignature":"S1"}"#),
        (0, r#"{"text":1}"#),
        (0, r#"{"thoughtSignature":"S2"}"#),
        (2, r#"{"part":{"text": "t", "thought": true, "thoughtSignature": "S3"}}"#),
        (2, r#"{"part":{"executableCode": {"code":  "1"}}}"#),
        (2, r#"{"text":0,"thoughtSignature":"S4"}"#),
    ];
    assert_eq!(items(&response), expected);
}

#[test]
fn a_turn_in_pieces_is_the_turn_as_a_whole() {
    let piece = |parts: &str, finish: &str| {
        format!(r#"{{"candidates": [{{"content": {{"role": "model", "parts": {parts}}}{finish}}}]}}"#)
    };
    let done = r#", "finishReason": "STOP""#;
    let whole = piece(
        r#"[{"text": "think", "thought": true}, {"text": "say"}, {"functionCall": {"name": "plain", "args": {"a": 1}}}]"#,
        done,
    );
    let pieces = [
        piece(r#"[{"text": "thi", "thought": true}]"#, ""),
        piece(r#"[{"text": "nk", "thought": true}, {"text": "s"}]"#, ""),
        piece(r#"[{"text": "ay"}]"#, ""),
        piece(r#"[{"functionCall": {"name": "plain", "args": {"a": 1}}}]"#, ""),
        piece(r#"[{"text": ""}]"#, done),
    ];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    assert_eq!(turn(&pieces).unwrap(), turn(&[&whole]).unwrap());
    // Without its end it is none.
    assert_eq!(turn(&pieces[..4]).unwrap(), None);
    assert_eq!(turn(&[]).unwrap(), None);
}

#[test]
fn arguments_in_pieces_become_the_call_that_they_belong_to() {
    let piece = |call: &str| format!(r#"{{"candidates": [{{"content": {{"parts": [{{"functionCall": {call}}}]}}}}]}}"#);
    let done = r#"{"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}"#.to_owned();
    let texts = |calls: &[&str]| {
        let mut pieces: Vec<String> = calls.iter().map(|call| piece(call)).collect();
        pieces.push(done.clone());
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let calls = turn(&pieces)?.unwrap().calls;
        Ok::<_, ModelError>(calls.into_iter().map(|call| call.arguments_text).collect::<Vec<_>>())
    };
    let begin = r#"{"name": "plain", "willContinue": true}"#;
    let a = r#"{"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}], "willContinue": true}"#;
    assert_eq!(texts(&[begin, a, "{}", begin, "{}", "{}"]).unwrap(), [r#"{"a":1}"#, "{}"]);
    // Cut off, or followed by the next call before its end.
    assert_eq!(texts(&[begin, a]).unwrap(), [r#"{"a":1"#]);
    assert_eq!(texts(&[begin, a, r#"{"name": "plain", "args": {}}"#]).unwrap(), [r#"{"a":1"#, "{}"]);
    // The name again with each piece; all arguments at the end; some of both.
    let again = r#"{"name": "plain", "partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}"#;
    assert_eq!(texts(&[begin, again]).unwrap(), [r#"{"a":1}"#]);
    assert_eq!(texts(&[begin, r#"{"args": {"a": 1.0}}"#]).unwrap(), [r#"{"a": 1.0}"#]);
    assert_eq!(texts(&[begin, a, r#"{"args": {"a": 1.0}}"#]).unwrap(), [r#"{"a":1"#]);
    assert_eq!(texts(&[a]).unwrap_err().code(), "model_invalid_response");
}

#[test]
fn each_reason_to_end_has_its_meaning() {
    let code = |finish: &str| parts(r#"[{"text": "half a sen"}]"#, finish).map_err(|error| error.code());
    assert!(code("STOP").is_ok());
    for refused in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(code(refused).unwrap_err(), "model_refused", "{refused}");
    }
    for invalid in
        ["MAX_TOKENS", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "FINISH_REASON_UNSPECIFIED", "NEW"]
    {
        assert_eq!(code(invalid).unwrap_err(), "model_invalid_response", "{invalid}");
    }
    let said = r#"{"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: f("}]}"#;
    assert!(turn(&[said]).unwrap_err().to_string().contains("Malformed function call: f("));
    // Cut behind a whole call: the gate looks at it.
    let cut = parts(r#"[{"functionCall": {"name": "plain", "args": {"a": 1}}}]"#, "MAX_TOKENS").unwrap();
    assert_eq!(cut.calls.len(), 1);
    assert!(parts(r#"[{"functionCall": {"name": "plain"}}]"#, "MAX_TOKENS").is_err());
}

#[test]
fn blocked_prompts_and_errors_are_typed() {
    let code = |piece: &str| turn(&[piece]).unwrap_err().code();
    assert_eq!(code(r#"{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}"#), "model_refused");
    assert_eq!(code(r#"{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}"#), "model_overloaded");
    let limited =
        turn(&[r#"{"error": {"code": 429, "message": "slow", "details": [{"retryDelay": "1.5s"}]}}"#]).unwrap_err();
    let ModelError::RateLimited { retry_after, .. } = limited else { panic!("{limited}") };
    assert_eq!(retry_after, Some(std::time::Duration::from_millis(1500)));
}

#[test]
fn other_candidates_are_not_looked_at() {
    let piece = r#"{"candidates": [{"index": 1, "content": {"parts": [{"text": "b"}]}, "finishReason": "SAFETY"},
                    {"index": 0, "content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}"#;
    assert_eq!(turn(&[piece]).unwrap().unwrap().text.as_deref(), Some("a"));
}

#[test]
fn usage_is_the_newest_count() {
    let first =
        r#"{"usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 1}}"#;
    let last = r#"{"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "toolUsePromptTokenCount": 2,
                   "candidatesTokenCount": 5, "thoughtsTokenCount": 7}}"#;
    let expected = Usage {
        input_tokens: Some(12),
        output_tokens: Some(12),
        cached_input_tokens: Some(4),
        reasoning_tokens: Some(7),
        cost_microusd: None,
    };
    assert_eq!(
        turn(&[first, last, r#"{"usageMetadata": {"trafficType": "ON_DEMAND"}}"#]).unwrap().unwrap().usage,
        expected
    );
}
