use lockgate_contract::ids::CallId;

use super::*;

fn turn_with(text: Option<&str>, items: &[&str]) -> String {
    let items = items.iter().map(|item| ProviderItem {
        adapter: super::super::NAME.to_owned(),
        before: 0,
        item: Document::parse(*item, crate::wire::limits(item.len())).unwrap(),
    });
    let items = items.collect();
    let messages = [Message::Assistant { text: text.map(str::to_owned), calls: Vec::new(), items }];
    let names = WireNames::default();
    serde_json::to_string(&input_items(&messages, &names).unwrap()).unwrap()
}

#[test]
fn the_text_of_the_history_is_what_goes_back() {
    let marks = [r#"{"type":"message","id":"a","bytes":3}"#, r#"{"type":"message","id":"b","bytes":3}"#];
    let wire = turn_with(Some("onetwo"), &marks);
    assert!(wire.contains(r#""text":"one""#) && wire.contains(r#""text":"two""#), "{wire}");
    // Scrubbed of a secret, it is not cut in the middle of a word.
    let wire = turn_with(Some("one[hidden]"), &marks);
    assert!(wire.contains(r#""text":"one[hidden]""#) && !wire.contains(r#""id":"b""#), "{wire}");
    // A message without its text is none, and a turn without anything still is one.
    assert_eq!(turn_with(None, &marks), "[]");
    assert_eq!(turn_with(None, &[]), r#"[{"role":"assistant","content":""}]"#);
}

#[test]
fn a_history_that_does_not_pair_is_refused() {
    let call = MessageCall {
        call_id: CallId::new("run-1:step-0:call-0"),
        provider_call_id: "x".to_owned(),
        name: "t".to_owned(),
        arguments_text: "{}".to_owned(),
        language: ActionLanguage::Call,
    };
    let messages = [Message::Assistant { text: None, calls: vec![call], items: Vec::new() }];
    let names = WireNames::for_tools(["t"]);
    assert_eq!(input_items(&messages, &names).unwrap_err().code(), "model_invalid_request");
    let user = Message::User { text: "hello".to_owned() };
    assert_eq!(input_items(&[messages[0].clone(), user], &names).unwrap_err().code(), "model_invalid_request");
}
