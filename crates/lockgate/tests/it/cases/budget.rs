//! A limit is looked at before a call, never behind a batch (R-119…R-122).

use std::time::Duration;

use lockgate::contract::effect::Permission;
use lockgate::contract::ports::{ModelError, ProposedCall};
use lockgate::harness::Resume;

use super::file::{Case, proposed};
use crate::world::{Turn, World, at_once, code_of, echo};
use lockgate::prelude::*;

fn notes(count: usize) -> Vec<ProposedCall> {
    (0..count).map(|n| proposed(&format!("c{n}"), "note", &format!(r#"{{"n":{n}}}"#))).collect()
}

fn note(effect: Effect) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("note").effect(effect).permission(Permission::Allow);
    tool.input_schema_text(r#"{"type":"object"}"#)
}

pub(super) async fn no_overshoot(case: Case) {
    let (most, batch): (u32, usize) = (case.number("/input/max_tool_calls"), case.number("/input/batch"));
    let run = usize::try_from(most).unwrap();
    for effect in [Effect::Read, Effect::Write, Effect::External] {
        for parallel_reads in [1, 4, 6, 8, 100] {
            let mut world = World::in_memory();
            world.budget.max_valid_actions = most;
            world.runner.parallel_reads = parallel_reads;
            world.add(note(effect), echo());
            let ran = world.run(notes(batch)).await;
            let mut expected = vec!["ok"; run];
            expected.resize(batch, "limit_reached(max_valid_actions)");
            assert_eq!(ran.codes(), expected, "{effect} {parallel_reads}");
            let texts: Vec<_> = notes(run).into_iter().map(|call| call.arguments_text).collect();
            let mut entered = world.entered();
            entered.sort();
            assert_eq!(entered, texts);
            assert_eq!((ran.result.valid_actions, ran.result.steps), (most, 1));
            assert_eq!(ran.stop(), ("limit_reached", "max_valid_actions"));
        }
    }
}

/// How a budget differs from the default.
type Change = fn(&mut Budget);

/// The words of a stop.
type Stop = (&'static str, &'static str);

/// What a model does with its turns under a budget, how often the handler is entered, and how the run stops.
#[tokio::test]
async fn limits_of_nothing_and_of_one() {
    let rows: &[(&str, Change, usize, u32, Stop)] = &[
        ("no steps", |budget| budget.max_steps = 0, 0, 0, ("limit_reached", "max_steps")),
        ("one step", |budget| budget.max_steps = 1, 2, 1, ("limit_reached", "max_steps")),
        ("no action", |budget| budget.max_valid_actions = 0, 0, 1, ("limit_reached", "max_valid_actions")),
        ("one action", |budget| budget.max_valid_actions = 1, 1, 1, ("limit_reached", "max_valid_actions")),
        ("no calls a turn", |budget| budget.max_calls_per_turn = 0, 0, 3, ("completed", "final_answer")),
        ("one call a turn", |budget| budget.max_calls_per_turn = 1, 2, 3, ("completed", "final_answer")),
        ("no time", |budget| budget.deadline_ms = 0, 0, 0, ("limit_reached", "deadline")),
        ("all of it", |_| {}, 4, 3, ("completed", "final_answer")),
        (
            "all there is",
            |budget| {
                (budget.max_steps, budget.max_valid_actions) = (u32::MAX, u32::MAX);
                (budget.max_calls_per_turn, budget.deadline_ms) = (u32::MAX, u64::MAX);
            },
            4,
            3,
            ("completed", "final_answer"),
        ),
    ];
    for effect in [Effect::Read, Effect::Write] {
        for (what, change, entered, steps, stop) in rows {
            for mut world in World::of_each_kind() {
                change(&mut world.budget);
                world.add(note(effect), echo());
                let turns = vec![Turn::Calls(notes(2)), Turn::Calls(notes(2))];
                let ran = world.run_turns(turns).await;
                assert_eq!(world.entered().len(), *entered, "{what}");
                assert_eq!(ran.result.steps, *steps, "{what}");
                assert_eq!(ran.stop(), *stop, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn what_was_not_executed_costs_a_step_and_no_action() {
    let mut world = World::in_memory();
    world.budget.max_valid_actions = 1;
    world.add(note(Effect::Read), echo());
    let refused = [proposed("a", "absent", "{}"), proposed("b", "note", "[]"), proposed("c", "note", "{")];
    let calls = refused.into_iter().chain(notes(2)).collect();
    let ran = world.run(calls).await;
    assert_eq!(
        ran.codes(),
        [
            "unknown_tool",
            "invalid_arguments(not_an_object)",
            "invalid_arguments(not_json)",
            "ok",
            "limit_reached(max_valid_actions)"
        ]
    );
    assert_eq!(ran.result.valid_actions, 1); // R-119
    // A run of only invalid calls ends by its steps.
    let mut world = World::in_memory();
    world.budget.max_steps = 3;
    let turns = (0..10).map(|_| Turn::Calls(vec![proposed("a", "absent", "{}")])).collect();
    let ran = world.run_turns(turns).await;
    assert_eq!(ran.stop(), ("limit_reached", "max_steps")); // R-121
    assert_eq!((ran.result.steps, ran.result.valid_actions), (3, 0));
    // A failing handler is an action each time.
    let mut world = World::in_memory();
    world.budget.max_valid_actions = 2;
    world.add(note(Effect::Read), at_once(|_| Err(Failure::bug("broken"))));
    let ran = world.run(notes(4)).await;
    assert_eq!((world.entered().len(), ran.result.valid_actions), (2, 2)); // R-108, R-120
}

/// Nobody is asked for a call that a limit refuses (C-15), and a refused call is a call with a result.
#[tokio::test]
async fn a_limit_comes_before_a_question() {
    let mut world = World::in_memory();
    world.budget.max_valid_actions = 0;
    world.add(note(Effect::Write).permission(Permission::Ask), echo());
    let ran = world.run(notes(2)).await;
    assert_eq!(ran.codes(), ["limit_reached(max_valid_actions)"; 2]);
    assert!(world.questions(ran.run_id()).await.is_empty());
    // The arguments come before the limit.
    let ran = world.run(vec![proposed("a", "note", "[]")]).await;
    assert_eq!(ran.codes(), ["invalid_arguments(not_an_object)"]); // R-061
}

#[tokio::test]
async fn a_larger_budget_lets_a_run_go_on() {
    for mut world in World::of_each_kind() {
        world.budget.max_steps = 1;
        world.add(note(Effect::Write), echo());
        let ran = world.run(notes(1)).await;
        assert_eq!(ran.stop(), ("limit_reached", "max_steps")); // R-205
        // The same again changes nothing; more steps do, and nothing is done twice.
        let same = world.restarted().resume(ran.run_id()).await;
        assert_eq!(same.state.last_seq(), ran.state.last_seq());
        let resume = Resume { budget: Some(Budget::default()) };
        let state = world.restarted().runner(Vec::new()).resume(ran.run_id(), resume).await.unwrap();
        assert_eq!(RunResult::of(&state).status.unwrap().word(), "completed");
        assert_eq!(world.entered().len(), 1);
    }
}

#[tokio::test]
async fn time_runs_out_between_calls() {
    for mut world in World::of_each_kind() {
        world.budget.deadline_ms = 1000;
        let clock = Arc::clone(&world.clock);
        world.add(
            note(Effect::Write),
            at_once(move |arguments| {
                clock.forward(Duration::from_millis(600));
                Ok(Output::new(arguments.document().clone()))
            }),
        );
        let ran = world.run(notes(4)).await;
        assert_eq!(ran.codes(), ["ok", "ok", "limit_reached(deadline)", "limit_reached(deadline)"]);
        assert_eq!(ran.stop(), ("limit_reached", "deadline"));
        assert_eq!(world.entered().len(), 2);
    }
}

#[tokio::test]
async fn a_direct_call_has_the_same_checks_without_a_budget_of_turns() {
    let world = World::in_memory();
    world.add(note(Effect::Read), echo());
    assert_eq!(code_of(&world.direct("note", "{}").await), "ok");
    assert_eq!(code_of(&world.direct("note", "").await), "ok");
    assert_eq!(code_of(&world.direct("note", "[]").await), "invalid_arguments(not_an_object)");
    assert_eq!(code_of(&world.direct("Note", "{}").await), "unknown_tool");
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_its_reason() {
    let world = World::in_memory();
    world.add(note(Effect::Read), echo());
    let failure = ModelError::Overloaded { detail: "busy".to_owned(), retry_after: None };
    let ran = world.run_turns(vec![Turn::Calls(notes(1)), Turn::Fails(failure)]).await;
    assert_eq!(ran.stop(), ("failed", "model_overloaded"));
    assert_eq!((ran.result.steps, world.requests().len()), (2, 2), "nobody asks again by himself"); // R-077
}
