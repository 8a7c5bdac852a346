use super::*;
use crate::wire::Answer as _;

fn turn(pieces: &[&str]) -> Result<Option<ModelResponse>, ModelError> {
    let mut answer = Answer::default();
    for piece in pieces {
        let document = crate::wire::parsed(*piece).unwrap();
        answer.piece(document.root(), &|_| ())?;
    }
    answer.finish(&WireNames::for_tools(["a.b", "plain"]))
}

const DONE: &str = r#"{"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                       "prompt_eval_count": 26, "eval_count": 12}"#;

#[test]
fn a_turn_in_pieces_is_the_turn_as_a_whole() {
    let pieces = [
        r#"{"message": {"role": "assistant", "content": "", "thinking": "h"}, "done": false}"#,
        r#"{"message": {"role": "assistant", "content": "", "thinking": "m"}, "done": false}"#,
        r#"{"message": {"role": "assistant", "content": "Look"}, "done": false}"#,
        r#"{"message": {"role": "assistant", "content": "ing", "tool_calls": [{"function": {"name": "plain", "arguments": {"n" : 1.0}}}]}, "done": false}"#,
        r#"{"message": {"content": "", "tool_calls": [{"id": "call_1", "function": {"index": 1, "name": "plain", "arguments": {}}}]}, "done": false}"#,
        DONE,
    ];
    let whole = r#"{"message": {"content": "Looking", "thinking": "hm", "tool_calls": [{"function": {"name": "plain", "arguments": {"n" : 1.0}}},
        {"id": "call_1", "function": {"name": "plain", "arguments": {}}}]}, "done": true, "prompt_eval_count": 26, "eval_count": 12}"#;
    let read = turn(&[whole]).unwrap().unwrap();
    assert_eq!(turn(&pieces).unwrap().unwrap(), read);
    assert_eq!(read.text.as_deref(), Some("Looking"));
    let calls: Vec<_> =
        read.calls.iter().map(|call| (call.provider_call_id.as_str(), call.arguments_text.as_str())).collect();
    assert_eq!(calls, [("", r#"{"n" : 1.0}"#), ("call_1", "{}")]);
    assert_eq!(read.items[0].item.text(), r#"{"thinking":"hm"}"#);
    assert_eq!((read.usage.input_tokens, read.usage.output_tokens), (Some(26), Some(12)));
    assert_eq!(turn(&pieces[..5]).unwrap(), None);
    assert!(turn(&[DONE, DONE]).is_err());
}

#[test]
fn each_reason_to_end_has_its_meaning() {
    let code = |message: &str, reason: &str| {
        let piece = format!(r#"{{"message": {message}, "done": true, "done_reason": "{reason}"}}"#);
        turn(&[&piece]).map_err(|error| error.code())
    };
    assert!(code(r#"{"content": "a"}"#, "stop").is_ok());
    assert_eq!(code(r#"{"content": "a"}"#, "length").unwrap_err(), "model_invalid_response");
    assert_eq!(code(r#"{"content": ""}"#, "load").unwrap_err(), "model_invalid_response");
    assert_eq!(code(r#"{"tool_calls": [{"function": {}}]}"#, "stop").unwrap_err(), "model_invalid_response");
    assert_eq!(turn(&[r#"{"error": "the runner has stopped"}"#]).unwrap_err().code(), "model_overloaded");
    assert_eq!(turn(&[r#"{"error": {"code": 429, "message": "slow"}}"#]).unwrap_err().code(), "model_rate_limited");
}
