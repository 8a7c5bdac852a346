use std::sync::Arc;

use lockgate::contract::call::ActionLanguage;
use lockgate::contract::effect::EffectState;
use lockgate::contract::event::{
    Audit, Body, Event, ModelRequested, ModelResponded, NewEvent, RunCompleted, RunFailed, Settled, ToolRequested,
};
use lockgate::contract::ids::{CallId, ErrorId, RunId};
use lockgate::contract::outcome::{Code, Outcome, Status};
use lockgate::contract::ports::Usage;
use lockgate::contract::result::Meta;
use lockgate::contract::run::Completion;
use lockgate::contract::time::Timestamp;

use super::{EventTable, note};

fn event(seq: u64, body: &Body) -> Event {
    let run = RunId::new("run-34c559713956");
    let call = matches!(body, Body::ToolRequested(_) | Body::Settled(_)).then(|| run.call(0, 0));
    NewEvent::new(0, call, body.clone()).numbered(run, seq, Timestamp::from_millis(0))
}

fn settled(code: Option<Code>, reason: Option<&str>, effect_state: EffectState) -> Body {
    Body::Settled(Arc::new(Settled {
        tool_name: "create_ticket".to_owned(),
        tool_version: Some("1.0".to_owned()),
        ok: code.is_none(),
        code: code.map(Outcome::Gate),
        reason: reason.map(str::to_owned),
        status: Status::Executed,
        effect_state,
        data: None,
        message: None,
        details: None,
        retryable: false,
        meta: Meta::default(),
        env_reported_completion: false,
        audit: Audit::default(),
    }))
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn a_table_of_events() {
    let table = EventTable::new(false);
    let requested = ToolRequested {
        tool_name: "create_ticket".to_owned(),
        parent_call_id: None,
        arguments_text: Some("{\"title\":\n\"a\"}".to_owned()),
        language: ActionLanguage::Call,
    };
    let response =
        ModelResponded { text: Some("Looking.".to_owned()), calls: vec![], items: vec![], usage: Usage::default() };
    let completed = RunCompleted { reason: Completion::FinalAnswer, answer: None, completed_by: None };
    let bodies = [
        Body::ModelRequested(ModelRequested { messages: 1, tools: 2 }),
        Body::ModelResponded(response),
        Body::ToolRequested(requested),
        settled(None, None, EffectState::Done),
        Body::RunCompleted(completed),
    ];
    let rows: String = (1..).zip(&bodies).map(|(seq, body)| table.row(seq, &event(seq, body))).collect();
    insta::assert_snapshot!(plain(&format!("{}{rows}", table.header())), @r#"
     seq  event            step or call                    note
       1  model.requested  step 0                          1 message, 2 tools
       2  model.responded  step 0                          text
       3  tool.requested   run-34c559713956:step-0:call-0  create_ticket {"title":\u{a}"a"}
       4  tool.finished    run-34c559713956:step-0:call-0  create_ticket 1.0
       5  run.completed    step 0                          final_answer
    "#);
}

#[test]
fn a_failure_says_its_code_and_what_is_known_of_the_world() {
    let refused = settled(Some(Code::InvalidArguments), Some("duplicate_key"), EffectState::None);
    assert_eq!(note(&event(1, &refused)), "create_ticket 1.0 · invalid_arguments (duplicate_key)");
    let unknown = settled(Some(Code::TimedOut), None, EffectState::Unknown);
    assert_eq!(note(&event(1, &unknown)), "create_ticket 1.0 · timed_out · effect unknown");
}

#[test]
fn a_reused_result_says_whose_it_is() {
    let Body::Settled(mut reused) = settled(None, None, EffectState::None) else { unreachable!() };
    Arc::make_mut(&mut reused).meta.deduplicated = Some(CallId::new("run-34c559713956:step-0:call-0"));
    let note = note(&event(1, &Body::Settled(reused)));
    assert_eq!(note, "create_ticket 1.0 · result of run-34c559713956:step-0:call-0");
}

#[test]
fn what_others_wrote_cannot_drive_the_terminal() {
    let failed = RunFailed { reason: "model_failed".to_owned(), detail: "\u{1b}[2J".to_owned() };
    let row = plain(&EventTable::new(true).row(1, &event(1, &Body::RunFailed(failed))));
    assert!(row.ends_with("model_failed: \\u{1b}[2J\n"), "{row:?}");
}

#[test]
fn an_operator_finds_the_text_beside_the_error_id() {
    let Body::Settled(mut failed) = settled(Some(Code::ToolInternalError), None, EffectState::Unknown) else {
        unreachable!()
    };
    let ending = Arc::make_mut(&mut failed);
    ending.meta.error_id = Some(ErrorId::new("err-3f9a61c07b2e"));
    ending.audit.text = Some("panicked: bug\u{1b}[2J\nat line 3".to_owned());
    let event = event(14, &Body::Settled(failed));
    insta::assert_snapshot!(plain(&EventTable::new(true).row(14, &event)), @r"
      14  tool.failed               run-34c559713956:step-0:call-0  create_ticket 1.0 · tool_internal_error · effect unknown · err-3f9a61c07b2e
            panicked: bug\u{1b}[2J
            at line 3
    ");
    insta::assert_snapshot!(plain(&EventTable::new(false).row(14, &event)), @"  14  tool.failed      run-34c559713956:step-0:call-0  create_ticket 1.0 · tool_internal_error · effect unknown · err-3f9a61c07b2e");
}

#[test]
fn the_true_reason_stands_below_a_refusal() {
    let Body::Settled(mut refused) = settled(Some(Code::UnknownTool), None, EffectState::None) else { unreachable!() };
    Arc::make_mut(&mut refused).audit.reason = Some("not_allowed".to_owned());
    let row = plain(&EventTable::new(true).row(1, &event(1, &Body::Settled(refused))));
    assert!(row.ends_with("unknown_tool\n        not_allowed\n"), "{row}");
}
