//! The fold: what it takes, what it refuses, and what it makes of events.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::Document;
use lockgate_contract::event::{Body, EventType, NewEvent, ToolRequested};
use lockgate_contract::outcome::Code;
use lockgate_contract::run::{Budget, RunKind};
use lockgate_contract::time::Timestamp;

use crate::error::FoldError;
use crate::sketch::{START, Sketch};
use crate::state::RunState;
use crate::stop::Stop;

fn refused(sketch: &Sketch) -> FoldError {
    RunState::fold(&sketch.events).unwrap_err()
}

#[test]
fn events_are_numbered_without_gaps() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0);
    let state = RunState::fold(&sketch.events).unwrap();
    assert_eq!(state.last_seq(), 4); // R-209
    let mut gap = sketch.clone();
    gap.events.remove(1);
    assert_eq!(refused(&gap), FoldError::Sequence { expected: 2, found: 3 });
    let mut twice = sketch.clone();
    twice.events.insert(2, sketch.events[1].clone());
    assert_eq!(refused(&twice), FoldError::Sequence { expected: 3, found: 2 });
    let mut late = sketch;
    late.events.remove(0);
    assert_eq!(refused(&late), FoldError::Sequence { expected: 1, found: 2 });
    assert_eq!(RunState::fold([]).unwrap_err(), FoldError::Sequence { expected: 1, found: 0 });
}

#[test]
fn a_run_starts_once() {
    let mut sketch = Sketch::new();
    let start = sketch.events[0].clone();
    sketch.push_raw(NewEvent { kind: start.kind, step: 0, call_id: None, data: start.data });
    assert!(matches!(refused(&sketch), FoldError::Misplaced { seq: 2, .. }));
    let mut other = Sketch::new();
    other.events[0].kind = EventType::RunCancelled;
    other.events[0].data = Document::empty_object().into();
    assert!(matches!(refused(&other), FoldError::Misplaced { seq: 1, .. }));
}

#[test]
fn a_call_settles_once() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).ok(0);
    assert_eq!(refused(&sketch), FoldError::SettledTwice { seq: 5, call: sketch.call(0) });
}

#[test]
fn an_event_about_a_call_that_nobody_requested() {
    let unknown = |kind: &str| {
        let mut sketch = Sketch::new();
        sketch.turn(&["look", "look"]).started(0).asked(1).decided(1, "granted").ok(0);
        let place = sketch.events.iter().position(|event| event.kind.word() == kind).unwrap();
        sketch.events[place].call_id = Some("run-000000000000:step-0:call-0".into());
        refused(&sketch)
    };
    for kind in ["tool.started", "tool.finished", "approval.requested", "approval.decided"] {
        assert!(matches!(unknown(kind), FoldError::UnknownCall { .. }), "{kind}"); // R-208
    }
    let mut nameless = Sketch::new();
    nameless.turn(&["look"]).ok(0).events[3].call_id = None;
    assert!(matches!(refused(&nameless), FoldError::UnknownCall { .. }));
}

#[test]
fn an_agents_call_comes_from_its_model() {
    let mut sketch = Sketch::new();
    let body = ToolRequested {
        tool_name: "look".to_owned(),
        parent_call_id: None,
        arguments_text: None,
        language: ActionLanguage::Call,
    };
    sketch.push(Some(0), &Body::ToolRequested(body));
    assert!(matches!(refused(&sketch), FoldError::UnknownCall { .. })); // R-207
}

#[test]
fn a_call_inside_another_counts_as_an_action_and_not_as_one_of_the_turn() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).requested(0);
    let outer = sketch.call(0);
    let inner = |sketch: &mut Sketch, body: &Body| {
        sketch.push_raw(NewEvent::new(0, Some(outer.inner(1)), body.clone()));
    };
    let body = ToolRequested {
        tool_name: "note".to_owned(),
        parent_call_id: Some(outer.clone()),
        arguments_text: Some("{}".to_owned()),
        language: ActionLanguage::Call,
    };
    inner(&mut sketch, &Body::ToolRequested(body));
    let settled = sketch.clone().ok(0).events.last().unwrap().body().unwrap();
    inner(&mut sketch, &settled);
    let state = sketch.state();
    assert_eq!((state.calls().count(), state.valid_actions()), (1, 1));
    assert!(state.calls().all(|call| call.settled.is_none()));
}

#[test]
fn a_direct_call_is_a_turn_of_its_own() {
    let mut sketch = Sketch::with(|start| start.kind = RunKind::Direct);
    let body = ToolRequested {
        tool_name: "look".to_owned(),
        parent_call_id: None,
        arguments_text: Some(r#"{"a":1}"#.to_owned()),
        language: ActionLanguage::Call,
    };
    sketch.push(Some(0), &Body::ToolRequested(body)).ok(0);
    let state = sketch.state();
    let call = state.calls().next().unwrap();
    assert_eq!((call.tool_name.as_str(), call.arguments_text.as_str()), ("look", r#"{"a":1}"#));
    assert_eq!((state.steps(), state.valid_actions()), (1, 1));
}

#[test]
fn results_stand_where_their_ids_say() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "look", "look"]).returns(2, "2").returns(0, "0").returns(1, "1");
    let state = sketch.state();
    let data: Vec<&str> =
        state.calls().map(|call| call.settled.as_ref().unwrap().data.as_ref().unwrap().text()).collect();
    assert_eq!(data, ["0", "1", "2"]); // R-219, R-220, R-230
}

#[test]
fn a_body_that_is_not_what_its_type_promises() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).events[2].data = Document::null().into();
    assert!(matches!(refused(&sketch), FoldError::Body { seq: 3, .. }));
}

#[test]
fn what_only_informs_may_be_new_and_what_steers_may_not() {
    let with = |kind: &str| {
        let mut sketch = Sketch::new();
        let kind = EventType::from_word(kind);
        sketch.push_raw(NewEvent { kind, step: 0, call_id: None, data: Document::null().into() });
        RunState::fold(&sketch.events)
    };
    for kind in ["tool.progressed", "arguments.repaired", "approval.reminded", "note"] {
        assert_eq!(with(kind).unwrap().last_seq(), 2, "{kind}"); // S-47
    }
    for kind in ["run.paused", "run.moved", "call.compensated"] {
        let newer = FoldError::NeedsNewerVersion { seq: 2, kind: kind.to_owned() };
        assert_eq!(with(kind).unwrap_err(), newer);
    }
}

#[test]
fn an_event_that_is_refused_changes_nothing() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0);
    let mut state = sketch.state();
    let before = format!("{state:?}");
    sketch.ok(0);
    let mut again = sketch.events.last().unwrap().clone();
    assert!(state.apply(&again).is_err());
    again.seq = 9;
    assert!(state.apply(&again).is_err());
    assert_eq!(before, format!("{state:?}"));
    assert_eq!(state.last_seq(), 4);
}

#[test]
fn a_model_failure_is_forgotten_when_the_model_is_asked_again() {
    let mut sketch = Sketch::new();
    sketch.model_fails("model_overloaded");
    assert_eq!(sketch.state().model_failure(), Some(("model_overloaded", "why")));
    assert_eq!(sketch.asks().state().model_failure(), None);
    assert_eq!(sketch.state().steps(), 1); // the same step, asked twice
}

#[test]
fn the_deadline_is_the_start_and_the_budget_and_the_time_that_nobody_used() {
    let at = |millis: i64| Timestamp::from_millis(START.as_millis() + millis);
    let mut sketch = Sketch::within(|budget| budget.deadline_ms = 1000);
    assert_eq!(sketch.state().deadline(), at(1000));
    sketch.turn(&["pay"]).pass(10).asked(0).pass(20).decided(0, "granted").pass(30).resumed(None);
    assert_eq!(sketch.state().deadline(), at(1050)); // from the question to the resume
    sketch.pass(5).resumed(Some(Budget { deadline_ms: 300, ..Budget::default() }));
    assert_eq!(sketch.state().deadline(), at(355));
    sketch.resumed(Some(Budget { deadline_ms: u64::MAX, ..Budget::default() }));
    assert_eq!(sketch.state().deadline(), Timestamp::LAST);
    sketch.resumed(Some(Budget { deadline_ms: 1000, ..Budget::default() }));
    assert_eq!(sketch.state().deadline(), at(1055));
}

#[test]
fn a_resumed_run_has_not_stopped() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).stopped(Stop::WaitingForApproval(Vec::new()));
    assert_eq!(sketch.state().stop(), Some(&Stop::WaitingForApproval(Vec::new())));
    assert_eq!(sketch.resumed(None).state().stop(), None);
}

#[test]
fn a_decision_counts_for_its_own_question() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "pay"]).asked(0).asked(1).decided(1, "denied");
    let decided: Vec<bool> =
        sketch.state().calls().map(|call| call.approval.as_ref().is_some_and(|open| open.decided)).collect();
    assert_eq!(decided, [false, true]);
    // About this call, but of another question.
    let other = sketch.events.last().unwrap().body().unwrap();
    sketch.push(Some(0), &other);
    assert!(
        sketch.state().calls().all(|call| call.approval.as_ref().unwrap().decided == (call.call_id == sketch.call(1)))
    );
}

#[test]
fn refusals_are_no_actions() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "look", "look"]).ok(0).fails(1, Code::PolicyDenied).fails(2, Code::EnvironmentError);
    assert_eq!(sketch.state().valid_actions(), 1); // R-119
}
