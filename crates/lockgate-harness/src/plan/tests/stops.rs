//! Stop states, their order, and what reopens them.

use lockgate_contract::outcome::Code;
use lockgate_contract::run::{Budget, Completion, Limit, RunKind};

use crate::plan::Command;
use crate::sketch::{Seen, Sketch};
use crate::stop::Stop;

#[test]
fn the_heavier_reason_stops_the_run() {
    // Each row has its own reason and all those below it.
    let rows = [
        ("unknown", "stop: needs_reconciliation unknown_effect 4"),
        ("cancelled", "stop: cancelled cancelled"),
        ("environment", "stop: completed goal_reached Environment"),
        ("agent", "stop: completed goal_reached Agent"),
        ("actions", "stop: limit_reached max_valid_actions"),
        ("backend", "stop: failed environment_unavailable"),
        ("time", "stop: limit_reached deadline"),
        ("steps", "stop: limit_reached max_steps"),
    ];
    for (index, (_, expected)) in rows.iter().enumerate() {
        let has = |reason: &str| rows[index..].iter().any(|(row, _)| *row == reason);
        let mut sketch = Sketch::within(|budget| {
            budget.max_steps = 1;
            budget.max_environment_failures = 1;
            budget.max_valid_actions = u32::from(!has("actions")) * 50;
        });
        sketch.turn(&["look", "finish", "look", "look", "note"]);
        sketch.settles(0, |settled| settled.env_reported_completion = has("environment"));
        if has("agent") {
            sketch.ok(1)
        } else {
            sketch.reports(1, "not_yet")
        };
        if has("actions") {
            sketch.refused_by(2, Limit::MaxValidActions)
        } else {
            sketch.ok(2)
        };
        if has("backend") {
            sketch.fails(3, Code::EnvironmentError)
        } else {
            sketch.ok(3)
        };
        if has("unknown") {
            sketch.fails(4, Code::TimedOut);
        } else {
            sketch.fails(4, Code::InvalidArguments);
        }
        sketch.pass(if has("time") { 600_000 } else { 0 });
        let seen = Seen { cancelled: has("cancelled"), ..Seen::default() };
        assert_eq!(sketch.seen(&seen), *expected, "row {index}");
    }
}

#[test]
fn a_model_without_an_answer_fails_the_run() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).model_fails("model_overloaded");
    assert_eq!(sketch.next(), "stop: failed model_overloaded");
    assert_eq!(sketch.pass(600_000).next(), "stop: failed model_overloaded");
    assert_eq!(sketch.seen(&Seen::cancelled()), "stop: cancelled cancelled");
}

#[test]
fn a_question_that_was_not_answered_is_asked_again_under_its_number() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).asks().pass(5).resumed(None);
    assert_eq!(sketch.next(), "ask the model, step 1");
    assert_eq!(sketch.state().steps(), 2); // a step, answered or not
}

#[test]
fn a_run_that_stopped_stays_so() {
    let stops = [
        Stop::Completed { reason: Completion::FinalAnswer, answer: Some("yes".to_owned()), completed_by: None },
        Stop::LimitReached(Limit::MaxSteps),
        Stop::WaitingForApproval(Vec::new()),
        Stop::NeedsReconciliation(Vec::new()),
        Stop::Failed { reason: "script_exhausted".to_owned(), detail: String::new() },
        Stop::Cancelled,
    ];
    for stop in stops {
        let mut sketch = Sketch::new();
        sketch.turn(&["pay", "look"]).asked(0).decided(0, "granted").stopped(stop.clone());
        for seen in [Seen::default(), Seen::cancelled()] {
            let Command::Ended(ended) = sketch.command(&seen) else { panic!("{stop:?} goes on") };
            assert_eq!(ended, stop);
        }
    }
}

#[test]
fn a_direct_call_ends_when_it_is_settled() {
    let mut sketch = Sketch::with(|start| start.kind = RunKind::Direct);
    assert_eq!(sketch.turn(&["look"]).ok(0).next(), "stop: completed call_settled");
}

#[test]
fn a_larger_budget_reopens_a_used_up_run() {
    let more = |change: &dyn Fn(&mut Budget)| {
        let mut budget = Budget { max_steps: 2, max_valid_actions: 2, deadline_ms: 1000, ..Budget::default() };
        change(&mut budget);
        Some(budget)
    };
    let raise = |limit: Limit, budget: &mut Budget| match limit {
        Limit::MaxValidActions => budget.max_valid_actions = 3,
        Limit::Deadline => budget.deadline_ms = 2000,
        Limit::MaxSteps | Limit::MaxCallsPerTurn => budget.max_steps = 3,
    };
    for limit in [Limit::MaxSteps, Limit::MaxValidActions, Limit::Deadline] {
        let mut sketch = Sketch::within(|budget| *budget = more(&|_| {}).unwrap());
        sketch.turn(&["look"]);
        match limit {
            Limit::MaxSteps => sketch.ok(0).turn(&["look"]).fails(0, Code::InvalidArguments),
            Limit::MaxValidActions => sketch.ok(0).turn(&["look", "look"]).ok(0).refused_by(1, limit),
            _ => sketch.pass(1000).refused_by(0, limit),
        };
        assert_eq!(sketch.next(), format!("stop: limit_reached {limit}"));
        sketch.stopped(Stop::LimitReached(limit)).pass(5000);
        let step = sketch.state().turns().len();
        // The same limits again: it stops where it stood. Two turns are the steps, so that one needs no more turns.
        let same = sketch.clone().resumed(more(&|_| {})).next();
        assert_eq!(same, format!("stop: limit_reached {limit}"));
        let mut raised = sketch.clone();
        raised.resumed(more(&|budget| {
            budget.max_steps = 3;
            raise(limit, budget);
        }));
        assert_eq!(raised.next(), format!("ask the model, step {step}"), "{limit}");
        // Another limit than the one that is used up helps nothing.
        if limit != Limit::MaxSteps {
            let other = sketch.clone().resumed(more(&|budget| budget.max_steps = 3)).next();
            assert_eq!(other, format!("stop: limit_reached {limit}"));
        }
    }
}

#[test]
fn a_smaller_budget_counts_too() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).pass(500).resumed(Some(Budget { deadline_ms: 100, ..Budget::default() }));
    assert_eq!(sketch.next(), "ask the model, step 1"); // nobody drove it for these 500 ms
    assert_eq!(sketch.pass(100).next(), "stop: limit_reached deadline");
}
