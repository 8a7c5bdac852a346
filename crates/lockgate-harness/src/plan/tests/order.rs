//! The order in which calls go to the gate.

use lockgate_contract::run::Completion;

use super::{commands, parallel};
use crate::plan::Command;
use crate::sketch::{Seen, Sketch};
use crate::stop::Stop;

#[test]
fn the_model_is_asked_first_and_after_every_settled_turn() {
    let mut sketch = Sketch::new();
    assert_eq!(sketch.next(), "ask the model, step 0"); // R-197, R-203
    sketch.turn(&["look"]).ok(0);
    assert_eq!(sketch.next(), "ask the model, step 1");
}

#[test]
fn a_turn_of_text_alone_completes_the_run() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).says("It is done.");
    let Command::Stop(stop) = sketch.command(&Seen::default()) else { panic!("it goes on") };
    let answer = Some("It is done.".to_owned());
    assert_eq!(stop, Stop::Completed { reason: Completion::FinalAnswer, answer, completed_by: None }); // C-17, R-213
}

#[test]
fn a_turn_without_text_and_without_calls_completes_it_too() {
    let mut sketch = Sketch::new();
    sketch.turn(&[]);
    assert_eq!(sketch.next(), "stop: completed final_answer");
}

#[test]
fn calls_go_to_the_gate_in_request_order() {
    #[rustfmt::skip]
    let table: &[(&[&str], usize, &[&str])] = &[
        (&["look"], 8, &["run 0"]),
        // Reads side by side, at most so many.
        (&["look", "look", "look"], 8, &["run 0, 1, 2"]),
        (&["look", "look", "look"], 2, &["run 0, 1", "run 2"]),
        (&["look", "look", "look"], 1, &["run 0", "run 1", "run 2"]),
        (&["look", "look"], 0, &["run 0", "run 1"]),
        // Never across something that changes the world.
        (&["look", "note", "look"], 8, &["run 0", "run 1", "run 2"]),
        (&["look", "look", "note", "look", "look"], 8, &["run 0, 1", "run 2", "run 3, 4"]),
        (&["note", "look", "look"], 8, &["run 0", "run 1, 2"]),
        (&["note", "note"], 8, &["run 0", "run 1"]),
        (&["put", "put"], 8, &["run 0", "run 1"]),
        // Never with a shared resource (S-18).
        (&["peek", "stat"], 8, &["run 0", "run 1"]),
        (&["peek", "look", "stat"], 8, &["run 0, 1", "run 2"]),
        (&["peek", "peek", "look"], 8, &["run 0", "run 1, 2"]),
        (&["look", "stat", "look", "stat", "look"], 8, &["run 0, 1, 2", "run 3, 4"]),
        // What nobody knows stands alone: it may be anything.
        (&["look", "nosuch", "look"], 8, &["run 0", "run 1", "run 2"]),
        (&["nosuch", "nosuch"], 8, &["run 0", "run 1"]),
        (&["LOOK", "look"], 8, &["run 0", "run 1"]),
    ];
    for (names, reads, expected) in table {
        let mut sketch = Sketch::new();
        sketch.turn(names);
        let mut said = commands(&mut sketch, &parallel(*reads));
        assert_eq!(said.pop().as_deref(), Some("ask the model, step 1"), "{names:?}");
        assert_eq!(said, *expected, "{names:?} with {reads}"); // R-219, R-220, S-18, S-19
    }
}

#[test]
fn the_call_that_is_planned_is_the_call_that_was_requested() {
    let mut sketch = Sketch::new();
    sketch.turn_of(None, &[("look", r#"{"a":1}"#, false), ("note", r#"{"a":2}"#, false)]).ok(0);
    let Command::RunCalls(planned) = sketch.command(&Seen::default()) else { panic!("nothing runs") };
    let call = &planned[0].call;
    assert_eq!((call.call_id.clone(), call.step), (sketch.call(1), 0)); // R-207, R-218
    assert_eq!((call.tool_name.as_str(), call.arguments_text.as_str()), ("note", r#"{"a":2}"#));
    assert_eq!(call.provider_call_id, "p1"); // S-03: kept for the wire, never an identity
}

#[test]
fn a_call_knows_the_earlier_ones_of_its_turn_and_no_others() {
    let mut sketch = Sketch::new();
    sketch.turn(&["note"]).ok(0).turn(&["note", "nosuch", "note"]).ok(0).settles(1, |settled| {
        settled.audit.arguments_digest = None;
    });
    let Command::RunCalls(planned) = sketch.command(&Seen::default()) else { panic!("nothing runs") };
    let earlier: Vec<_> = planned[0].terms.earlier.iter().map(|earlier| earlier.call_id.clone()).collect();
    assert_eq!(earlier, [sketch.call(0)]);
}

#[test]
fn a_call_that_stands_in_the_journal_is_not_requested_again() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "look"]).requested(0);
    let Command::RunCalls(planned) = sketch.command(&Seen::default()) else { panic!("nothing runs") };
    let before: Vec<bool> = planned.iter().map(|planned| planned.terms.requested_before).collect();
    assert_eq!(before, [true, false]); // R-212
}
