use std::sync::{Arc, Mutex};

use super::*;

const CALL: &str = r#"{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":1}"}"#;

fn read(events: &[String]) -> Result<ModelResponse, ModelError> {
    let mut reader = Box::new(Reader::new(Sent::default()));
    for event in events {
        reader.event("", event, &|_| {})?;
    }
    reader.finish()
}

fn delta(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":{text}}}"#)
}

fn arguments_done(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":{text}}}"#
    )
}

fn item_done(item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#)
}

fn end(status: &str, output: &str) -> String {
    format!(r#"{{"type":"response.{status}","response":{{"status":"{status}","output":[{output}]}}}}"#)
}

#[test]
fn what_comes_agrees_with_the_end() {
    let whole = r#"{"a":1}"#;
    let good = [delta("{\"a\""), delta(":1}"), arguments_done(whole), item_done(CALL), end("completed", CALL)];
    assert_eq!(read(&good).unwrap().calls[0].arguments_text, whole);
    // Each of them may be missing, apart from one delta of two and from the end.
    for left_out in [2, 3] {
        let some: Vec<String> =
            good.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, event)| event.clone()).collect();
        assert_eq!(read(&some).unwrap().calls[0].arguments_text, whole, "{left_out}");
    }
    assert_eq!(read(&good[4..]).unwrap().calls.len(), 1);
    assert_eq!(read(&good[..4]).unwrap_err(), ended_early());
    let other = CALL.replace(":1}", ":2}");
    for bad in [
        vec![delta("{\"a\""), end("completed", CALL)],
        vec![delta(whole), delta(whole), end("completed", CALL)],
        vec![arguments_done("{}"), end("completed", CALL)],
        vec![item_done(&other), end("completed", CALL)],
        vec![item_done(&CALL.replace("\"f\"", "\"g\"")), end("completed", CALL)],
        vec![delta(whole), end("completed", r#"{"type":"message","id":"m","content":[]}"#)],
        vec![delta(whole), end("completed", "")],
    ] {
        assert_eq!(read(&bad).unwrap_err().code(), "model_invalid_response", "{bad:?}");
    }
}

#[test]
fn an_end_without_output_is_what_was_done() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1"}"#;
    let events = [
        item_done(reasoning),
        item_done(CALL).replace("\"output_index\":0", "\"output_index\":1"),
        end("completed", ""),
    ];
    let response = read(&events).unwrap();
    assert_eq!((response.calls.len(), response.items.len()), (1, 2));
    let begun = format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{CALL}}}"#);
    assert_eq!(read(&[begun, end("completed", "")]).unwrap_err().code(), "model_invalid_response");
}

#[test]
fn items_without_a_place_are_told_apart_by_their_ids() {
    let of = |id: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","delta":{text}}}"#)
    };
    let second = CALL.replace("fc_1", "fc_2").replace(":1}", ":2}");
    let events = [
        of("fc_2", "{\"a\""),
        of("fc_1", "{\"a\""),
        of("fc_2", ":2}"),
        of("fc_1", ":1}"),
        end("completed", &format!("{CALL},{second}")),
    ];
    assert_eq!(read(&events).unwrap().calls.len(), 2);
}

#[test]
fn nothing_counts_behind_the_end() {
    let events =
        [end("completed", CALL), end("completed", ""), delta("x"), r#"{"type":"error","message":"late"}"#.to_owned()];
    assert_eq!(read(&events).unwrap().calls.len(), 1);
}

#[test]
fn errors_and_failures_have_their_kind() {
    for (event, expected) in [
        (r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}"#, "model_rate_limited"),
        (r#"{"type":"error","error":{"type":"server_error","code":null,"message":"m"}}"#, "model_overloaded"),
        (r#"{"error":{"code":503,"message":"m"}}"#, "model_overloaded"),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error"},"output":[]}}"#,
            "model_overloaded",
        ),
        (r#"{"type":"response.cancelled","response":{"status":"cancelled","output":[]}}"#, "model_invalid_response"),
        (r#"{"type":"response.completed"}"#, "model_invalid_response"),
    ] {
        assert_eq!(read(&[event.to_owned()]).unwrap_err().code(), expected, "{event}");
    }
}

#[test]
fn text_and_thoughts_are_heard() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let listen = move |delta: Delta<'_>| listener.lock().unwrap().push(format!("{delta:?}"));
    let mut reader = Box::new(Reader::new(Sent::default()));
    for event in [
        r#"{"type":"response.reasoning_summary_text.delta","delta":"hm"}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"hi"}"#,
        r#"{"type":"response.audio.delta","delta":"??"}"#,
        "[DONE]",
    ] {
        reader.event("", event, &listen).unwrap();
    }
    assert_eq!(heard.lock().unwrap().as_slice(), [r#"Reasoning("hm")"#, r#"Text("hi")"#]);
}
