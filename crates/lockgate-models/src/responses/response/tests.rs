use super::*;

fn read_plain(body: &str) -> Result<ModelResponse, ModelError> {
    read(body.to_owned(), &WireNames::for_tools(["a.b", "f"]))
}

fn output(status: &str, items: &str) -> Result<ModelResponse, ModelError> {
    read_plain(&format!(r#"{{"status":"{status}","output":[{items}]}}"#))
}

fn reason(reason: &str, items: &str) -> Result<ModelResponse, ModelError> {
    let details = format!(r#""incomplete_details":{{"reason":"{reason}"}}"#);
    read_plain(&format!(r#"{{"status":"incomplete",{details},"output":[{items}]}}"#))
}

#[test]
fn calls_and_items_keep_their_order_and_their_two_ids_apart() {
    let wire = WireNames::for_tools(["a.b"]).wire("a.b").unwrap().to_owned();
    let response = output(
        "completed",
        &[
            r#"{"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"e"}"#,
            r#"{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"é"}]}"#,
            &format!(r#"{{"type":"function_call","id":"fc_1","call_id":"c1","name":"{wire}","arguments":"{{\"n\": 1.10}}","status":"completed","namespace":"x"}}"#),
            r#"{"type":"web_search_call","id":"ws_1","arguments":"{}","name":"web_search","call_id":""}"#,
            r#"{"type":"custom_tool_call","id":"ct_1","call_id":"c2","name":"f","input":"print(1)"}"#,
            r#"{"type":"mcp_approval_request","id":"m","name":"f","arguments":"{}"}"#,
            r#"{"type":"function_call","name":"f"}"#,
        ]
        .join(","),
    )
    .unwrap();
    let call = |id: &str, name: &str, text: &str, language| ProposedCall {
        provider_call_id: id.to_owned(),
        name: name.to_owned(),
        arguments_text: text.to_owned(),
        language,
    };
    let expected = [
        call("c1", "a.b", r#"{"n": 1.10}"#, ActionLanguage::Call),
        call("c2", "f", "print(1)", ActionLanguage::Code),
        call("", "f", "", ActionLanguage::Call),
    ];
    assert_eq!(response.calls, expected);
    assert_eq!(response.text.as_deref(), Some("é"));
    let items: Vec<(u32, &str)> = response.items.iter().map(|item| (item.before, item.item.text())).collect();
    let expected = [
        (0, r#"{"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"e"}"#),
        (0, r#"{"type":"message","id":"msg_1","phase":"commentary","bytes":2}"#),
        (0, r#"{"type":"function_call","id":"fc_1","namespace":"x"}"#),
        (1, r#"{"type":"web_search_call","id":"ws_1","arguments":"{}","name":"web_search","call_id":""}"#),
        (1, r#"{"type":"custom_tool_call","id":"ct_1"}"#),
        (2, r#"{"type":"mcp_approval_request","id":"m","name":"f","arguments":"{}"}"#),
        (2, r#"{"type":"function_call"}"#),
    ];
    assert_eq!(items, expected);
}

#[test]
fn a_refusal_is_the_text_where_there_is_no_other() {
    let refusal = r#"{"type":"message","content":[{"type":"refusal","refusal":"no"}]}"#;
    let text = r#"{"type":"message","content":[{"type":"output_text","text":"yes"}]}"#;
    assert_eq!(output("completed", refusal).unwrap().text.as_deref(), Some("no"));
    assert_eq!(output("completed", &format!("{text},{refusal}")).unwrap().text.as_deref(), Some("yes"));
}

#[test]
fn a_response_that_is_not_whole_does_not_pass_for_one() {
    let call = |text: &str| format!(r#"{{"type":"function_call","name":"f","arguments":"{text}"}}"#);
    let text = r#"{"type":"message","content":[{"type":"output_text","text":"half"}]}"#;
    assert_eq!(reason("max_output_tokens", &call("{")).unwrap().calls[0].arguments_text, "{");
    for cut in [call(""), text.to_owned(), String::new()] {
        assert_eq!(reason("max_output_tokens", &cut).unwrap_err().code(), "model_invalid_response", "{cut}");
    }
    assert_eq!(reason("content_filter", "").unwrap_err().code(), "model_refused");
    assert_eq!(reason("content_filter", &call("")).unwrap_err().code(), "model_invalid_response");
    for status in ["in_progress", "queued", "cancelled", "another"] {
        assert_eq!(output(status, &call("{}")).unwrap_err().code(), "model_invalid_response", "{status}");
    }
    assert_eq!(output("failed", "").unwrap_err().code(), "model_overloaded");
    assert_eq!(read_plain(r#"{"error":null}"#).unwrap_err().code(), "model_invalid_response");
    assert_eq!(output("completed", r#"{"type":"function_call"}"#).unwrap_err().code(), "model_invalid_response");
}

#[test]
fn a_failure_has_its_kind_and_says_when_to_come_back() {
    let failed =
        |error: &str| read_plain(&format!(r#"{{"status":"failed","error":{error},"output":[]}}"#)).unwrap_err();
    assert_eq!(failed(r#"{"code":"server_error","message":"m"}"#).code(), "model_overloaded");
    assert_eq!(failed(r#"{"code":"invalid_prompt","message":"m"}"#).code(), "model_invalid_request");
    let ModelError::RateLimited { retry_after, detail } =
        failed(r#"{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 1.5s. Bye"}"#)
    else {
        panic!("a rate limit")
    };
    assert_eq!(retry_after, Some(std::time::Duration::from_millis(1500)));
    assert!(detail.contains("Rate limit reached"), "{detail}");
}
