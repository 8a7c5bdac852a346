use lockgate_contract::ports::ProviderItem;

use super::*;
use crate::testing::document;

fn call(index: u32, provider_call_id: &str, arguments_text: &str) -> MessageCall {
    crate::testing::call(index, "t", provider_call_id, arguments_text)
}

fn item(before: u32, text: &str) -> ProviderItem {
    ProviderItem { adapter: "anthropic".to_owned(), before, item: document(text) }
}

fn said(text: &str, calls: &[MessageCall], items: &[ProviderItem]) -> Message {
    let text = (!text.is_empty()).then(|| text.to_owned());
    Message::Assistant { text, calls: calls.to_vec(), items: items.to_vec() }
}

fn result(call: &MessageCall, ok: bool, content: &str) -> Message {
    Message::Tool { call_id: call.call_id.clone(), ok, content: document(content) }
}

fn user(text: &str) -> Message {
    Message::User { text: text.to_owned() }
}

fn wire(messages: &[Message]) -> String {
    let names = WireNames::for_tools(["t"]);
    serde_json::to_string(&wire_messages(messages, &names).unwrap()).unwrap()
}

#[test]
fn the_results_of_a_turn_stand_first_in_one_message() {
    let (a, b) = (call(0, "x", "{}"), call(1, "y", r#"{"n": 1.10}"#));
    let history = [
        user("one"),
        user("two"),
        Message::System { text: "Be brief.".to_owned() },
        said("Looking.", &[a.clone(), b.clone()], &[]),
        result(&b, false, r#"{"code": "failed"}"#),
        result(&a, true, "1"),
        user("and?"),
    ];
    let expected = [
        r#"[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"Looking."},"#,
        r#"{"type":"tool_use","id":"x","name":"t","input":{}},"#,
        r#"{"type":"tool_use","id":"y","name":"t","input":{"n": 1.10}}]},"#,
        r#"{"role":"user","content":["#,
        r#"{"type":"tool_result","tool_use_id":"y","is_error":true,"content":"{\"code\": \"failed\"}"},"#,
        r#"{"type":"tool_result","tool_use_id":"x","is_error":false,"content":"1"},"#,
        r#"{"type":"text","text":"and?"}]}]"#,
    ];
    assert_eq!(wire(&history), expected.concat());
}

#[test]
fn ids_that_the_provider_does_not_take_are_made_anew() {
    let calls = [call(0, "fc|1", "{}"), call(1, "", "{}"), call(2, "x", "{}"), call(3, "x", "{}")];
    let mut history = vec![said("", &calls, &[])];
    history.extend(calls.iter().map(|call| result(call, true, "1")));
    let text = wire(&history);
    for id in ["call00000", "call00001", "x", "call00002"] {
        assert!(
            text.contains(&format!(r#""id":"{id}""#)) && text.contains(&format!(r#""tool_use_id":"{id}""#)),
            "{text}"
        );
    }
}

#[test]
fn broken_arguments_and_code_are_an_empty_input() {
    let code = MessageCall { language: ActionLanguage::Code, ..call(1, "y", r#"{"a": 1}"#) };
    for of_call in [call(0, "x", r#"{"a": "#), call(0, "x", "[]"), code] {
        assert!(
            wire(&[said("", std::slice::from_ref(&of_call), &[]), result(&of_call, true, "1")])
                .contains(r#""input":{}"#)
        );
    }
}

#[test]
fn images_stand_inside_the_result_where_they_are_taken() {
    let a = call(0, "x", "{}");
    let with = |mime: &str| {
        let content = format!(r#"{{"content":[{{"type":"image","mimeType":"{mime}","data":"iVBO"}}]}}"#);
        wire(&[said("", std::slice::from_ref(&a), &[]), result(&a, true, &content)])
    };
    let expected = [
        r#""content":[{"type":"text","text":"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\"}]}"},"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]}"#,
    ];
    assert!(with("image/png").contains(&expected.concat()), "{}", with("image/png"));
    let other = with("image/svg+xml");
    assert!(!other.contains("iVBO") && !other.contains("base64"), "{other}");
}

const THOUGHT: &str = r#"{"type":"thinking","thinking":"hm", "signature":"S1"}"#;

#[test]
fn what_was_kept_goes_back_at_its_place() {
    let (a, b) = (call(0, "x", "{}"), call(1, "y", "{}"));
    let items = [
        item(0, THOUGHT),
        ProviderItem { adapter: "gemini".to_owned(), ..item(0, r#"{"other":1}"#) },
        item(1, r#"{"type":"redacted_thinking","data":"R"}"#),
        item(1, r#"{"type":"tool_use","caller":{"type":"code","tool_id":"s"}}"#),
        item(2, r#"{"type":"something_new"}"#),
    ];
    let history = [said("So.", &[a.clone(), b.clone()], &items), result(&a, true, "1"), result(&b, true, "2")];
    let expected = [
        r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"hm", "signature":"S1"},"#,
        r#"{"type":"text","text":"So."},{"type":"tool_use","id":"x","name":"t","input":{}},"#,
        r#"{"type":"redacted_thinking","data":"R"},"#,
        r#"{"type":"tool_use","id":"y","name":"t","input":{},"caller":{"type":"code","tool_id":"s"}},"#,
        r#"{"type":"something_new"}]},"#,
    ];
    assert!(wire(&history).starts_with(&expected.concat()), "{}", wire(&history));
}

const USE: &str = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#;
const ANSWER: &str = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;

#[test]
fn kept_texts_stand_where_they_stood_unless_one_is_gone() {
    let texts = [r#"{"type":"text","text":"A"}"#, r#"{"type":"text","text":"B","citations":[1]}"#];
    let items = [item(0, texts[0]), item(0, USE), item(0, ANSWER), item(0, texts[1])];
    let whole = format!(r#"[{{"role":"assistant","content":[{},{USE},{ANSWER},{}]}}]"#, texts[0], texts[1]);
    assert_eq!(wire(&[said("AB", &[], &items)]), whole);
    // A secret was taken out of the second, and the text is not what the items say.
    let scrubbed = format!(r#"[{{"role":"assistant","content":[{{"type":"text","text":"A[…]"}},{USE},{ANSWER}]}}]"#);
    assert_eq!(wire(&[said("A[…]", &[], &items[..3])]), scrubbed);
}

#[test]
fn half_a_pair_is_left_out() {
    let turn = |items: &[ProviderItem]| said("A", &[], items);
    let next = [user("go on"), turn(&[])];
    let history = |first: Message| [vec![first], next.to_vec()].concat();
    assert!(wire(&history(turn(&[item(0, USE), item(0, ANSWER)]))).contains(USE));
    assert!(!wire(&history(turn(&[item(0, USE)]))).contains(USE));
    assert!(!wire(&history(turn(&[item(0, ANSWER)]))).contains(ANSWER));
    // It may still be answered: in the last turn, or while it calls tools itself.
    assert!(wire(&[turn(&[item(0, USE)])]).contains(USE));
    let a = call(0, "x", "{}");
    let caller = item(0, r#"{"type":"tool_use","caller":{"type":"code","tool_id":"s1"}}"#);
    let calling = [said("", std::slice::from_ref(&a), &[item(0, USE), caller]), result(&a, true, "1"), turn(&[])];
    assert!(wire(&calling).contains(USE));
}

#[test]
fn a_turn_of_nothing_is_left_out() {
    for nothing in [said("", &[], &[]), said(" \n", &[], &[]), said("", &[], &[item(0, THOUGHT)])] {
        let text = wire(&[user("a"), nothing, user("b")]);
        assert_eq!(text, r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#);
    }
}

#[test]
fn a_history_that_does_not_pair_is_refused() {
    let a = call(0, "x", "{}");
    let one = std::slice::from_ref(&a);
    for broken in [
        vec![said("", one, &[])],
        vec![said("", one, &[]), user("b"), result(&a, true, "1")],
        vec![result(&a, true, "1")],
    ] {
        let error = wire_messages(&broken, &WireNames::default()).unwrap_err();
        assert_eq!(error.code(), "model_invalid_request");
    }
}
