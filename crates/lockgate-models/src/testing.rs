//! What the tests of several wires need.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Document;
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{Message, MessageCall, ModelRequest, ToolDefinition};

use crate::options::Resolved;
use crate::{Provider, RemoteOptions};

pub(crate) fn document(text: &str) -> Document {
    Document::parse(text, crate::wire::limits(text.len())).unwrap()
}

/// Options for a server on this machine.
pub(crate) fn options(provider: Provider, extra_body: Option<&str>, temperature: Option<f64>) -> Resolved {
    RemoteOptions {
        base_url: Some("http://localhost/v1".to_owned()),
        extra_body: extra_body.map(document),
        temperature,
        max_output_tokens: Some(100),
        ..RemoteOptions::new(provider, "small-model")
    }
    .resolve(|_| None)
    .unwrap()
}

pub(crate) fn call(index: u32, name: &str, provider_call_id: &str, arguments_text: &str) -> MessageCall {
    MessageCall {
        call_id: CallId::new(format!("run-1:step-0:call-{index}")),
        provider_call_id: provider_call_id.to_owned(),
        name: name.to_owned(),
        arguments_text: arguments_text.to_owned(),
        language: ActionLanguage::Call,
    }
}

pub(crate) fn result(call: &MessageCall, ok: bool, content: &str) -> Message {
    Message::Tool { call_id: call.call_id.clone(), ok, content: document(content) }
}

/// A history with everything in it: text beside calls, an invented tool, broken arguments, a missing id, code, an image, a failure.
pub(crate) fn request() -> ModelRequest {
    let code = MessageCall { language: ActionLanguage::Code, ..call(2, "python", "p3", "print(1)") };
    let calls = [
        call(0, "incident.lookup", "p1", r#"{"id": 9007199254740993}"#),
        call(1, "no such tool", "", r#"{"a": "#),
        code,
    ];
    let image = r#"{"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}], "cost": 1.10}"#;
    ModelRequest {
        step: 1,
        messages: vec![
            Message::System { text: "Be brief.".to_owned() },
            Message::User { text: "Who owns INC-001?".to_owned() },
            Message::Assistant { text: Some("Looking.".to_owned()), calls: calls.to_vec(), items: Vec::new() },
            result(&calls[0], true, image),
            result(&calls[1], false, r#"{"code": "unknown_tool"}"#),
            result(&calls[2], true, "[1, 2]"),
            Message::User { text: "And?".to_owned() },
        ],
        tools: vec![
            ToolDefinition {
                name: "incident.lookup".to_owned(),
                description: "Look an incident up.".to_owned(),
                input_schema: document(r#"{"type": "object", "properties": {"id": {"type": "integer"}}}"#),
            },
            ToolDefinition { name: "now".to_owned(), description: String::new(), input_schema: document("{}") },
        ],
    }
}
