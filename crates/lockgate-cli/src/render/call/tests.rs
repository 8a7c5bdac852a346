use lockgate::contract::document::{Document, Limits};
use lockgate::contract::effect::EffectState;
use lockgate::contract::event::Audit;
use lockgate::contract::ids::{ArtifactId, RunId};
use lockgate::contract::outcome::{Code, Status};
use lockgate::contract::result::{Meta, ToolError, ToolResult};
use lockgate::harness::DirectAnswer;

use super::{CallView, audit, human, make_whole};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn answer(data: Option<&str>, code: Option<Code>) -> DirectAnswer {
    let run_id = RunId::new("run-34c559713956");
    DirectAnswer {
        result: ToolResult {
            call_id: run_id.call(0, 0),
            tool_name: "create_ticket".to_owned(),
            tool_version: Some("1.0".to_owned()),
            ok: code.is_none(),
            data: data.map(|text| Document::parse(text, Limits::OWN).unwrap()),
            error: code.map(|code| ToolError {
                code: code.into(),
                reason: None,
                message: code.row().model_text.to_owned(),
                retryable: false,
                details: None,
            }),
            meta: Meta::default(),
        },
        run_id,
        status: Some(Status::Executed),
        effect_state: EffectState::Done,
        audit: Audit { policies: vec!["native".to_owned()], ..Audit::default() },
        times: None,
    }
}

fn json(answer: &DirectAnswer, audit: bool) -> String {
    Document::from_serialize(&CallView::of(answer, audit)).unwrap().text().to_owned()
}

#[test]
fn the_wire_shape_keeps_every_digit() {
    let expected = r#"{"call_id":"run-34c559713956:step-0:call-0","tool_name":"create_ticket","tool_version":"1.0","ok":true,"data":{"id":9007199254740993,"price":1.10},"error":null}"#;
    assert_eq!(json(&answer(Some(r#"{"id":9007199254740993,"price":1.10}"#), None), false), expected);
}

#[test]
fn the_audit_is_a_key_of_the_object() {
    let text = json(&answer(Some("1"), None), true);
    let audit =
        r#","audit":{"run_id":"run-34c559713956","status":"EXECUTED","effect_state":"done","policies":["native"]}}"#;
    assert!(text.ends_with(audit), "{text}");
}

#[test]
fn a_whole_output_replaces_its_head_and_tail() {
    let mut short = answer(Some(r#""{\"a\": […]}""#), None).result;
    short.meta.truncated_bytes = Some(7);
    short.meta.truncated_chars = Some(7);
    short.meta.artifact = Some(ArtifactId::new("art-0123456789abcdef"));
    make_whole(&mut short, r#"{"a": [1, 2]}"#);
    assert_eq!(short.data.as_ref().unwrap().text(), r#"{"a": [1, 2]}"#);
    assert_eq!((short.meta.truncated_bytes, short.meta.truncated_chars), (None, None));
    make_whole(&mut short, "[not json");
    assert_eq!(short.data.unwrap().text(), r#""[not json""#);
}

#[test]
fn for_people() {
    let failed = DirectAnswer { effect_state: EffectState::Unknown, ..answer(None, Some(Code::TimedOut)) };
    insta::assert_snapshot!(plain(&format!("{}{}", human(&failed), audit(&failed))), @r"
    create_ticket 1.0 · timed_out · effect unknown · run-34c559713956:step-0:call-0
      No answer in time: it may or may not have happened.
    audit
      run              run-34c559713956
      counts as        EXECUTED
      effect state     unknown
      policies         native
    ");
    assert_eq!(plain(&human(&answer(Some(r#""a\u001b[2Jb""#), None))).lines().nth(1), Some("  a\\u{1b}[2Jb"));
}
