use lockgate_contract::document::Document;

use super::*;
use crate::wire::Sent;
use crate::{Provider, RemoteOptions};

fn document(text: &str) -> Document {
    Document::parse(text, crate::wire::limits(text.len())).unwrap()
}

fn said(options: RemoteOptions, request: &ModelRequest, stream: bool) -> String {
    let options = RemoteOptions { base_url: Some("http://localhost".to_owned()), ..options }.resolve(|_| None).unwrap();
    body(&options, request, &Sent::of(request).names, stream).unwrap()
}

#[test]
fn a_whole_body_looks_like_this() {
    let request = ModelRequest {
        step: 0,
        messages: vec![
            Message::System { text: "Be brief.".to_owned() },
            Message::User { text: "Hi".to_owned() },
            Message::System { text: "Be kind.".to_owned() },
        ],
        tools: vec![ToolDefinition {
            name: "now".to_owned(),
            description: "Tells the time.".to_owned(),
            input_schema: document(r#"{"properties": {"n": {"maximum": 1.0}}, "additionalProperties": false}"#),
        }],
    };
    let options = RemoteOptions {
        max_output_tokens: Some(99),
        temperature: Some(0.5),
        extra_body: Some(document(r#"{"thinking": {"budget_tokens" : 12345678901234567890}}"#)),
        ..RemoteOptions::new(Provider::Anthropic, "small-model")
    };
    let expected = [
        r#"{"model":"small-model","max_tokens":99,"#,
        r#""system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"#,
        r#""tools":[{"name":"now","description":"Tells the time.","#,
        r#""input_schema":{"type":"object","properties":{"n": {"maximum": 1.0}},"additionalProperties":false}}],"#,
        r#""temperature":0.5,"stream":true,"thinking":{"budget_tokens" : 12345678901234567890}}"#,
    ];
    assert_eq!(said(options.clone(), &request, true), expected.concat());
    assert_eq!(said(options.clone(), &request, true), said(options, &request, true));
}

#[test]
fn without_tools_and_options_nothing_is_said_about_them() {
    let request = ModelRequest { step: 0, messages: vec![Message::User { text: "Hi".to_owned() }], tools: Vec::new() };
    let expected = [
        r#"{"model":"m","max_tokens":8192,"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"stream":false}"#,
    ];
    assert_eq!(said(RemoteOptions::new(Provider::Anthropic, "m"), &request, false), expected.concat());
}
