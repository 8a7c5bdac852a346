use lockgate_contract::ports::{Message, MessageCall};

use super::*;
use crate::testing::{call, document};
use crate::wire::Sent;
use crate::{Provider, RemoteOptions};

fn options(extra_body: Option<&str>, temperature: Option<f64>) -> Resolved {
    RemoteOptions {
        base_url: Some("http://localhost/v1".to_owned()),
        extra_body: extra_body.map(document),
        temperature,
        ..RemoteOptions::new(Provider::OpenaiCompatible, "small-model")
    }
    .resolve(|_| None)
    .unwrap()
}

/// A history with everything in it: text beside calls, an invented tool, a broken argument text, a missing id.
fn request() -> ModelRequest {
    let calls =
        [call(0, "incident.lookup", "p1", r#"{"id": 9007199254740993}"#), call(1, "no such tool", "", r#"{"a": "#)];
    let result = |call: &MessageCall, content| Message::Tool {
        call_id: call.call_id.clone(),
        ok: true,
        content: document(content),
    };
    let results = [
        result(&calls[0], r#"{"owner": "team-auth", "cost": 1.10}"#),
        result(&calls[1], r#"{"code": "unknown_tool", "message": "there is no such tool"}"#),
    ];
    let [first, second] = results;
    ModelRequest {
        step: 1,
        messages: vec![
            Message::System { text: "Be brief.".to_owned() },
            Message::User { text: "Who owns INC-001?".to_owned() },
            Message::Assistant { text: Some("Looking.".to_owned()), calls: calls.to_vec(), items: Vec::new() },
            first,
            second,
        ],
        tools: vec![
            ToolDefinition {
                name: "incident.lookup".to_owned(),
                description: "Look an incident up.".to_owned(),
                input_schema: document(
                    r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#,
                ),
            },
            ToolDefinition { name: "now".to_owned(), description: String::new(), input_schema: document("{}") },
        ],
    }
}

#[test]
fn a_whole_body_looks_like_this() {
    let request = request();
    let names = Sent::of(&request).names;
    let body = body(&options(Some(r#"{"seed": 7}"#), Some(0.5)), &request, &names, false).unwrap();
    let expected = [
        r#"{"model":"small-model","messages":["#,
        r#"{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":"Who owns INC-001?"},"#,
        r#"{"role":"assistant","content":"Looking.","tool_calls":["#,
        r#"{"id":"p1","type":"function","function":{"name":"LOOKUP","arguments":"{\"id\": 9007199254740993}"}},"#,
        r#"{"id":"call00000","type":"function","function":{"name":"INVENTED","arguments":"{}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"p1","content":"{\"owner\": \"team-auth\", \"cost\": 1.10}"},"#,
        r#"{"role":"tool","tool_call_id":"call00000","#,
        r#""content":"{\"code\": \"unknown_tool\", \"message\": \"there is no such tool\"}"}],"#,
        r#""tools":[{"type":"function","function":{"name":"LOOKUP","description":"Look an incident up.","#,
        r#""parameters":{"type":"object","properties":{"id": {"type": "integer"}},"required":["id"]}}},"#,
        r#"{"type":"function","function":{"name":"now","description":"","#,
        r#""parameters":{"type":"object","properties":{}}}}],"#,
        r#""temperature":0.5,"stream":false,"seed":7}"#,
    ]
    .concat();
    let expected = expected
        .replace("LOOKUP", names.wire("incident.lookup").unwrap())
        .replace("INVENTED", names.wire("no such tool").unwrap());
    assert_eq!(body, expected);
    assert!(!body.contains("strict"));
}

#[test]
fn without_tools_and_options_nothing_is_said_about_them() {
    let request = ModelRequest { step: 0, messages: vec![Message::User { text: "Hi".to_owned() }], tools: Vec::new() };
    let body = body(&options(None, None), &request, &Sent::of(&request).names, false).unwrap();
    assert_eq!(body, r#"{"model":"small-model","messages":[{"role":"user","content":"Hi"}],"stream":false}"#);
}
