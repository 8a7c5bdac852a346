//! Several calls of one turn: each has its own result, in request order (R-218…R-220).

use std::sync::Mutex;
use std::time::Duration;

use lockgate::contract::effect::{OnDuplicate, OnUnknown, Permission};
use lockgate::contract::event::EventType;
use lockgate::contract::ports::ProposedCall;

use super::file::{Case, proposed};
use crate::world::{Act, Ran, Turn, World, at_once, echo, in_time};
use lockgate::prelude::*;

/// A tool that ends as its arguments say.
fn as_told() -> Act {
    at_once(|arguments| {
        let how = arguments.root().get("how").unwrap().as_str().unwrap().into_owned();
        match how.split_once(':').unwrap_or((&how, "")) {
            ("ok", value) => Ok(Output::of(value)),
            ("raises", _) => Err(Failure::bug("the text of a bug")),
            ("panics", _) => panic!("the text of a panic"),
            ("fails", code) => Err(ToolExecutionError::new(code.to_owned(), "in words").into()),
            ("environment", _) => Err(ToolEnvironmentError::new("down").into()),
            ("lost", _) => Err(Failure::OutcomeUnknown { message: "the connection was lost".to_owned() }),
            (other, _) => panic!("no such end: {other}"),
        }
    })
}

fn ends(hows: &[&str]) -> Vec<ProposedCall> {
    let call = |how: &&str| proposed("c", "act", &format!(r#"{{"how":"{how}"}}"#));
    hows.iter().map(call).collect()
}

fn acting_world(effect: Effect) -> World {
    let world = World::in_memory();
    let tool = ToolSpec::builder("act").effect(effect).permission(Permission::Allow);
    world.add(tool.input_schema_text(r#"{"type":"object"}"#), as_told());
    world
}

pub(super) async fn one_fails(case: Case) {
    let hows = case.texts("/input/calls");
    let hows: Vec<&str> = hows.iter().map(String::as_str).collect();
    for parallel_reads in [1, 2, 8] {
        let mut world = acting_world(Effect::Read);
        world.runner.parallel_reads = parallel_reads;
        let ran = world.run(ends(&hows)).await;
        assert_eq!(ran.codes(), ["ok", "tool_internal_error", "ok"]);
        assert_eq!((ran.told(0).as_str(), ran.told(2).as_str()), ("\"a\"", "\"b\"")); // R-219
        assert_eq!(world.entered().len(), 3);
        assert_eq!(ran.stop(), ("completed", "final_answer"));
    }
}

/// How the calls of a turn end by themselves, with an effect, and what each has in the end.
const TURNS: &[(Effect, &[&str], &[&str], &str)] = &[
    (Effect::Read, &["panics", "ok:a"], &["tool_internal_error", "ok"], "completed"),
    (Effect::Read, &["environment", "ok:a", "fails:nope"], &["environment_error", "ok", "nope"], "completed"),
    (Effect::Read, &["lost", "ok:a"], &["outcome_unknown", "blocked"], "needs_reconciliation"),
    // A failure with a code of its own says that nothing happened: the next one goes on.
    (Effect::Write, &["fails:nope", "ok:a"], &["nope", "ok"], "completed"),
    // After an unknown effect nothing else of the turn starts, and nothing is without a result.
    (
        Effect::Write,
        &["ok:a", "raises", "ok:b", "ok:c"],
        &["ok", "tool_internal_error", "blocked", "blocked"],
        "needs_reconciliation",
    ),
    (Effect::Write, &["panics", "ok:b"], &["tool_internal_error", "blocked"], "needs_reconciliation"),
    (Effect::External, &["environment", "ok:b"], &["environment_error", "blocked"], "needs_reconciliation"),
];

#[tokio::test]
async fn one_end_does_not_take_its_siblings_along() {
    for (effect, hows, codes, status) in TURNS {
        for parallel_reads in [1, 8] {
            let mut world = acting_world(*effect);
            world.runner.parallel_reads = parallel_reads;
            let ran = world.run(ends(hows)).await;
            if parallel_reads == 1 || *effect != Effect::Read {
                assert_eq!(ran.codes(), *codes, "{hows:?}");
            }
            assert_eq!(ran.codes().len(), hows.len(), "{hows:?}");
            assert_eq!(ran.stop().0, *status, "{hows:?}");
            assert!(!ran.result.calls.iter().any(|call| call.status.is_none()), "{hows:?}");
        }
    }
}

#[tokio::test]
async fn the_model_may_be_told_of_an_unknown_effect() {
    let mut world = acting_world(Effect::Write);
    world.on_unknown = OnUnknown::TellModel;
    let ran = world.run(ends(&["lost", "ok:b"])).await;
    assert_eq!(ran.codes(), ["outcome_unknown", "blocked"]);
    assert_eq!(world.entered().len(), 1);
    assert_eq!(ran.stop(), ("completed", "final_answer"));
}

#[tokio::test(start_paused = true)]
async fn results_stand_in_request_order_whatever_ends_first() {
    let finished = Arc::new(Mutex::new(Vec::new()));
    let world = World::in_memory();
    let order = Arc::clone(&finished);
    let act = in_time(move |arguments, _| {
        let order = Arc::clone(&order);
        async move {
            let wait: u64 = arguments.root().get("wait").unwrap().decode()?;
            tokio::time::sleep(Duration::from_millis(wait)).await;
            order.lock().unwrap().push(wait);
            Ok(Output::of(&wait))
        }
    });
    world.add(ToolSpec::builder("wait").effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#), act);
    let waits = [50, 10, 40, 20, 30];
    let calls = waits.iter().map(|wait| proposed("same", "wait", &format!(r#"{{"wait":{wait}}}"#))).collect();
    let ran = world.run(calls).await;
    assert_eq!(*finished.lock().unwrap(), [10, 20, 30, 40, 50]); // R-220
    for (index, wait) in waits.iter().enumerate() {
        assert_eq!(ran.told(index), wait.to_string()); // R-219
    }
    let requested = ran.events_of(&EventType::ToolFinished);
    assert_eq!(requested.len(), 5);
}

/// How the second of two identical writes of one turn ends under each rule, how often the handler was entered, and what
/// the journal says about it.
const RULES: &[(OnDuplicate, &str, usize, Option<&str>)] = &[
    (OnDuplicate::RunEach, "ok", 2, None),
    (OnDuplicate::ShareResult, "ok", 1, Some("share_result")),
    (OnDuplicate::Reject, "duplicate_call", 1, Some("reject")),
];

pub(super) async fn identical_writes(case: Case) {
    for (rule, code, entered, why) in RULES {
        for mut world in World::of_each_kind() {
            world.budget.max_valid_actions = 2;
            world.add(case.tool().permission(Permission::Allow).on_duplicate(*rule), echo());
            let ran = world.run(case.calls()).await;
            assert_eq!(ran.codes(), ["ok", code], "{rule}");
            assert_eq!(world.entered().len(), *entered, "{rule}");
            check_shared(&ran, *rule);
            if let Some(why) = why {
                assert!(ran.audit(1).contains(why), "{rule}: {}", ran.audit(1));
                assert!(ran.audit(1).contains(ran.result.calls[0].call_id.as_str()), "and names the first call");
            }
        }
    }
}

/// A shared result says that it is one: never a bare success (S-31).
fn check_shared(ran: &Ran, rule: OnDuplicate) {
    let shares = rule == OnDuplicate::ShareResult;
    assert_eq!(ran.result.calls[1].deduplicated, shares);
    if shares {
        assert_eq!(ran.told(0), ran.told(1));
        assert_eq!(ran.result.valid_actions, 1, "what did not run is no action");
    }
}

/// The second call's arguments, and whether it is the same as `{"to":"bob","amount":5}`.
const TWINS: &[(&str, bool)] = &[
    (r#"{"to":"bob","amount":5}"#, true),
    (r#"{ "amount" : 5, "to" : "bob" }"#, true),
    (r#"{"to":"\u0062ob","amount":5.0}"#, true),
    (r#"{"to":"bob","amount":5e0}"#, true),
    (r#"{"to":"bob","amount":6}"#, false),
    (r#"{"to":"Bob","amount":5}"#, false),
    (r#"{"to":"bob ","amount":5}"#, false),
    (r#"{"to":"bob","amount":5,"memo":""}"#, false),
];

#[tokio::test]
async fn identical_means_the_same_value() {
    let case = Case::named("dup-identical-writes");
    for (second, same) in TWINS {
        let world = World::in_memory();
        world.add(case.tool().permission(Permission::Allow).on_duplicate(OnDuplicate::Reject), echo());
        let mut calls = case.calls();
        (*second).clone_into(&mut calls[1].arguments_text);
        let ran = world.run(calls).await;
        assert_eq!(ran.codes()[1], if *same { "duplicate_call" } else { "ok" }, "{second}");
    }
    // The rule is about one turn, and about writes.
    for (effect, rule) in [(Effect::Write, OnDuplicate::Reject), (Effect::Read, OnDuplicate::Reject)] {
        let world = World::in_memory();
        world.add(case.tool().effect(effect).permission(Permission::Allow).on_duplicate(rule), echo());
        let calls = case.calls();
        let turns = if effect == Effect::Read {
            vec![Turn::Calls(calls)]
        } else {
            calls.into_iter().map(|call| Turn::Calls(vec![call])).collect()
        };
        assert_eq!(world.run_turns(turns).await.codes(), ["ok", "ok"]);
        assert_eq!(world.entered().len(), 2);
    }
    // A first call that was refused has had no effect: the second is not its duplicate.
    let world = World::in_memory();
    let tool = case.tool().permission(Permission::Allow).on_duplicate(OnDuplicate::ShareResult);
    world.add(tool.pre_check(|_| Err("not today".to_owned())), echo());
    assert_eq!(world.run(case.calls()).await.codes(), ["rejected_by_tool", "rejected_by_tool"]);
    // The first failed with a code of its own: that result is shared too, and the handler is not entered again.
    let world = World::in_memory();
    let fails = at_once(|_| Err(ToolExecutionError::new("no_funds", "not enough").into()));
    world.add(case.tool().permission(Permission::Allow).on_duplicate(OnDuplicate::ShareResult), fails);
    let ran = world.run(case.calls()).await;
    assert_eq!(ran.codes(), ["no_funds", "no_funds"]);
    assert_eq!(world.entered().len(), 1);
}
