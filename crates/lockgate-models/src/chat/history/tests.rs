use lockgate_contract::document::Document;

use super::*;

fn call(index: u32, provider_call_id: &str, arguments_text: &str) -> MessageCall {
    crate::testing::call(index, "t", provider_call_id, arguments_text)
}

fn turn(calls: &[MessageCall]) -> Message {
    Message::Assistant { text: None, calls: calls.to_vec(), items: Vec::new() }
}

fn result(call: &MessageCall, content: &str) -> Message {
    let content = Document::parse(content, crate::wire::limits(content.len())).unwrap();
    Message::Tool { call_id: call.call_id.clone(), ok: true, content }
}

/// The ids of calls and results in the order of the wire.
fn ids(messages: &[Message]) -> Vec<String> {
    let names = WireNames::for_tools(["t"]);
    let wire = wire_messages(messages, &names).unwrap();
    wire.iter()
        .flat_map(|message| match message {
            WireMessage::Assistant { tool_calls, .. } => tool_calls.iter().map(|call| call.id.to_string()).collect(),
            WireMessage::Tool { tool_call_id, .. } => vec![format!("-> {tool_call_id}")],
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn the_providers_ids_stay_where_they_work() {
    let (a, b) = (call(0, "x", "{}"), call(1, "y", "{}"));
    assert_eq!(ids(&[turn(&[a.clone(), b.clone()]), result(&a, "1"), result(&b, "2")]), ["x", "y", "-> x", "-> y"]);
}

#[test]
fn empty_and_doubled_ids_are_made_unique_and_pair_by_occurrence() {
    let first = [call(0, "", "{}"), call(1, "x", "{}"), call(2, "x", "{}")];
    let second = [call(3, "x", "{}"), call(4, "call00001", "{}")];
    let history = [
        turn(&first),
        result(&first[0], "1"),
        result(&first[2], "3"),
        result(&first[1], "2"),
        turn(&second),
        result(&second[0], "4"),
        result(&second[1], "5"),
    ];
    let expected = [
        "call00000",
        "x",
        "call00002",
        "-> call00000",
        "-> call00002",
        "-> x",
        "call00003",
        "call00001",
        "-> call00003",
        "-> call00001",
    ];
    assert_eq!(ids(&history), expected);
    assert_eq!(ids(&history), expected, "the same history gives the same ids");
}

#[test]
fn a_history_that_does_not_pair_is_refused() {
    let (a, b) = (call(0, "x", "{}"), call(1, "y", "{}"));
    let one = std::slice::from_ref(&a);
    let user = Message::User { text: "hello".to_owned() };
    for broken in [
        vec![turn(one)],
        vec![turn(one), user.clone(), result(&a, "1")],
        vec![turn(&[a.clone(), b.clone()]), result(&a, "1"), turn(&[])],
        vec![turn(one), result(&a, "1"), result(&a, "1")],
        vec![turn(one), result(&b, "1")],
        vec![result(&a, "1")],
    ] {
        let names = WireNames::for_tools(["t"]);
        let error = wire_messages(&broken, &names).unwrap_err();
        assert_eq!(error.code(), "model_invalid_request");
        assert!(error.to_string().contains("run-1:step-0:call-"), "{error}");
    }
}

#[test]
fn arguments_go_back_raw_if_they_are_an_object_and_as_an_empty_one_if_not() {
    for whole in [r#"{"n": 9007199254740993, "x":0.10}"#, " { } ", r#"{"a":{"b":[]}}"#] {
        assert_eq!(object_text(whole), whole);
    }
    for broken in
        ["", " ", r#"{"a": 1"#, r#"{"a":1,"a":2}"#, "[]", "null", "1", "\"{}\"", "{} trailing", r#"{"a": NaN}"#]
    {
        assert_eq!(object_text(broken), "{}", "{broken}");
    }
}

#[test]
fn code_goes_back_as_it_came_and_has_its_result() {
    let code = MessageCall { language: ActionLanguage::Code, ..call(0, "x", "print(1)\nif a < b: {") };
    let look = call(1, "y", r#"{"n":1}"#);
    let history =
        [turn(&[code.clone(), look.clone()]), result(&code, r#"{"code":"wrong_action_language"}"#), result(&look, "1")];
    let names = WireNames::for_tools(["t"]);
    let wire = serde_json::to_string(&wire_messages(&history, &names).unwrap()).unwrap();
    let expected = [
        r#"[{"role":"assistant","content":null,"tool_calls":["#,
        r#"{"id":"x","type":"custom","custom":{"name":"t","input":"print(1)\nif a < b: {"}},"#,
        r#"{"id":"y","type":"function","function":{"name":"t","arguments":"{\"n\":1}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"x","content":"{\"code\":\"wrong_action_language\"}"},"#,
        r#"{"role":"tool","tool_call_id":"y","content":"1"}]"#,
    ];
    assert_eq!(wire, expected.concat()); // R-106, R-196
    // Each call needs its result, whatever it is written in.
    assert_eq!(wire_messages(&history[..2], &names).unwrap_err().code(), "model_invalid_request");
    assert_eq!(wire_messages(&[turn(&[code])], &names).unwrap_err().code(), "model_invalid_request");
}

#[test]
fn a_turn_without_text_and_calls_still_has_a_text() {
    let names = WireNames::default();
    let messages = [turn(&[])];
    let wire = wire_messages(&messages, &names).unwrap();
    assert_eq!(serde_json::to_string(&wire).unwrap(), r#"[{"role":"assistant","content":""}]"#);
}
