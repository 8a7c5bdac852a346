//! One body of every type: the text in the journal, and back.

use std::sync::Arc;

use super::*;
use crate::allowed::AllowedTools;
use crate::approval::{Circumstances, Proof};
use crate::call::ActionLanguage;
use crate::digest::Digest;
use crate::effect::{Effect, EffectState, OnUnknown, Permission};
use crate::ids::ApprovalId;
use crate::outcome::{Code, Status};
use crate::ports::Usage;
use crate::result::Meta;
use crate::run::{Budget, CompletedBy, Completion, Limit, RunBinding, RunKind, RunStart};
use crate::subject::Subject;

fn digest(byte: u8) -> Digest {
    Digest::from_bytes([byte; 32])
}

fn settled(ok: bool) -> Settled {
    Settled {
        tool_name: "t".to_owned(),
        tool_version: ok.then(|| "1.0".to_owned()),
        ok,
        code: (!ok).then(|| Code::PolicyDenied.into()),
        reason: None,
        status: if ok { Status::Executed } else { Status::NotExecuted },
        effect_state: if ok { EffectState::Done } else { EffectState::None },
        data: ok.then(|| Document::parse("[123456789012345678901234567890]", Limits::OWN).unwrap()),
        message: (!ok).then(|| "No.".to_owned()),
        details: None,
        retryable: false,
        meta: Meta::default(),
        env_reported_completion: false,
        audit: Audit::default(),
    }
}

/// The text of a call that is settled with data.
const DONE: &str = r#"{"tool_name":"t","tool_version":"1.0","ok":true,"code":null,"reason":null,"status":"EXECUTED","effect_state":"done","data":[123456789012345678901234567890],"message":null,"retryable":false,"audit":{}}"#;

/// The text of a call that is settled without.
const REFUSED: &str = r#"{"tool_name":"t","tool_version":null,"ok":false,"code":"policy_denied","reason":null,"status":"NOT_EXECUTED","effect_state":"none","data":null,"message":"No.","retryable":false,"audit":{}}"#;

/// Every body with the text that it has in the journal.
fn bodies() -> Vec<(Body, String)> {
    let approval_id = ApprovalId::new("apr-1");
    let (one, two) = (digest(1), digest(2));
    vec![
        (
            Body::RunStarted(Box::new(RunStart {
                kind: RunKind::Direct,
                task: Some("go".to_owned()),
                system: None,
                subject: Subject::default(),
                binding: RunBinding {
                    allowed: AllowedTools::new("s", [("t".to_owned(), one)]),
                    completes_run: ["t".to_owned()].into(),
                    reads: [("t".to_owned(), ["disk".to_owned()].into())].into(),
                    replayable: ["t".to_owned()].into(),
                    keyed: [("t".to_owned(), 60_000)].into(),
                    reconcilable: ["t".to_owned()].into(),
                },
                budget: Budget::default(),
                on_unknown: OnUnknown::Stop,
                model: None,
                run_file: None,
                chained: false,
            })),
            format!(
                concat!(
                    r#"{{"kind":"direct","task":"go","subject":{{"tenant":"default","user":"local","agent":"agent","scopes":[],"#,
                    r#""domains":[],"level":"external"}},"binding":{{"allowed":{{"source":"s","tools":{{"t":"{}"}}}},"#,
                    r#""completes_run":["t"],"reads":{{"t":["disk"]}},"replayable":["t"],"keyed":{{"t":60000}},"reconcilable":["t"]}},"budget":{{"max_steps":20,"#,
                    r#""max_valid_actions":50,"max_calls_per_turn":32,"deadline_ms":600000,"max_environment_failures":3,"#,
                    r#""max_repeated_turns":6,"max_retries":0}},"on_unknown":"stop"}}"#
                ),
                one
            ),
        ),
        (Body::ModelRequested(ModelRequested { messages: 1, tools: 2 }), r#"{"messages":1,"tools":2}"#.to_owned()),
        (
            Body::ModelResponded(ModelResponded {
                    text: None,
                    calls: vec![RespondedCall {
                        call_id: CallId::new("c"),
                        provider_call_id: String::new(),
                        tool_name: "t".to_owned(),
                        arguments_text: "{broken".to_owned(),
                        language: ActionLanguage::Call,
                        redacted: true,
                    }],
                    items: vec![],
                    usage: Usage { input_tokens: Some(1), output_tokens: Some(2), ..Usage::default() },
                }),
            r#"{"text":null,"calls":[{"call_id":"c","provider_call_id":"","tool_name":"t","arguments_text":"{broken","redacted":true}],"input_tokens":1,"output_tokens":2}"#.to_owned(),
        ),
        (
            Body::ModelFailed(ModelFailed { reason: "model_timed_out".to_owned(), detail: "d".to_owned() }),
            r#"{"reason":"model_timed_out","detail":"d"}"#.to_owned(),
        ),
        (
            Body::ToolRequested(ToolRequested {
                tool_name: "t".to_owned(),
                parent_call_id: Some(CallId::new("p")),
                arguments_text: Some("{}".to_owned()),
                language: ActionLanguage::Call,
            }),
            r#"{"tool_name":"t","parent_call_id":"p","arguments_text":"{}"}"#.to_owned(),
        ),
        (
            Body::ToolRelaxed(ToolRelaxed { tool_name: "t".to_owned(), from: Permission::Ask, to: Permission::Allow }),
            r#"{"tool_name":"t","from":"ask","to":"allow"}"#.to_owned(),
        ),
        (
            Body::ApprovalRequested(ApprovalRequested {
                approval_id: approval_id.clone(),
                tool_name: "t".to_owned(),
                tool_version: "1.0".to_owned(),
                effect: Effect::Write,
                digest: one,
                expires_at: Timestamp::from_millis(0),
                reason: "r".to_owned(),
                policies: vec!["p".to_owned()],
                because: None,
                approvers: None,
                circumstances: Circumstances::default(),
            }),
            format!(
                r#"{{"approval_id":"apr-1","tool_name":"t","tool_version":"1.0","effect":"write","digest":"{one}","expires_at":"1970-01-01T00:00:00.000Z","reason":"r","policies":["p"]}}"#
            ),
        ),
        (
            Body::ApprovalAgreed(ApprovalAgreed {
                approval_id: approval_id.clone(),
                agreed_by: "bob".to_owned(),
                roles: vec!["finance".to_owned()],
                proof: Proof::OsUser,
                reason: None,
                missing: 1,
            }),
            r#"{"approval_id":"apr-1","agreed_by":"bob","roles":["finance"],"proof":"os_user","missing":1}"#.to_owned(),
        ),
        (
            Body::ApprovalEdited(Box::new(ApprovalEdited {
                approval_id: approval_id.clone(),
                edited_as: ApprovalId::new("apr-2"),
                digest: one,
                arguments_text: "{}".to_owned(),
                arguments_digest: one,
                edited_by: "bob".to_owned(),
                roles: Vec::new(),
                proof: Proof::Authenticated,
            })),
            format!(
                r#"{{"approval_id":"apr-1","edited_as":"apr-2","digest":"{one}","arguments_text":"{{}}","arguments_digest":"{one}","edited_by":"bob","proof":"authenticated"}}"#
            ),
        ),
        (
            Body::ApprovalDecided(ApprovalDecided {
                approval_id: approval_id.clone(),
                decision: "granted".to_owned(),
                decided_by: "bob".to_owned(),
                reason: None,
                roles: Vec::new(),
                proof: None,
            }),
            r#"{"approval_id":"apr-1","decision":"granted","decided_by":"bob"}"#.to_owned(),
        ),
        (
            Body::ApprovalConsumed(ApprovalConsumed { approval_id: approval_id.clone(), digest: one }),
            format!(r#"{{"approval_id":"apr-1","digest":"{one}"}}"#),
        ),
        (
            Body::ToolStarted(ToolStarted {
                tool_name: "t".to_owned(),
                tool_version: "1.0".to_owned(),
                effect: Effect::External,
                attempt: 1,
                definition: one,
                arguments_digest: two,
                policies: vec![],
                idempotency_key: Some("k".to_owned()),
            }),
            format!(
                r#"{{"tool_name":"t","tool_version":"1.0","effect":"external","attempt":1,"definition":"{one}","arguments_digest":"{two}","policies":[],"idempotency_key":"k"}}"#
            ),
        ),
        (
            Body::Settled(Arc::new(settled(true))),
            DONE.to_owned(),
        ),
        (
            Body::Settled(Arc::new(settled(false))),
            REFUSED.to_owned(),
        ),
        (
            Body::ToolAttemptFailed(ToolAttemptFailed { attempt: 1, settled: Box::new(settled(false)) }),
            format!(r#"{{"attempt":1,"settled":{REFUSED}}}"#),
        ),
        (
            Body::ToolAnsweredLate(ToolAnsweredLate { attempt: 2, settled: Arc::new(settled(true)) }),
            format!(r#"{{"attempt":2,"settled":{DONE}}}"#),
        ),
        (
            Body::CallReconciled(CallReconciled {
                finding: Finding::Done,
                by: "bob".to_owned(),
                reason: Some("seen".to_owned()),
                settled: Some(Arc::new(settled(true))),
            }),
            format!(r#"{{"finding":"done","by":"bob","reason":"seen","settled":{DONE}}}"#),
        ),
        (Body::RunWaiting(RunWaiting { approvals: vec![approval_id] }), r#"{"approvals":["apr-1"]}"#.to_owned()),
        (
            Body::RunLeaseTaken(RunLeaseTaken { epoch: 2, holder: "process 1".to_owned() }),
            r#"{"epoch":2,"holder":"process 1"}"#.to_owned(),
        ),
        (Body::RunResumed(RunResumed { budget: None }), "{}".to_owned()),
        (
            Body::RunCompleted(RunCompleted {
                reason: Completion::GoalReached,
                answer: None,
                completed_by: Some(CompletedBy::Environment),
            }),
            r#"{"reason":"goal_reached","answer":null,"completed_by":"environment"}"#.to_owned(),
        ),
        (
            Body::RunFailed(RunFailed { reason: "r".to_owned(), detail: "d".to_owned() }),
            r#"{"reason":"r","detail":"d"}"#.to_owned(),
        ),
        (Body::RunLimitReached(RunLimitReached { limit: Limit::MaxSteps }), r#"{"limit":"max_steps"}"#.to_owned()),
        (Body::RunCancelled(RunCancelled {}), "{}".to_owned()),
        (
            Body::RunNeedsReconciliation(RunNeedsReconciliation { calls: vec![CallId::new("c")] }),
            r#"{"calls":["c"]}"#.to_owned(),
        ),
    ]
}

#[test]
fn every_type_of_the_catalogue_has_its_body() {
    let kinds: Vec<_> = bodies().iter().map(|(body, _)| body.kind()).collect();
    let catalogue: Vec<_> = CATALOGUE.iter().map(|(kind, ..)| kind.clone()).collect();
    assert_eq!(kinds, catalogue);
}

#[test]
fn bodies_are_written_as_published_and_read_back_whole() {
    for (body, expected) in bodies() {
        let new = NewEvent::new(0, None, body.clone());
        assert_eq!(new.data.text(), expected);
        assert_eq!(new.kind, body.kind());
        let mut event = new.numbered(RunId::new("r"), 1, Timestamp::from_millis(0));
        let written = event.body().unwrap();
        event.data = Document::parse(expected.as_str(), Limits::OWN).unwrap().into();
        let read = event.body().unwrap();
        assert_eq!(read.kind(), event.kind, "{expected}");
        // Whoever wrote an event and whoever reads it have the same body.
        assert_eq!(format!("{written:?}"), format!("{read:?}"));
        assert_eq!(NewEvent::new(0, None, read).data.text(), expected);
    }
}

#[test]
fn a_call_without_a_language_is_a_tool_call() {
    let read = |language: &str| {
        let text = format!(r#"{{"call_id":"c","provider_call_id":"","tool_name":"t","arguments_text":"x"{language}}}"#);
        let call: RespondedCall = Document::parse(text.as_str(), Limits::OWN).unwrap().decode().ok()?;
        let written = Document::from_serialize(&call).unwrap();
        Some((call.language, written.text() == text))
    };
    assert_eq!(read(""), Some((ActionLanguage::Call, true))); // R-106: as every journal before
    assert_eq!(read(r#","language":"code""#), Some((ActionLanguage::Code, true)));
    assert_eq!(read(r#","language":"call""#), Some((ActionLanguage::Call, false)));
    // A language that this version does not know is not taken for one that it knows.
    assert_eq!(read(r#","language":"gestures""#), None);

    let requested = ToolRequested {
        tool_name: "python".to_owned(),
        parent_call_id: None,
        arguments_text: Some("print(1)".to_owned()),
        language: ActionLanguage::Code,
    };
    let new = NewEvent::new(0, None, Body::ToolRequested(requested));
    assert_eq!(new.data.text(), r#"{"tool_name":"python","arguments_text":"print(1)","language":"code"}"#);
}

#[test]
fn the_deepest_output_fits_into_its_event() {
    let deepest = Limits::OUTPUT.max_depth;
    let data = format!("{}{}", "[".repeat(deepest), "]".repeat(deepest));
    let mut body = settled(true);
    body.data = Some(Document::parse(data.clone(), Limits::OUTPUT).unwrap());
    let body = Arc::new(body);
    for event in [
        Body::Settled(Arc::clone(&body)),
        Body::ToolAnsweredLate(ToolAnsweredLate { attempt: 1, settled: Arc::clone(&body) }),
    ] {
        assert!(NewEvent::new(0, None, event).data.text().contains(&data)); // R-125
    }
}
