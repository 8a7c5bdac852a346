//! Unknown effects, cancels and restarts.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::{EffectState, OnUnknown};
use lockgate_contract::outcome::Code;

use crate::plan::Command;
use crate::sketch::{Seen, Sketch};

#[test]
fn calls_behind_an_unknown_effect_are_blocked() {
    for on_unknown in [OnUnknown::Stop, OnUnknown::TellModel] {
        let mut sketch = Sketch::with(|start| start.on_unknown = on_unknown);
        sketch.turn(&["look", "note", "look", "note"]).ok(0).started(1).fails(1, Code::TimedOut);
        assert_eq!(sketch.next(), "settle 2 blocked, 3 blocked"); // S-21
    }
}

#[test]
fn a_waiting_call_behind_an_unknown_effect_is_blocked_whatever_a_person_said() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "pay"]).asked(0).asked(1).decided(0, "granted").decided(1, "granted");
    sketch.started(0).fails(0, Code::ToolInternalError);
    assert_eq!(sketch.next(), "settle 1 blocked");
}

#[test]
fn after_an_unknown_effect_the_run_stops_or_tells_the_model() {
    let unknown = |on_unknown| {
        let mut sketch = Sketch::with(|start| start.on_unknown = on_unknown);
        sketch.turn(&["note", "note"]).started(0).fails(0, Code::OutcomeUnknown).fails(1, Code::Blocked);
        sketch.next()
    };
    assert_eq!(unknown(OnUnknown::Stop), "stop: needs_reconciliation unknown_effect 0");
    assert_eq!(unknown(OnUnknown::TellModel), "ask the model, step 1");
}

#[test]
fn every_code_with_an_unknown_effect_stops_the_run() {
    for code in
        [Code::TimedOut, Code::ToolInternalError, Code::EnvironmentError, Code::OutcomeUnknown, Code::Interrupted]
    {
        let mut sketch = Sketch::new();
        sketch.turn(&["note"]).started(0).fails(0, code);
        assert_eq!(sketch.next(), "stop: needs_reconciliation unknown_effect 0", "{code}");
    }
}

#[test]
fn a_read_that_failed_leaves_nothing_unknown() {
    for code in [Code::TimedOut, Code::ToolInternalError, Code::EnvironmentError] {
        let mut sketch = Sketch::new();
        sketch.turn(&["look", "note"]).fails(0, code);
        assert_eq!(sketch.next(), "run 1", "{code}"); // R-200
    }
}

#[test]
fn the_effect_of_an_unknown_outcome_is_unknown_even_for_a_read() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).fails(0, Code::OutcomeUnknown);
    assert_eq!(sketch.state().turns()[0].calls[0].settled.as_ref().unwrap().effect_state, EffectState::Unknown);
    assert_eq!(sketch.next(), "stop: needs_reconciliation unknown_effect 0");
}

#[test]
fn cancelled_before_the_model_was_asked() {
    assert_eq!(Sketch::new().seen(&Seen::cancelled()), "stop: cancelled cancelled");
}

#[test]
fn on_cancel_not_started_and_started_are_told_apart() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "note", "pay", "note"]).ok(0).started(1).asked(2);
    let settle = "settle 1 interrupted (started), 2 cancelled, 3 cancelled";
    assert_eq!(sketch.seen(&Seen::cancelled()), settle); // S-23
    sketch.fails(1, Code::Interrupted).fails(2, Code::Cancelled).fails(3, Code::Cancelled);
    let stop = "stop: needs_reconciliation unknown_effect 1";
    assert_eq!(sketch.seen(&Seen::cancelled()), stop); // cancel is not rollback
}

#[test]
fn a_cancelled_read_leaves_a_cancelled_run() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).started(0).fails(0, Code::Interrupted);
    assert_eq!(sketch.seen(&Seen::cancelled()), "stop: cancelled cancelled");
}

#[test]
fn an_effect_that_was_started_is_never_started_again() {
    let mut sketch = Sketch::new();
    sketch.turn(&["note", "look"]).requested(0).started(0);
    assert_eq!(sketch.next(), "settle 0 outcome_unknown (started)"); // R-126, R-128
    sketch.fails(0, Code::OutcomeUnknown);
    assert_eq!(sketch.next(), "settle 1 blocked");
}

#[test]
fn what_may_be_repeated_is_repeated_as_another_attempt() {
    for name in ["look", "put"] {
        let mut sketch = Sketch::new();
        sketch.turn(&[name]).requested(0).started(0);
        assert_eq!(sketch.next(), "run 0 (attempt 2)", "{name}"); // R-127
        assert_eq!(sketch.attempted(0, 2).next(), "run 0 (attempt 3)", "{name}");
    }
}

#[test]
fn an_approval_is_good_for_one_attempt() {
    let mut sketch = Sketch::new();
    sketch.turn(&["put"]).asked(0).decided(0, "granted").started(0);
    // The next attempt comes without it: where a person is asked, it is asked about anew.
    assert_eq!(sketch.next(), "run 0 (attempt 2)");
}

#[test]
fn a_call_that_was_only_requested_is_simply_gated() {
    let mut sketch = Sketch::new();
    sketch.turn(&["note"]).requested(0);
    assert_eq!(sketch.next(), "run 0");
}

#[test]
fn redacted_code_is_code() {
    // Nothing of it would run, with its secret or without: the gate says the same of both.
    let mut sketch = Sketch::new();
    sketch.writes_code(&[("python", "login('[redacted:key#a1b2]')", true), ("look", "1 + 1", false)]);
    assert_eq!(sketch.next(), "run 0");
    let Command::RunCalls(planned) = sketch.command(&Seen::default()) else { panic!() };
    assert_eq!(planned[0].call.language, ActionLanguage::Code); // R-096, R-106
    assert_eq!(sketch.fails(0, Code::WrongActionLanguage).next(), "run 1");
    assert_eq!(sketch.fails(1, Code::WrongActionLanguage).next(), "ask the model, step 1"); // R-105
    assert_eq!((sketch.state().steps(), sketch.state().valid_actions()), (1, 0)); // R-119
}

#[test]
fn redacted_arguments_are_never_run() {
    let secret = |asked: bool| {
        let mut sketch = Sketch::new();
        sketch.turn_of(None, &[("note", r#"{"key":"[redacted:key#a1b2]"}"#, true), ("look", "{}", false)]);
        if asked {
            sketch.asked(0).decided(0, "granted");
        }
        sketch
    };
    // The process that heard the model has the text.
    assert_eq!(secret(false).seen(&Seen { unredacted: vec![0], ..Seen::default() }), "run 0");
    assert_eq!(secret(false).next(), "settle 0 invalid_arguments");
    assert_eq!(secret(true).next(), "settle 0 approval_stale");
    // An effect that began is worse than arguments that are gone.
    assert_eq!(secret(false).started(0).next(), "settle 0 outcome_unknown (started)");
}

#[test]
fn what_cannot_run_any_more_is_no_part_of_a_batch() {
    let mut sketch = Sketch::new();
    sketch.turn_of(None, &[("look", "{}", false), ("look", "{}", true), ("look", "{}", false)]);
    assert_eq!(sketch.next(), "run 0");
    assert_eq!(sketch.ok(0).next(), "settle 1 invalid_arguments");
    assert_eq!(sketch.fails(1, Code::InvalidArguments).next(), "run 2");
}

#[test]
fn finished_calls_are_not_touched() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "look", "look"]).ok(1);
    assert_eq!(sketch.next(), "run 0");
    assert_eq!(sketch.ok(0).next(), "run 2");
    assert_eq!(sketch.ok(2).next(), "ask the model, step 1");
}
