#![expect(clippy::disallowed_methods, reason = "tests read real files")]

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Message, MessageCall};

use super::*;

fn request(step: u32, messages: Vec<Message>) -> ModelRequest {
    ModelRequest { step, messages, tools: Vec::new() }
}

fn answer(script: &str, step: u32) -> Result<ModelResponse, ModelError> {
    ScriptedModel::parse(script).unwrap().turn(&request(step, Vec::new()))
}

fn refusal(script: &str) -> String {
    ScriptedModel::parse(script).unwrap_err().to_string()
}

/// A history of one turn a step, each with one result a call.
fn history(steps: &[&[&str]]) -> Vec<Message> {
    let run = RunId::new("run-000000000001");
    let mut messages = vec![Message::User { text: "task".to_owned() }];
    for (step, results) in (0..).zip(steps) {
        let calls: Vec<MessageCall> = (0..)
            .zip(*results)
            .map(|(index, _)| MessageCall {
                call_id: run.call(step, index),
                provider_call_id: String::new(),
                name: "t".to_owned(),
                arguments_text: "{}".to_owned(),
                language: ActionLanguage::Call,
            })
            .collect();
        messages.push(Message::Assistant { text: None, calls: calls.clone(), items: Vec::new() });
        for (call, content) in calls.iter().zip(*results) {
            let content = Document::parse(*content, Limits { max_bytes: content.len(), max_depth: 64 }).unwrap();
            messages.push(Message::Tool { call_id: call.call_id.clone(), ok: true, content });
        }
    }
    messages
}

/// The text of the turn behind a history.
fn fill(text: &str, steps: &[&[&str]]) -> Result<String, ModelError> {
    let script = serde_json::json!({ "turns": [{ "text": text }] }).to_string();
    let response = ScriptedModel::parse(&script).unwrap().turn(&request(0, history(steps)))?;
    Ok(response.text.unwrap())
}

#[test]
fn the_documented_script_is_read() {
    let script = r#"{"turns": [
        {"text": "Looking.", "calls": [{"id": "p1", "name": "lookup_incident", "arguments": {"incident_id": "INC-001"}}]},
        {"calls": [{"id": "p2", "name": "create_ticket", "arguments_text": "{\"title\": \"a\", \"title\": \"b\"}"}]},
        {"error": "overloaded"},
        {"text": "The owner is team-auth."}
    ]}"#;
    let call = |id: &str, name: &str, arguments: &str| lockgate_contract::ports::ProposedCall {
        provider_call_id: id.to_owned(),
        name: name.to_owned(),
        arguments_text: arguments.to_owned(),
        language: ActionLanguage::Call,
    };
    let first = answer(script, 0).unwrap();
    assert_eq!(first.text.as_deref(), Some("Looking."));
    assert_eq!(first.calls, [call("p1", "lookup_incident", r#"{"incident_id": "INC-001"}"#)]);
    let second = answer(script, 1).unwrap();
    assert_eq!(second.text, None);
    assert_eq!(second.calls, [call("p2", "create_ticket", r#"{"title": "a", "title": "b"}"#)]);
    assert_eq!(answer(script, 2).unwrap_err().code(), "model_overloaded");
    let last = answer(script, 3).unwrap();
    assert_eq!((last.text.as_deref(), last.calls.len()), (Some("The owner is team-auth."), 0));
    assert_eq!(answer(script, 4).unwrap_err(), ModelError::ScriptExhausted);
    assert_eq!(answer(script, u32::MAX).unwrap_err(), ModelError::ScriptExhausted);
    assert_eq!(answer(script, 0).unwrap(), first, "a turn can be asked for again");
}

#[test]
fn arguments_keep_their_text() {
    for arguments in [
        "9007199254740993",
        r#"{"n": 123456789012345678901234567890, "x": 1.10e+2, "s" : "\u00e9\/" }"#,
        "null",
        "[]",
        "\"text\"",
    ] {
        let script = format!(r#"{{"turns": [{{"calls": [{{"name": "t", "arguments": {arguments}}}]}}]}}"#);
        let calls = answer(&script, 0).unwrap().calls;
        assert_eq!((calls[0].arguments_text.as_str(), calls[0].provider_call_id.as_str()), (arguments, ""));
    }
    let script = r#"{"turns": [{"calls": [{"name": "t"}, {"name": "", "arguments_text": "{\"a\": "}]}]}"#;
    let calls = answer(script, 0).unwrap().calls;
    assert_eq!((calls[0].arguments_text.as_str(), calls[1].arguments_text.as_str()), ("", "{\"a\": "));
}

#[test]
fn code_keeps_its_text_and_is_no_call() {
    let script = r#"{"turns": [{"calls": [
        {"id": "p1", "name": "python", "code": "print(\"a\")\n"},
        {"name": "python", "code": "{}"},
        {"name": "python", "arguments": {}}]}]}"#;
    let calls = answer(script, 0).unwrap().calls;
    let seen: Vec<_> = calls.iter().map(|call| (call.arguments_text.as_str(), call.language)).collect();
    let (code, call) = (ActionLanguage::Code, ActionLanguage::Call);
    assert_eq!(seen, [("print(\"a\")\n", code), ("{}", code), ("{}", call)]); // R-106
    assert_eq!((calls[0].provider_call_id.as_str(), calls[0].name.as_str()), ("p1", "python"));
}

#[test]
fn errors_have_the_kind_that_they_name() {
    for (word, code) in [
        ("overloaded", "model_overloaded"),
        ("rate_limited", "model_rate_limited"),
        ("refused", "model_refused"),
        ("unauthorized", "model_unauthorized"),
        ("invalid_request", "model_invalid_request"),
        ("invalid_response", "model_invalid_response"),
        ("unreachable", "model_unreachable"),
        ("timed_out", "model_timed_out"),
        ("not_configured", "model_not_configured"),
        ("script_exhausted", "script_exhausted"),
        ("a cable fell out", "model_unreachable"),
    ] {
        assert_eq!(answer(&format!(r#"{{"turns": [{{"error": "{word}"}}]}}"#), 0).unwrap_err().code(), code, "{word}");
    }
    let other = answer(r#"{"turns": [{"error": "a cable fell out"}]}"#, 0).unwrap_err();
    assert_eq!(other, ModelError::Unreachable { detail: "a cable fell out".to_owned() });
}

#[test]
fn mistakes_are_named_with_turn_place_and_nearest_key() {
    for (script, expected) in [
        (r#"{"turn": []}"#, "unknown key `turn` in the script; did you mean `turns`?"),
        ("{}", "the script has no `turns`"),
        ("[]", "the script must be an object"),
        (r#"{"turns": {}}"#, "`turns` must be a list"),
        (r#"{"turns": [{}, 1]}"#, "turn 1 must be an object"),
        (r#"{"turns": [{}, {"txt": "a"}]}"#, "unknown key `txt` in turn 1; did you mean `text`?"),
        (r#"{"turns": [{"zzz": "a"}]}"#, "unknown key `zzz` in turn 0"),
        (r#"{"turns": [{"text": 1}]}"#, "`text` of turn 0 must be a string"),
        (r#"{"turns": [{"text": null}]}"#, "`text` of turn 0 must be a string"),
        (r#"{"turns": [{"calls": {}}]}"#, "`calls` of turn 0 must be a list"),
        (r#"{"turns": [{"calls": [{}]}]}"#, "turn 0, call 0 has no `name`"),
        (
            r#"{"turns": [{"calls": [{"name": "t"}, {"name": "t", "argument": {}}]}]}"#,
            "unknown key `argument` in turn 0, call 1; did you mean `arguments`?",
        ),
        (
            r#"{"turns": [{"calls": [{"name": "t", "argumens_text": ""}]}]}"#,
            "unknown key `argumens_text` in turn 0, call 0; did you mean `arguments_text`?",
        ),
        (r#"{"turns": [{"calls": [{"name": 1}]}]}"#, "`name` of turn 0, call 0 must be a string"),
        (r#"{"turns": [{"calls": [{"name": "t", "id": 1}]}]}"#, "`id` of turn 0, call 0 must be a string"),
        (
            r#"{"turns": [{"calls": [{"name": "t", "arguments_text": {}}]}]}"#,
            "`arguments_text` of turn 0, call 0 must be a string",
        ),
        (
            r#"{"turns": [{"calls": [{"name": "t", "arguments": {}, "arguments_text": ""}]}]}"#,
            "turn 0, call 0 has both `arguments` and `arguments_text`",
        ),
        (
            r#"{"turns": [{"calls": [{"name": "t", "arguments_text": "", "code": ""}]}]}"#,
            "turn 0, call 0 has both `arguments_text` and `code`",
        ),
        (
            r#"{"turns": [{"calls": [{"name": "t", "code": "", "arguments": {}}]}]}"#,
            "turn 0, call 0 has both `arguments` and `code`",
        ),
        (r#"{"turns": [{"calls": [{"name": "t", "code": 1}]}]}"#, "`code` of turn 0, call 0 must be a string"),
        (r#"{"turns": [{"calls": [{"code": "1"}]}]}"#, "turn 0, call 0 has no `name`"),
        (r#"{"turns": [{"error": "refused", "text": ""}]}"#, "turn 0 has both `error` and `text`"),
        (r#"{"turns": [{"error": 1}]}"#, "`error` of turn 0 must be a string"),
    ] {
        assert_eq!(refusal(script), expected, "{script}");
    }
}

#[test]
fn a_script_with_a_key_twice_is_refused_with_a_way_out() {
    let error =
        ScriptedModel::parse(r#"{"turns": [{"calls": [{"name": "t", "arguments": {"a": 1, "a": 2}}]}]}"#).unwrap_err();
    assert!(matches!(error, ScriptError::NotJson { .. }), "{error}");
    assert!(error.hint().unwrap().contains("arguments_text"));
}

#[test]
fn placeholders_take_parts_of_earlier_results() {
    let steps: &[&[&str]] = &[
        &[
            r#"{"owner": "team-auth", "n": 123456789012345678901234567890, "list": [1, {"a/b": true, "m~n": null}], "": 5}"#,
            "\"whole\"",
        ],
        &[r#"{"code": "denied", "message": "no"}"#],
    ];
    for (text, expected) in [
        ("${step-0.call-0#/owner} owns it.", "team-auth owns it."),
        ("${step-0.call-0#/n}", "123456789012345678901234567890"),
        ("${step-0.call-0#/list}", r#"[1, {"a/b": true, "m~n": null}]"#),
        ("${step-0.call-0#/list/0}", "1"),
        ("${step-0.call-0#/list/1/a~1b}/${step-0.call-0#/list/1/m~0n}", "true/null"),
        ("${step-0.call-0#/}", "5"),
        ("${step-0.call-1#}", "whole"),
        ("${step-1.call-0#/code}", "denied"),
        ("${step-1.call-0#}", r#"{"code": "denied", "message": "no"}"#),
        ("$${step-0.call-0#/owner} costs 5$ {a} $", "${step-0.call-0#/owner} costs 5$ {a} $"),
        ("a${step-1.call-0#/code}$${${step-0.call-1#}}", "adenied${whole}"),
        ("", ""),
    ] {
        assert_eq!(fill(text, steps).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_placeholder_that_stands_for_nothing_is_an_error_that_names_it() {
    let steps: &[&[&str]] = &[&[r#"{"list": [1], "s": "x"}"#]];
    for placeholder in [
        "step-1.call-0#",
        "step-0.call-1#",
        "step-0.call-0#/nothing",
        "step-0.call-0#/list/1",
        "step-0.call-0#/list/01",
        "step-0.call-0#/list/-",
        "step-0.call-0#/list/+0",
        "step-0.call-0#/s/0",
        "step-99999999999999999.call-0#",
    ] {
        let error = fill(&format!("it is ${{{placeholder}}}"), steps).unwrap_err();
        assert_eq!(error.code(), "model_invalid_response");
        assert!(error.to_string().contains(&format!("`${{{placeholder}}}`")), "{error}");
    }
}

#[test]
fn a_malformed_placeholder_refuses_the_script() {
    for text in [
        "${",
        "${}",
        "${step-0.call-0}",
        "${step-0#/a}",
        "${step-x.call-0#}",
        "${step-0.call-00#}",
        "${step-0.call-0#a}",
        "${step-0.call-0#/~2}",
        "${step-0.call-0#/~}",
        "${call-0.step-0#}",
        "${step-0.call-0#/never closed",
        "${HOME}",
    ] {
        let script = serde_json::json!({ "turns": [{}, { "text": text }] }).to_string();
        let error = refusal(&script);
        assert!(error.starts_with("`text` of turn 1: "), "{error}");
        assert!(error.contains("$${"), "{error}");
    }
}

#[test]
fn huge_scripts_and_huge_texts_are_stopped() {
    let script = format!(r#"{{"turns": [{{"text": "{}"}}]}}"#, "x".repeat(MAX_SCRIPT_BYTES));
    assert!(matches!(ScriptedModel::parse(&script), Err(ScriptError::TooLarge { .. })));
    let deep = format!(r#"{{"turns": {}{}}}"#, "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert!(matches!(ScriptedModel::parse(&deep), Err(ScriptError::NotJson { .. })));
    let content = format!("\"{}\"", "x".repeat(100_000));
    let error = fill(&"${step-0.call-0#}".repeat(100), &[&[&content]]).unwrap_err();
    assert_eq!(error.code(), "model_invalid_response");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_cause() {
    let refusal = |path: &Path| ScriptedModel::read(path).unwrap_err().to_string();
    let missing = refusal(Path::new("no/such/script.json"));
    assert_eq!(missing, "the script `no/such/script.json` cannot be read: there is no such file");
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().display();
    if cfg!(unix) {
        assert_eq!(refusal(folder.path()), format!("the script `{name}` cannot be read: it is a folder"));
    }
    let binary = folder.path().join("binary.json");
    std::fs::write(&binary, b"{\"turns\": \"\xff\"}").unwrap();
    assert_eq!(refusal(&binary), format!("the script `{}` cannot be read: it is not UTF-8", binary.display()));
}
