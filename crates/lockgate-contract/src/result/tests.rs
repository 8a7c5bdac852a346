use super::*;
use crate::document::Limits;
use crate::ids::ApprovalId;
use crate::outcome::Code;

fn ok(data: &str) -> ToolResult {
    ToolResult {
        call_id: CallId::new("run-000000000001:step-0:call-0"),
        tool_name: "read".to_owned(),
        tool_version: Some("1.0".to_owned()),
        ok: true,
        data: Some(Document::parse(data, Limits::OWN).unwrap()),
        error: None,
        meta: Meta::default(),
    }
}

fn failed() -> ToolResult {
    ToolResult {
        tool_version: None,
        ok: false,
        data: None,
        error: Some(ToolError {
            code: Code::UnknownTool.into(),
            reason: None,
            message: "This tool is not available.".to_owned(),
            retryable: false,
            details: None,
        }),
        ..ok("1")
    }
}

#[test]
fn the_wire_shape_of_a_success() {
    let result = ok(r#"{"n": 123456789012345678901234567890, "x":1.50}"#);
    // R-085, R-087: all six fields, `error` null; the data as the tool wrote it.
    assert_eq!(
        serde_json::to_string(&result).unwrap(),
        r#"{"call_id":"run-000000000001:step-0:call-0","tool_name":"read","tool_version":"1.0","ok":true,"data":{"n": 123456789012345678901234567890, "x":1.50},"error":null}"#
    );
    assert!(result.code().is_none());
}

#[test]
fn the_wire_shape_of_a_failure() {
    let result = failed();
    // R-086, R-087, R-088, R-093: version and data null, name and id kept.
    assert_eq!(
        serde_json::to_string(&result).unwrap(),
        r#"{"call_id":"run-000000000001:step-0:call-0","tool_name":"read","tool_version":null,"ok":false,"data":null,"error":{"code":"unknown_tool","message":"This tool is not available.","retryable":false}}"#
    );
    assert!(result.code().unwrap().is(Code::UnknownTool));
}

#[test]
fn a_reason_and_a_tools_own_code() {
    let mut result = failed();
    result.error = Some(ToolError {
        code: "quota_exceeded".parse().unwrap(),
        reason: Some("schema".to_owned()),
        message: "No.".to_owned(),
        retryable: true, // R-089
        details: None,
    });
    let text = serde_json::to_string(&result).unwrap();
    assert!(
        text.ends_with(r#""error":{"code":"quota_exceeded","reason":"schema","message":"No.","retryable":true}}"#),
        "{text}"
    );
}

#[test]
fn the_wire_shape_of_everything_beside_the_answer() {
    let mut result = ok("null");
    result.meta = Meta {
        deduplicated: Some(CallId::new("c")),
        truncated_bytes: Some(10),
        artifact: Some(ArtifactId::new("art-1")),
        error_id: Some(ErrorId::new("err-1")),
        effect_state: Some(EffectState::Unknown),
        partial_output: Some("half".to_owned()),
        truncated_chars: Some(3),
        lossy: true,
        approval_id: Some(ApprovalId::new("apr-1")),
        reconciled_by: Some("tool".to_owned()),
        arguments_edited: true,
    };
    let text = serde_json::to_string(&result).unwrap();
    let meta = r#""meta":{"deduplicated":"c","truncated_bytes":10,"artifact":"art-1","error_id":"err-1","effect_state":"unknown","partial_output":"half","truncated_chars":3,"lossy":true,"approval_id":"apr-1","reconciled_by":"tool","arguments_edited":true}}"#;
    assert!(text.ends_with(&format!(r#""data":null,"error":null,{meta}"#)), "{text}");
    assert!(!result.meta.is_empty() && Meta::default().is_empty());
}

#[test]
fn what_was_written_is_read_back() {
    let mut with_meta = ok(r#"[1e2, "ä\u00e4", 0.10]"#);
    with_meta.meta.truncated_bytes = Some(7);
    for result in [with_meta, failed(), ok("false")] {
        let text = serde_json::to_string(&result).unwrap();
        let read: ToolResult = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let document = Document::parse(text.clone(), Limits::OWN).unwrap();
        assert_eq!(serde_json::to_string(&document.decode::<ToolResult>().unwrap()).unwrap(), text);
    }
}
