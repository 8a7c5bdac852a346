use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Document;
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{MessageCall, ProviderItem};

use super::*;
use crate::wire::Sent;
use crate::{Provider, RemoteOptions};

fn document(text: &str) -> Document {
    Document::parse(text, crate::wire::limits(text.len())).unwrap()
}

fn call(index: u32, provider_call_id: &str, name: &str, text: &str, language: ActionLanguage) -> MessageCall {
    MessageCall {
        call_id: CallId::new(format!("run-1:step-0:call-{index}")),
        provider_call_id: provider_call_id.to_owned(),
        name: name.to_owned(),
        arguments_text: text.to_owned(),
        language,
    }
}

fn item(adapter: &str, before: u32, text: &str) -> ProviderItem {
    ProviderItem { adapter: adapter.to_owned(), before, item: document(text) }
}

/// A history with everything in it.
fn request() -> ModelRequest {
    let calls = vec![
        call(0, "c1", "incident.lookup", r#"{"id": 9007199254740993}"#, ActionLanguage::Call),
        call(1, "", "f", r#"{"a": "#, ActionLanguage::Call),
        call(2, "c3", "py", "print(1)", ActionLanguage::Code),
    ];
    let result = |index: usize, ok, text: &str| Message::Tool {
        call_id: calls[index].call_id.clone(),
        ok,
        content: document(text),
    };
    let items = vec![
        item("openai", 0, r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e","n":1.10}"#),
        item("another", 0, r#"{"type":"reasoning"}"#),
        item("openai", 0, r#"{"type":"message","id":"msg_1","phase":"commentary","bytes":8}"#),
        item("openai", 0, r#"{"type":"function_call","id":"fc_1","caller":{"type":"program"}}"#),
        item("openai", 1, r#"{"type":"web_search_call","id":"ws_1"}"#),
        item("openai", 2, r#"{"type":"custom_tool_call","id":"ct_1"}"#),
        item("openai", 3, r#"{"type":"message","id":"msg_2","bytes":5}"#),
    ];
    let messages = vec![
        Message::System { text: "Be brief.".to_owned() },
        Message::User { text: "Who?".to_owned() },
        Message::System { text: "Still.".to_owned() },
        Message::Assistant { text: Some("Looking.Done.".to_owned()), calls: calls.clone(), items },
        result(
            0,
            true,
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"text","text":"a"}]}"#,
        ),
        result(1, false, r#"{"code":"invalid_arguments"}"#),
        result(2, false, r#"{"code":"wrong_action_language"}"#),
        Message::Assistant { text: Some("Plain.".to_owned()), calls: Vec::new(), items: Vec::new() },
    ];
    let tool = |name: &str, schema: &str| ToolDefinition {
        name: name.to_owned(),
        description: "Looks.".to_owned(),
        input_schema: document(schema),
    };
    let tools =
        vec![tool("f", "{}"), tool("incident.lookup", r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#)];
    ModelRequest { step: 1, messages, tools }
}

fn options() -> Resolved {
    RemoteOptions {
        base_url: Some("http://localhost/v1".to_owned()),
        extra_body: Some(document(r#"{"reasoning": {"effort": "low"}}"#)),
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        ..RemoteOptions::new(Provider::Openai, "small-model")
    }
    .resolve(|_| None)
    .unwrap()
}

#[test]
fn a_whole_body_looks_like_this() {
    let request = request();
    let names = Sent::of(&request).names;
    let written = body(&options(), &request, &names, true).unwrap();
    let expected = [
        r#"{"model":"small-model","instructions":"Be brief.","input":["#,
        r#"{"role":"user","content":"Who?"},"#,
        r#"{"role":"system","content":"Still."},"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e","n":1.10},"#,
        r#"{"type":"message","role":"assistant","status":"completed","#,
        r#""content":[{"type":"output_text","text":"Looking.","annotations":[]}],"id":"msg_1","phase":"commentary"},"#,
        r#"{"type":"function_call","call_id":"c1","name":"LOOKUP","arguments":"{\"id\": 9007199254740993}","#,
        r#""id":"fc_1","caller":{"type":"program"}},"#,
        r#"{"type":"web_search_call","id":"ws_1"},"#,
        r#"{"type":"function_call","call_id":"call00000","name":"f","arguments":"{}"},"#,
        r#"{"type":"custom_tool_call","call_id":"c3","name":"py","input":"print(1)","id":"ct_1"},"#,
        r#"{"type":"message","role":"assistant","status":"completed","#,
        r#""content":[{"type":"output_text","text":"Done.","annotations":[]}],"id":"msg_2"},"#,
        r#"{"type":"function_call_output","call_id":"c1","output":["#,
        r#"{"type":"input_text","text":"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\"},{\"type\":\"text\",\"text\":\"a\"}]}"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},"#,
        r#"{"type":"function_call_output","call_id":"call00000","output":"{\"code\":\"invalid_arguments\"}"},"#,
        r#"{"type":"custom_tool_call_output","call_id":"c3","output":"{\"code\":\"wrong_action_language\"}"},"#,
        r#"{"role":"assistant","content":"Plain."}],"#,
        r#""tools":[{"type":"function","name":"f","description":"Looks.","parameters":{"type":"object","properties":{}},"strict":false},"#,
        r#"{"type":"function","name":"LOOKUP","description":"Looks.","#,
        r#""parameters":{"type":"object","properties":{"id":{"type":"integer"}}},"strict":false}],"#,
        r#""temperature":0.5,"max_output_tokens":100,"store":false,"include":["reasoning.encrypted_content"],"stream":true,"#,
        r#""reasoning":{"effort": "low"}}"#,
    ];
    assert_eq!(written, expected.concat().replace("LOOKUP", names.wire("incident.lookup").unwrap()));
    assert_eq!(written, body(&options(), &request, &names, true).unwrap(), "the same request gives the same bytes");
}

#[test]
fn members_that_the_adapter_writes_cannot_be_given() {
    for member in ["input", "store", "include", "previous_response_id", "tools", "background", "prompt"] {
        let options = RemoteOptions {
            base_url: Some("http://localhost/v1".to_owned()),
            extra_body: Some(document(&format!(r#"{{"{member}": 1}}"#))),
            ..RemoteOptions::new(Provider::Openai, "m")
        };
        assert!(options.resolve(|_| None).is_err(), "{member}");
    }
}
