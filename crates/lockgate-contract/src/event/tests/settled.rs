//! What the model is told of a settled call, and what it is not.

use super::*;
use crate::digest::Digest;
use crate::effect::EffectState;
use crate::ids::{ApprovalId, ErrorId};
use crate::outcome::{Code, Outcome, Status, TABLE};
use crate::result::Meta;

/// A failure with everything in it that is for people only.
fn failed(code: Outcome, reason: Option<&str>, error_id: Option<&str>) -> Settled {
    Settled {
        tool_name: "pay".to_owned(),
        tool_version: None,
        ok: false,
        code: Some(code),
        reason: reason.map(str::to_owned),
        status: Status::NotExecuted,
        effect_state: EffectState::None,
        data: None,
        message: Some("No.".to_owned()),
        details: None,
        retryable: true,
        meta: Meta { error_id: error_id.map(ErrorId::from), ..Meta::default() },
        env_reported_completion: false,
        audit: Audit {
            reason: Some("PEOPLE ONLY reason".to_owned()),
            text: Some("PEOPLE ONLY text: /etc/passwd".to_owned()),
            tool_version: Some("PEOPLE ONLY version".to_owned()),
            definition: Some(Digest::from_bytes([0xaa; 32])),
            arguments_digest: Some(Digest::from_bytes([0xbb; 32])),
            decision: Some("PEOPLE ONLY decision".into()),
            policies: vec!["PEOPLE ONLY policy".to_owned()],
            approval_id: Some(ApprovalId::new("PEOPLE ONLY approval")),
        },
    }
}

#[test]
fn no_word_of_the_audit_reaches_the_model() {
    for row in TABLE {
        for reason in [None, Some("schema")] {
            let settled = failed(row.code.into(), reason, Some("err-1"));
            let result = settled.result(&CallId::new("c"));
            for text in [settled.model_content().text().to_owned(), serde_json::to_string(&result).unwrap()] {
                // R-216, R-181, C-5.
                for secret in ["PEOPLE", "passwd", "aaaa", "bbbb"] {
                    assert!(!text.contains(secret), "{text}");
                }
                assert!(text.contains(row.word));
            }
            assert_eq!(result.tool_version, None); // C-10
        }
    }
}

#[test]
fn a_failure_is_told_by_code_reason_message_and_error_id() {
    let content = |settled: Settled| settled.model_content().text().to_owned();
    assert_eq!(
        content(failed(Code::InvalidArguments.into(), Some("schema"), None)),
        r#"{"code":"invalid_arguments","reason":"schema","message":"No."}"# // R-090, C-3
    );
    assert_eq!(
        content(failed(Code::ToolInternalError.into(), None, Some("err-1"))),
        r#"{"code":"tool_internal_error","message":"No.","error_id":"err-1"}"# // R-074, C-4
    );
    assert_eq!(
        content(failed("quota_exceeded".parse().unwrap(), None, None)),
        r#"{"code":"quota_exceeded","message":"No."}"# // R-072
    );
}

#[test]
fn a_success_is_told_as_the_tool_wrote_it() {
    let data = r#"{"n": 123456789012345678901234567890,"code":"not_a_code"}"#;
    let mut settled = failed(Code::PolicyDenied.into(), None, None);
    settled.ok = true;
    settled.code = None;
    settled.message = None;
    settled.data = Some(Document::parse(data, Limits::OWN).unwrap());
    assert_eq!(settled.model_content().text(), data); // R-075
    let result = settled.result(&CallId::new("c"));
    assert!(result.error.is_none() && result.ok); // R-087
    assert_eq!(result.data.unwrap().text(), data);
    settled.data = None;
    assert_eq!(settled.model_content().text(), "null");
}

#[test]
fn a_failure_shows_no_data_even_where_there_is_some() {
    let mut settled = failed(Code::InvalidToolOutput.into(), None, None);
    settled.data = Some(Document::string("incomplete"));
    assert!(!settled.model_content().text().contains("incomplete")); // R-073, R-183
    let result = settled.result(&CallId::new("c"));
    assert!(result.data.is_none()); // R-087
}

#[test]
fn the_result_answers_its_call() {
    let settled = failed(Code::UnknownTool.into(), None, Some("err-1"));
    let result = settled.result(&CallId::new("run-1:step-0:call-1"));
    // R-085, R-093.
    assert_eq!((result.call_id.as_str(), result.tool_name.as_str(), result.ok), ("run-1:step-0:call-1", "pay", false));
    let error = result.error.unwrap();
    assert_eq!((error.message.as_str(), error.retryable), ("No.", true)); // R-089
    assert_eq!(result.meta, settled.meta);
}
