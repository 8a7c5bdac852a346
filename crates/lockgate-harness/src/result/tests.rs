//! The shape of a run's result (interfaces.md).

use lockgate_contract::outcome::Code;
use lockgate_contract::run::Completion;
use serde_json::{Value, json};

use crate::result::RunResult;
use crate::sketch::Sketch;
use crate::stop::Stop;

fn shown(sketch: &Sketch, messages: bool) -> Value {
    let state = sketch.state();
    let result = RunResult::of(&state);
    serde_json::to_value(if messages { result.with_messages(&state) } else { result }).unwrap()
}

#[test]
fn a_completed_run() {
    let mut sketch = Sketch::new();
    sketch.turn_of(Some("Looking."), &[("look", r#"{"id": 1}"#, false), ("note", "{", false)]);
    sketch.returns(0, r#"{"owner":"auth"}"#).fails_because(1, Code::InvalidArguments, Some("not_json"));
    sketch.says("It is auth.");
    let answer = Some("It is auth.".to_owned());
    sketch.stopped(Stop::Completed { reason: Completion::FinalAnswer, answer, completed_by: None });
    let call = |index: u32| sketch.state().run_id().call(0, index).to_string();
    assert_eq!(
        shown(&sketch, true),
        json!({
            "run_id": sketch.state().run_id().as_str(),
            "status": "completed",
            "reason": "final_answer",
            "answer": "It is auth.",
            "steps": 2,
            "valid_actions": 1,
            "completed_by": null,
            "calls": [
                {
                    "call_id": call(0), "provider_call_id": "p0", "tool_name": "look", "tool_version": "1.0", "ok": true,
                    "code": null, "reason": null, "status": "EXECUTED", "effect_state": "done", "deduplicated": false,
                    "approval_id": null,
                },
                {
                    "call_id": call(1), "provider_call_id": "p1", "tool_name": "note", "tool_version": "1.0", "ok": false,
                    "code": "invalid_arguments", "reason": "not_json", "status": "NOT_EXECUTED", "effect_state": "none",
                    "deduplicated": false, "approval_id": null,
                },
            ],
            "model_messages": [
                {"role": "user", "text": "a task"},
                {
                    "role": "assistant",
                    "text": "Looking.",
                    "calls": [
                        {"call_id": call(0), "name": "look", "arguments": {"id": 1}},
                        // The raw text stands in the journal.
                        {"call_id": call(1), "name": "note", "arguments": {}},
                    ],
                },
                {"role": "tool", "call_id": call(0), "content": {"owner": "auth"}},
                {
                    "role": "tool",
                    "call_id": call(1),
                    "content": {
                        "code": "invalid_arguments",
                        "reason": "not_json",
                        "message": Code::InvalidArguments.row().model_text,
                    },
                },
                {"role": "assistant", "text": "It is auth."},
            ],
        })
    );
}

#[test]
fn a_run_that_waits() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "look"]).asked(0).stopped(Stop::WaitingForApproval(vec!["apr-0".into()]));
    let shown = shown(&sketch, false);
    assert_eq!(shown["status"], "waiting_for_approval");
    assert_eq!(shown["calls"][0]["code"], "approval_required");
    assert_eq!(shown["calls"][0]["approval_id"], "apr-0");
    assert_eq!(shown["calls"][0]["tool_version"], "1.0");
    assert_eq!((&shown["calls"][0]["ok"], &shown["calls"][0]["status"]), (&json!(false), &Value::Null));
    assert_eq!(shown["calls"][1]["code"], Value::Null);
    assert!(shown.get("model_messages").is_none());
}

#[test]
fn a_run_that_nobody_drives() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]);
    let shown = shown(&sketch, false);
    assert_eq!((&shown["status"], &shown["reason"]), (&Value::Null, &Value::Null));
    assert_eq!((&shown["steps"], &shown["valid_actions"]), (&json!(1), &json!(0)));
}
