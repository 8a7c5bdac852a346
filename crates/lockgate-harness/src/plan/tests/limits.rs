//! Steps, actions and time.

use lockgate_contract::outcome::Code;
use lockgate_contract::run::Limit;

use super::{commands, parallel};
use crate::sketch::Sketch;
use crate::stop::Stop;

#[test]
fn the_model_is_asked_max_steps_times() {
    let mut sketch = Sketch::within(|budget| budget.max_steps = 2);
    sketch.turn(&["look"]).ok(0);
    assert_eq!(sketch.next(), "ask the model, step 1");
    sketch.turn(&["look"]);
    assert_eq!(sketch.next(), "run 0");
    assert_eq!(sketch.ok(0).next(), "stop: limit_reached max_steps");
}

#[test]
fn the_last_step_may_complete_the_run() {
    let mut sketch = Sketch::within(|budget| budget.max_steps = 1);
    assert_eq!(sketch.says("Done.").next(), "stop: completed final_answer");
    let mut sketch = Sketch::within(|budget| budget.max_steps = 1);
    assert_eq!(sketch.turn(&["finish"]).ok(0).next(), "stop: completed goal_reached Agent");
}

#[test]
fn a_turn_is_read_up_to_a_bound_and_further_where_the_budget_allows() {
    let usual = Sketch::new().state();
    assert_eq!((usual.reads_turn_of(4096), usual.reads_turn_of(4097)), (true, false));
    let large = Sketch::within(|budget| budget.max_calls_per_turn = 5000).state();
    assert_eq!((large.reads_turn_of(5000), large.reads_turn_of(5001)), (true, false));
}

#[test]
fn no_step_at_all() {
    assert_eq!(Sketch::within(|budget| budget.max_steps = 0).next(), "stop: limit_reached max_steps");
}

#[test]
fn a_run_of_invalid_calls_alone_ends_by_its_steps() {
    let mut sketch = Sketch::within(|budget| {
        budget.max_steps = 5;
        budget.max_valid_actions = 1;
        budget.max_repeated_turns = 2;
        budget.max_environment_failures = 1;
    });
    for step in 0..5 {
        assert_eq!(sketch.next(), format!("ask the model, step {step}"));
        sketch.turn(&["look"]).fails(0, Code::InvalidArguments);
    }
    assert_eq!(sketch.next(), "stop: limit_reached max_steps");
    assert_eq!((sketch.state().steps(), sketch.state().valid_actions()), (5, 0));
}

#[test]
fn a_turn_never_runs_more_than_the_actions_that_are_left() {
    #[rustfmt::skip]
    let table: &[(&str, usize, &[&str])] = &[
        ("note", 8, &["run 0", "run 1", "run 2", "run 3", "run 4", "run 5"]),
        ("look", 1, &["run 0", "run 1", "run 2", "run 3", "run 4", "run 5"]),
        ("look", 4, &["run 0, 1, 2, 3", "run 4, 5"]),
        ("look", 8, &["run 0, 1, 2, 3, 4, 5"]),
    ];
    for (name, reads, expected) in table {
        let mut sketch = Sketch::within(|budget| budget.max_valid_actions = 6);
        sketch.turn(&[*name; 8]);
        let mut said = commands(&mut sketch, &parallel(*reads));
        let end: Vec<_> = said.drain(expected.len()..).collect();
        assert_eq!(said, *expected, "{name} with {reads}"); // par-limit-overshoot
        let refused = [
            "run 6 (over max_valid_actions)",
            "run 7 (over max_valid_actions)",
            "stop: limit_reached max_valid_actions",
        ];
        assert_eq!(end, refused, "{name} with {reads}");
    }
}

#[test]
fn calls_that_were_not_executed_use_up_no_action() {
    let mut sketch = Sketch::within(|budget| budget.max_valid_actions = 2);
    sketch.turn(&["look", "look", "look", "look"]);
    assert_eq!(sketch.next(), "run 0, 1"); // two are left, so two at most
    sketch.fails(0, Code::InvalidArguments).ok(1);
    assert_eq!(sketch.next(), "run 2");
    sketch.fails(2, Code::PolicyDenied);
    assert_eq!(sketch.next(), "run 3");
    sketch.ok(3);
    assert_eq!(sketch.state().valid_actions(), 2);
    assert_eq!(sketch.next(), "ask the model, step 1"); // used up, but nothing was refused
    sketch.turn(&["look"]);
    assert_eq!(sketch.next(), "run 0 (over max_valid_actions)");
    assert_eq!(sketch.refused_by(0, Limit::MaxValidActions).next(), "stop: limit_reached max_valid_actions");
}

#[test]
fn calls_that_raised_are_actions_and_a_broken_environment_is_none() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look", "look", "look", "look"]);
    sketch.fails(0, Code::ToolInternalError).reports(1, "quota_exceeded").fails(2, Code::EnvironmentError);
    sketch.fails(3, Code::InvalidToolOutput);
    assert_eq!(sketch.state().valid_actions(), 3);
}

#[test]
fn a_turn_of_too_many_calls_is_cut_and_the_run_goes_on() {
    let mut sketch = Sketch::within(|budget| {
        budget.max_calls_per_turn = 32;
        budget.max_valid_actions = 100;
    });
    sketch.turn(&["look"; 200]);
    let said = commands(&mut sketch, &parallel(8));
    assert_eq!(said.last().unwrap(), "ask the model, step 1"); // args-128-calls
    assert_eq!(said.concat().matches("(over max_calls_per_turn)").count(), 168);
    assert_eq!(sketch.state().valid_actions(), 32);
}

#[test]
fn the_deadline_refuses_calls_and_ends_the_run() {
    let mut sketch = Sketch::within(|budget| budget.deadline_ms = 1000);
    sketch.turn(&["look", "look"]).pass(999).ok(0);
    assert_eq!(sketch.next(), "run 1");
    assert_eq!(sketch.pass(1).next(), "run 1 (over deadline)");
    sketch.refused_by(1, Limit::Deadline);
    assert_eq!(sketch.next(), "stop: limit_reached deadline");
}

#[test]
fn the_deadline_ends_the_run_between_two_turns() {
    let mut sketch = Sketch::within(|budget| budget.deadline_ms = 1000);
    sketch.turn(&["look"]).ok(0).pass(1000);
    assert_eq!(sketch.next(), "stop: limit_reached deadline");
}

#[test]
fn waiting_does_not_count() {
    let mut sketch = Sketch::within(|budget| budget.deadline_ms = 1000);
    sketch.turn(&["pay"]).pass(400).asked(0).stopped(Stop::WaitingForApproval(Vec::new()));
    // A decision comes from somebody who does not drive the run.
    sketch.pass(20_000).decided(0, "granted").pass(20_000).resumed(None);
    assert_eq!(sketch.next(), "run 0 (with apr-0)");
    assert_eq!(sketch.pass(599).next(), "run 0 (with apr-0)");
    assert_eq!(sketch.pass(1).next(), "run 0 (over deadline) (with apr-0)");
}

#[test]
fn the_time_in_which_a_dead_driver_drove_nothing_does_not_count() {
    let mut sketch = Sketch::within(|budget| budget.deadline_ms = 1000);
    sketch.turn(&["look"]).pass(999).ok(0).pass(50_000).resumed(None);
    assert_eq!(sketch.next(), "ask the model, step 1");
    assert_eq!(sketch.pass(1).next(), "stop: limit_reached deadline");
}
