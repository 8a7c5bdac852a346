//! Runs that more steps would not help.

use lockgate_contract::outcome::Code;

use crate::sketch::Sketch;

#[test]
fn a_dead_backend_is_said_to_be_one() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).fails(0, Code::EnvironmentError).turn(&["look", "look"]);
    sketch.fails(0, Code::EnvironmentError).fails(1, Code::InvalidArguments);
    assert_eq!(sketch.next(), "ask the model, step 2");
    sketch.turn(&["look"]).fails(0, Code::EnvironmentError);
    assert_eq!(sketch.next(), "stop: failed environment_unavailable"); // R-109
}

#[test]
fn an_answer_of_any_kind_shows_that_the_environment_is_there() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"; 5]);
    sketch.fails(0, Code::EnvironmentError).fails(1, Code::EnvironmentError).reports(2, "not_found");
    sketch.fails(3, Code::EnvironmentError).fails(4, Code::EnvironmentError);
    assert_eq!(sketch.next(), "ask the model, step 1");
}

#[test]
fn environment_failures_are_counted_only_where_asked_for() {
    let mut sketch = Sketch::within(|budget| budget.max_environment_failures = 0);
    sketch.turn(&["look"; 9]);
    for call in 0..9 {
        sketch.fails(call, Code::EnvironmentError);
    }
    assert_eq!(sketch.next(), "ask the model, step 1");
}

#[test]
fn the_same_turn_again_and_again_is_a_loop() {
    let repeated = |limit: u32, turn: &dyn Fn(&mut Sketch, usize)| {
        let mut sketch = Sketch::within(|budget| budget.max_repeated_turns = limit);
        for round in 0..3 {
            assert_eq!(sketch.next(), format!("ask the model, step {round}"));
            turn(&mut sketch, round);
        }
        sketch.next()
    };
    let goes_on = "ask the model, step 3";
    let same = |sketch: &mut Sketch, _: usize| {
        sketch.turn(&["look", "stat"]).ok(0).ok(1);
    };
    assert_eq!(repeated(3, &same), "stop: failed loop_detected"); // S-53
    assert_eq!(repeated(4, &same), goes_on);
    assert_eq!(repeated(0, &same), goes_on);
    // The tool's own failure is an observation like another.
    let refused = |sketch: &mut Sketch, _: usize| {
        sketch.turn(&["look"]).reports(0, "not_found");
    };
    assert_eq!(repeated(3, &refused), "stop: failed loop_detected");
    // Other observations, other arguments, or a call that was not executed: no loop.
    let seen = |sketch: &mut Sketch, round: usize| {
        sketch.turn(&["look"]).returns(0, &format!(r#"{{"n":{round}}}"#));
    };
    assert_eq!(repeated(3, &seen), goes_on);
    let asked = |sketch: &mut Sketch, round: usize| {
        let arguments = format!(r#"{{"page":{round}}}"#);
        sketch.turn_of(None, &[("look", &arguments, false)]).ok(0);
    };
    assert_eq!(repeated(3, &asked), goes_on);
    let denied = |sketch: &mut Sketch, _: usize| {
        sketch.turn(&["look", "look"]).ok(0).fails(1, Code::PolicyDenied);
    };
    assert_eq!(repeated(3, &denied), goes_on); // R-121: such a run ends by its steps
}

#[test]
fn a_loop_counts_from_its_last_turn() {
    let mut sketch = Sketch::within(|budget| budget.max_repeated_turns = 2);
    sketch.turn(&["look"]).returns(0, "1").turn(&["look"]).returns(0, "2").turn(&["look"]).returns(0, "2.0");
    assert_eq!(sketch.next(), "stop: failed loop_detected"); // the same number, written differently
}
