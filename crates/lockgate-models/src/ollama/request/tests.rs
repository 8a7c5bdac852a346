use lockgate_contract::ports::{Message, ProviderItem};

use super::*;
use crate::Provider;
use crate::testing::{document, options, request};
use crate::wire::Sent;

#[test]
fn a_whole_body_looks_like_this() {
    let mut request = request();
    let Message::Assistant { items, .. } = &mut request.messages[2] else { panic!() };
    for adapter in ["other", "ollama"] {
        let item = document(&format!(r#"{{"thinking": "by {adapter}"}}"#));
        items.push(ProviderItem { adapter: adapter.to_owned(), before: 0, item });
    }
    let sent = Sent::of(&request);
    let options = options(Provider::Ollama, Some(r#"{"think": true, "options": {"num_ctx": 8192}}"#), Some(0.5));
    let body = body(&options, &request, &sent.names, true).unwrap();
    let expected = [
        r#"{"model":"small-model","messages":[{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":"Who owns INC-001?"},"#,
        r#"{"role":"assistant","content":"Looking.","thinking":"by ollama","tool_calls":["#,
        r#"{"function":{"name":"LOOKUP","arguments":{"id": 9007199254740993}}},"#,
        r#"{"function":{"name":"INVENTED","arguments":{}}},"#,
        r#"{"function":{"name":"python","arguments":{"code":"print(1)"}}}]},"#,
        r#"{"role":"tool","content":"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\"}],\"cost\":1.10}","#,
        r#""tool_name":"LOOKUP","images":["aGk="]},"#,
        r#"{"role":"tool","content":"{\"code\": \"unknown_tool\"}","tool_name":"INVENTED"},"#,
        r#"{"role":"tool","content":"[1, 2]","tool_name":"python"},"#,
        r#"{"role":"user","content":"And?"}],"#,
        r#""tools":[{"type":"function","function":{"name":"LOOKUP","description":"Look an incident up.","#,
        r#""parameters":{"type": "object", "properties": {"id": {"type": "integer"}}}}},"#,
        r#"{"type":"function","function":{"name":"now","description":"","parameters":{}}}],"#,
        r#""stream":true,"options":{"temperature":0.5,"num_predict":100,"num_ctx":8192},"think":true}"#,
    ]
    .concat();
    let expected = expected
        .replace("LOOKUP", sent.names.wire("incident.lookup").unwrap())
        .replace("INVENTED", sent.names.wire("no such tool").unwrap());
    assert_eq!(body, expected);
}
