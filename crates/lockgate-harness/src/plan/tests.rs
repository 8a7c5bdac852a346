//! Events in, commands out. No runtime, no journal, no tool: R-203 by construction.

use lockgate_contract::effect::{EffectState, OnUnknown};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::run::{Budget, CompletedBy, Limit, RunKind};

use crate::plan::Command;
use crate::sketch::{OPEN_FOR, Seen, Sketch, place, words};
use crate::state::Stop;

mod simulated;

/// Every call that the machine sends to the gate succeeds; the commands until it asks the model again or stops.
fn commands(sketch: &mut Sketch, seen: &Seen) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        let command = sketch.command(seen);
        said.push(words(&command));
        let Command::RunCalls(planned) = command else { return said };
        for planned in planned {
            let call = place(&planned.call.call_id);
            match planned.terms.over_limit {
                Some(limit) => sketch.refused_by(call, limit),
                None => sketch.ok(call),
            };
        }
    }
}

fn parallel(reads: usize) -> Seen {
    Seen { parallel_reads: reads, ..Seen::default() }
}

// --- The order of calls

#[test]
fn the_model_is_asked_first_and_after_every_settled_turn() {
    let mut sketch = Sketch::new();
    assert_eq!(sketch.next(), "ask the model, step 0"); // R-197
    sketch.turn(&["look"]).ok(0);
    assert_eq!(sketch.next(), "ask the model, step 1");
}

#[test]
fn a_turn_of_text_alone_completes_the_run() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).ok(0).says("It is done.");
    let Command::Stop(stop) = sketch.command(&Seen::default()) else { panic!("it goes on") };
    let answer = Some("It is done.".to_owned());
    assert_eq!(stop, Stop::Completed { reason: "final_answer", answer, completed_by: None }); // C-17, R-213
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

// --- Waiting

#[test]
fn several_calls_wait_side_by_side() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "pay", "pay"]);
    assert_eq!(sketch.next(), "run 0");
    sketch.requested(0).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    sketch.requested(1).asked(1);
    assert_eq!(sketch.seen(&Seen::held(&[0, 1])), "run 2 (may not start)");
    sketch.requested(2).asked(2);
    assert_eq!(
        sketch.seen(&Seen::held(&[0, 1, 2])),
        "stop: waiting_for_approval approval_required apr-0, apr-1, apr-2" // R-169
    );
}

#[test]
fn an_allowed_effect_behind_a_waiting_one_waits_too() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "note", "look"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    assert_eq!(sketch.seen(&Seen::held(&[0, 1])), "run 2 (may not start)");
    let stop = "stop: waiting_for_approval approval_required apr-0";
    assert_eq!(sketch.seen(&Seen::held(&[0, 1, 2])), stop);
}

#[test]
fn refusals_behind_a_waiting_call_settle() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "nosuch", "note"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
    sketch.fails(1, Code::UnknownTool);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 2 (may not start)");
    sketch.fails(2, Code::InvalidArguments);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn what_is_decided_runs_in_request_order() {
    let stop = |calls: &str| format!("stop: waiting_for_approval approval_required {calls}");
    let asked = || {
        let mut sketch = Sketch::new();
        sketch.turn(&["pay", "pay"]).asked(0).asked(1);
        sketch
    };
    let mut first = asked();
    assert_eq!(first.decided(0, "granted").next(), "run 0 (with apr-0)"); // R-172
    assert_eq!(first.ok(0).next(), stop("apr-1"));

    // Decided, but behind one that is not.
    let mut second = asked();
    assert_eq!(second.decided(1, "granted").next(), stop("apr-0"));
    assert_eq!(second.decided(0, "denied").next(), "run 0 (with apr-0)");
    assert_eq!(second.fails(0, Code::ApprovalDenied).next(), "run 1 (with apr-1)");
}

#[test]
fn a_decision_that_was_refused_decides_nothing() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).decided(0, "refused");
    assert_eq!(sketch.next(), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn a_question_that_is_too_late_goes_to_the_gate() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).pass(OPEN_FOR - 1);
    assert_eq!(sketch.next(), "stop: waiting_for_approval approval_required apr-0");
    assert_eq!(sketch.pass(1).next(), "run 0 (with apr-0)");
}

#[test]
fn what_this_driver_asked_is_not_asked_again_by_it() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay"]).asked(0).decided(0, "granted");
    assert_eq!(sketch.seen(&Seen::held(&[0])), "stop: waiting_for_approval approval_required apr-0");
}

#[test]
fn nobody_waits_for_nothing() {
    // The first call's question ran out while the driver was at work, and with it the reason to hold the second.
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "look"]).asked(0).pass(OPEN_FOR).fails(0, Code::ApprovalExpired);
    assert_eq!(sketch.seen(&Seen::held(&[1])), "run 1");
}

#[test]
fn reads_do_not_pass_a_waiting_call() {
    let mut sketch = Sketch::new();
    sketch.turn(&["pay", "look", "look"]).asked(0);
    assert_eq!(sketch.seen(&Seen::held(&[0])), "run 1 (may not start)");
}

// --- Unknown effects

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
    for code in [Code::TimedOut, Code::ToolInternalError, Code::EnvironmentError, Code::OutcomeUnknown, Code::Interrupted] {
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

// --- Cancel

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

// --- After a restart

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
    assert_eq!(sketch.next(), "settle 0 outcome_unknown (started)");
}

#[test]
fn a_call_that_was_only_requested_is_simply_gated() {
    let mut sketch = Sketch::new();
    sketch.turn(&["note"]).requested(0);
    assert_eq!(sketch.next(), "run 0");
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

// --- Steps

#[test]
fn the_model_is_asked_max_steps_times() {
    let mut sketch = Sketch::within(|budget| budget.max_steps = 2);
    sketch.turn(&["look"]).ok(0);
    assert_eq!(sketch.next(), "ask the model, step 1");
    sketch.turn(&["look"]);
    assert_eq!(sketch.next(), "run 0");
    assert_eq!(sketch.ok(0).next(), "stop: limit_reached max_steps"); // R-122, R-205
}

#[test]
fn the_last_step_may_complete_the_run() {
    let mut sketch = Sketch::within(|budget| budget.max_steps = 1);
    assert_eq!(sketch.says("Done.").next(), "stop: completed final_answer");
    let mut sketch = Sketch::within(|budget| budget.max_steps = 1);
    assert_eq!(sketch.turn(&["finish"]).ok(0).next(), "stop: completed goal_reached Agent");
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
        sketch.turn(&["look"]).fails(0, Code::InvalidArguments); // R-107
    }
    assert_eq!(sketch.next(), "stop: limit_reached max_steps"); // R-121
    assert_eq!((sketch.state().steps(), sketch.state().valid_actions()), (5, 0)); // R-119
}

// --- Actions

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
    assert_eq!(sketch.state().valid_actions(), 2); // R-119
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
    assert_eq!(sketch.state().valid_actions(), 3); // R-108, R-120
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

// --- Time

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

// --- Failures of the environment and loops

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

// --- Completion

#[test]
fn a_tool_that_completes_the_run_does_so_only_when_it_succeeded() {
    let finish = |settle: fn(&mut Sketch) -> &mut Sketch| settle(Sketch::new().turn(&["finish"])).next();
    let goes_on = "ask the model, step 1";
    assert_eq!(finish(|run| run.ok(0)), "stop: completed goal_reached Agent"); // R-114
    assert_eq!(finish(|run| run.reports(0, "not_yet")), goes_on); // R-116
    assert_eq!(finish(|run| run.fails(0, Code::InvalidToolOutput)), goes_on);
    assert_eq!(finish(|run| run.fails(0, Code::InvalidArguments)), goes_on);
    // Somebody else's result is no success of this call.
    assert_eq!(finish(|run| run.settles(0, |settled| settled.status = Status::NotExecuted)), goes_on);
}

#[test]
fn which_tools_complete_a_run_is_read_from_its_binding() {
    let mut sketch = Sketch::with(|start| start.binding.completes_run.clear());
    assert_eq!(sketch.turn(&["finish"]).ok(0).next(), "ask the model, step 1"); // R-117
    let mut sketch = Sketch::with(|start| start.binding.completes_run.extend(["look".to_owned()]));
    assert_eq!(sketch.turn(&["look"]).ok(0).next(), "stop: completed goal_reached Agent");
}

#[test]
fn the_two_channels_stay_apart() {
    let reported = |name: &str| {
        let mut sketch = Sketch::new();
        sketch.turn(&[name]).settles(0, |settled| settled.env_reported_completion = true);
        let Command::Stop(Stop::Completed { completed_by, .. }) = sketch.command(&Seen::default()) else {
            panic!("it goes on")
        };
        completed_by
    };
    assert_eq!(reported("note"), Some(CompletedBy::Environment)); // R-115
    assert_eq!(reported("finish"), Some(CompletedBy::Environment)); // what the environment says outweighs the agent
}

#[test]
fn the_calls_behind_the_completing_one_run_before_the_run_ends() {
    let mut sketch = Sketch::new();
    assert_eq!(sketch.turn(&["finish", "look"]).ok(0).next(), "run 1");
    assert_eq!(sketch.ok(1).next(), "stop: completed goal_reached Agent");
}

// --- Several reasons at once

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
        if has("agent") { sketch.ok(1) } else { sketch.reports(1, "not_yet") };
        if has("actions") { sketch.refused_by(2, Limit::MaxValidActions) } else { sketch.ok(2) };
        if has("backend") { sketch.fails(3, Code::EnvironmentError) } else { sketch.ok(3) };
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
    assert_eq!(sketch.state().steps(), 2); // R-119: a step, answered or not
}

// --- Stop states

#[test]
fn a_run_that_stopped_stays_so() {
    let stops = [
        Stop::Completed { reason: "final_answer", answer: Some("yes".to_owned()), completed_by: None },
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
            assert_eq!(ended, stop); // R-198, R-199
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
    let limits: [(Limit, &dyn Fn(&mut Budget)); 3] = [
        (Limit::MaxSteps, &|budget| budget.max_steps = 3),
        (Limit::MaxValidActions, &|budget| budget.max_valid_actions = 3),
        (Limit::Deadline, &|budget| budget.deadline_ms = 2000),
    ];
    for (limit, raise) in limits {
        let mut sketch = Sketch::within(|budget| *budget = more(&|_| {}).unwrap());
        sketch.turn(&["look"]);
        match limit {
            Limit::MaxSteps => sketch.ok(0).turn(&["look"]).fails(0, Code::InvalidArguments),
            Limit::MaxValidActions => sketch.ok(0).turn(&["look", "look"]).ok(0).refused_by(1, limit),
            _ => sketch.pass(1000).refused_by(0, limit),
        };
        let stop = Stop::LimitReached(limit);
        assert_eq!(sketch.next(), format!("stop: limit_reached {limit}"));
        sketch.stopped(stop).pass(5000);
        let step = sketch.state().turns().len();
        // The same limits again: it stops where it stood. Two turns are the steps, so that one needs no more turns.
        let same = sketch.clone().resumed(more(&|_| {})).next();
        assert_eq!(same, format!("stop: limit_reached {limit}"));
        let mut raised = sketch.clone();
        raised.resumed(more(&|budget| {
            budget.max_steps = 3;
            raise(budget);
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

#[test]
fn the_effect_of_an_unknown_outcome_is_unknown_even_for_a_read() {
    let mut sketch = Sketch::new();
    sketch.turn(&["look"]).fails(0, Code::OutcomeUnknown);
    assert_eq!(sketch.state().turns()[0].calls[0].settled.as_ref().unwrap().effect_state, EffectState::Unknown);
    assert_eq!(sketch.next(), "stop: needs_reconciliation unknown_effect 0");
}
