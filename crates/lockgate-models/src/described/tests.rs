use super::answer::Said;
use super::*;
use crate::Provider;
use crate::options::ToolCalls;
use crate::testing::{options, request};

fn wire(provider: Provider) -> Described {
    Described(provider.wire().into())
}

/// An answer of Ollama with this text.
fn read(answer: &str) -> Result<ModelResponse, ModelError> {
    let content = lockgate_contract::document::Document::string(answer);
    let body = format!(r#"{{"message": {{"content": {}}}, "done": true}}"#, content.text());
    wire(Provider::Ollama).read(body, Sent { in_schema: true, ..Sent::default() })
}

#[test]
fn a_whole_body_of_each_wire_looks_like_this() {
    let schema = concat!(
        r#"{"anyOf":[{"type":"object","properties":{"say":{"type":"string"}},"required":["say"],"additionalProperties":false},"#,
        r#"{"type":"object","properties":{"call":{"type":"object","properties":{"#,
        r#""name":{"type":"string","enum":["incident.lookup","now"]},"arguments":{"type":"object"}},"#,
        r#""required":["name","arguments"],"additionalProperties":false}},"required":["call"],"additionalProperties":false}]}"#
    );
    let extra = Some(r#"{"seed": 7, "tool_choice": "required"}"#);
    let body = |provider| wire(provider).request(&options(provider, extra, None), &request(), false).unwrap();
    let chat = body(Provider::OpenaiCompatible);
    assert!(chat.sent.in_schema);
    let expected = [
        r#"{"model":"small-model","messages":[{"role":"system","content":"Be brief.\n\nYou can call these tools:\n"#,
        r#"{\"name\":\"incident.lookup\",\"description\":\"Look an incident up.\",\"arguments\":{\"type\": \"object\", "#,
        r#"\"properties\": {\"id\": {\"type\": \"integer\"}}}}\n"#,
        r#"{\"name\":\"now\",\"description\":\"\",\"arguments\":{}}\n"#,
        r#"Answer with exactly one JSON object and nothing else: either {\"call\": {\"name\": NAME, \"arguments\": {…}}} to "#,
        r#"call one of these tools, with arguments that fit its schema, or {\"say\": TEXT} when you need no tool. "#,
        r#"The result of a call comes back in the next message."},"#,
        r#"{"role":"user","content":"Who owns INC-001?"},"#,
        r#"{"role":"assistant","content":"{\"say\":\"Looking.\"}\n"#,
        r#"{\"call\":{\"name\":\"incident.lookup\",\"arguments\":{\"id\": 9007199254740993}}}\n"#,
        r#"{\"call\":{\"name\":\"no such tool\",\"arguments\":{}}}\n"#,
        r#"{\"call\":{\"name\":\"python\",\"arguments\":{\"code\":\"print(1)\"}}}"},"#,
        r#"{"role":"user","content":"Result of the call of incident.lookup: {\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\"}],"#,
        r#"\"cost\":1.10}\n\nFailed: the call of no such tool: {\"code\": \"unknown_tool\"}\n\n"#,
        r#"Result of the call of python: [1, 2]\n\nAnd?"}],"#,
        r#""stream":false,"max_completion_tokens":100,"seed":7,"#,
        r#""response_format":{"type":"json_schema","json_schema":{"name":"turn","schema":SCHEMA}}}"#,
    ]
    .concat();
    assert_eq!(chat.body, expected.replace("SCHEMA", schema));
    let ollama = body(Provider::Ollama).body;
    assert!(ollama.contains(&format!(r#""format":{schema}"#)) && !ollama.contains("tool_"), "{ollama}");
}

#[test]
fn without_tools_the_answer_is_a_text() {
    let mut request = request();
    request.tools.clear();
    request.messages.remove(0);
    let said = wire(Provider::Ollama).request(&options(Provider::Ollama, None, None), &request, false).unwrap();
    assert!(!said.sent.in_schema && !said.body.contains("format") && !said.body.contains("system"), "{}", said.body);
}

#[test]
fn an_answer_is_a_text_or_a_call() {
    let said = read(r#" {"say": "hello"} "#).unwrap();
    assert_eq!((said.text.as_deref(), said.calls.len()), (Some("hello"), 0));
    let called = read(r#"{"call": {"name": "a.b", "arguments": {"n" : 1.0}}}"#).unwrap();
    assert_eq!((called.text.as_deref(), called.calls.len()), (None, 1));
    assert_eq!((called.calls[0].name.as_str(), called.calls[0].arguments_text.as_str()), ("a.b", r#"{"n" : 1.0}"#));
    for broken in [
        "",
        "hello",
        "[]",
        "{}",
        r#"{"say": 1}"#,
        r#"{"call": {}}"#,
        r#"{"call": {"name": "a""#,
        r#"{"say":"a","say":"b"}"#,
    ] {
        assert_eq!(read(broken).unwrap_err().code(), "model_invalid_response", "{broken}");
    }
}

#[test]
fn what_is_heard_is_the_text_however_it_is_cut() {
    let text = "a \"quoted\" \\ word,\n é and 😀.";
    let json = serde_json::to_string(text).unwrap().replace('é', "\\u00e9").replace('😀', "\\ud83D\\ude00");
    let answer = format!("{{ \"say\" :\n {json} }}");
    for cut in 1..answer.len() {
        let mut said = Said::default();
        let pieces: Vec<char> = answer.chars().collect();
        let heard: String = pieces.chunks(cut).map(|piece| said.more(&piece.iter().collect::<String>())).collect();
        assert_eq!(heard, text, "in pieces of {cut}");
    }
    let heard = |answer: &str| Said::default().more(answer);
    assert_eq!(heard(r#"{"call": {"name": "say", "arguments": {"say": "a"}}}"#), "");
    assert_eq!(heard(r#"{"say": "\ud83d and more"}"#), "");
    assert_eq!(heard("plain text"), "");
}

#[test]
fn servers_that_drop_tools_are_found_by_their_count() {
    let chat = Provider::OpenaiCompatible.wire();
    let answer = |count: &str| format!(r#"{{"usage": {{"prompt_tokens": {count}}}}}"#);
    let shows = |bare: &str, equipped: Result<String, ModelError>| Probe::shows_tools(&*chat, bare, equipped);
    let detail = || "tools param requires --jinja flag".to_owned();
    assert_eq!(shows(&answer("10"), Ok(answer("90"))), Ok(true));
    assert_eq!(shows(&answer("10"), Ok(answer("10"))), Ok(false));
    assert_eq!(shows("{}", Ok(answer("10"))), Ok(true));
    assert_eq!(shows(&answer("10"), Err(ModelError::InvalidRequest { detail: detail() })), Ok(false));
    assert_eq!(shows(&answer("10"), Err(ModelError::Overloaded { detail: detail(), retry_after: None })), Ok(false));
    assert_eq!(shows(&answer("10"), Err(ModelError::TimedOut)), Err(ModelError::TimedOut));
    let probe = Probe::of(&*chat, &options(Provider::OpenaiCompatible, None, None), &request().tools).unwrap();
    assert!(!probe.bare.body.contains("tools") && probe.equipped.body.contains(r#""tools":[{"#));
    assert!(probe.bare.body.contains(r#""max_completion_tokens":1"#), "{}", probe.bare.body);
}

#[test]
fn only_wires_that_can_ask_in_a_schema_describe() {
    for (provider, is_fine) in [(Provider::OpenaiCompatible, true), (Provider::Ollama, true), (Provider::Gemini, false)]
    {
        for tools in [ToolCalls::JsonSchema, ToolCalls::Auto] {
            let base_url = Some("http://localhost".to_owned());
            let options = crate::RemoteOptions { base_url, tools, ..crate::RemoteOptions::new(provider, "m") };
            assert_eq!(options.resolve(|_| None).is_ok(), is_fine, "{provider:?}");
        }
    }
}
