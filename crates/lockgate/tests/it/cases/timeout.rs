//! A call that takes too long ends by the clock, and nobody claims to know what it did.

use std::time::Duration;

use lockgate::contract::effect::{EffectState, OnUnknown, Permission};

use super::file::proposed;
use crate::world::{Act, World, at_once, echo, in_time};
use lockgate::prelude::*;

fn slow(effect: Effect) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("slow").effect(effect).permission(Permission::Allow);
    tool.input_schema_text(r#"{"type":"object"}"#)
}

fn sleeps(span: Duration) -> Act {
    in_time(move |_, _| async move {
        tokio::time::sleep(span).await;
        Ok(Output::of("late"))
    })
}

/// The time of a tool, the gate's, what the handler takes, and how a read and a write end.
const TIMES: &[(Option<u64>, u64, u64, &str)] = &[
    (None, 500, 499, "ok"),
    (None, 500, 501, "timed_out"),
    (Some(100), 500, 99, "ok"),
    (Some(100), 500, 101, "timed_out"),
    (Some(900), 500, 800, "ok"),
    (Some(900), 500, 901, "timed_out"),
    (None, 0, 1, "timed_out"),
    // What is there at once is there.
    (None, 0, 0, "ok"),
];

#[tokio::test(start_paused = true)]
async fn the_tools_own_time_or_the_gates() {
    for (own, gates, takes, code) in TIMES {
        for effect in [Effect::Read, Effect::Write, Effect::External] {
            let mut world = World::in_memory();
            world.options.call_timeout = Duration::from_millis(*gates);
            world.on_unknown = OnUnknown::TellModel;
            let mut tool = slow(effect);
            if let Some(own) = own {
                tool = tool.timeout(Duration::from_millis(*own));
            }
            let act =
                if *takes == 0 { at_once(|_| Ok(Output::of("late"))) } else { sleeps(Duration::from_millis(*takes)) };
            world.add(tool, act);
            let ran = world.run(vec![proposed("c", "slow", "{}")]).await;
            assert_eq!(ran.codes(), [*code], "{own:?} {gates} {takes} {effect}");
            let settled = ran.settled(0);
            let known = match (*code, effect) {
                ("ok", _) => EffectState::Done,
                (_, Effect::Read) => EffectState::None,
                _ => EffectState::Unknown,
            };
            assert_eq!(settled.effect_state, known); // S-26
            assert_eq!(settled.retryable, *code == "timed_out" && effect == Effect::Read);
            assert_eq!(world.entered().len(), 1, "and nothing is tried again"); // R-077
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_effect_stops_the_run() {
    for (effect, status) in [(Effect::Read, "completed"), (Effect::Write, "needs_reconciliation")] {
        let world = World::in_memory();
        world.add(slow(effect).timeout(Duration::from_millis(10)), in_time(|_, _| std::future::pending()));
        world.add(ToolSpec::builder("next").effect(Effect::Write).permission(Permission::Allow), echo());
        let ran = world.run(vec![proposed("a", "slow", "{}"), proposed("b", "next", "{}")]).await;
        let next = if effect == Effect::Read { "ok" } else { "blocked" };
        assert_eq!(ran.codes(), ["timed_out", next]);
        assert_eq!(ran.stop().0, status);
    }
}

#[tokio::test(start_paused = true)]
async fn one_slow_read_does_not_hold_up_its_siblings() {
    let world = World::in_memory();
    world.add(slow(Effect::Read).timeout(Duration::from_millis(50)), in_time(|_, _| std::future::pending()));
    world.add(ToolSpec::builder("quick").effect(Effect::Read), sleeps(Duration::from_millis(5)));
    let calls = ["quick", "slow", "quick", "slow"].map(|name| proposed("c", name, "{}"));
    let began = tokio::time::Instant::now();
    let ran = world.run(calls.to_vec()).await;
    assert_eq!(ran.codes(), ["ok", "timed_out", "ok", "timed_out"]);
    assert!(began.elapsed() < Duration::from_millis(100));
}

/// No call outlives its run's time.
#[tokio::test(start_paused = true)]
async fn the_runs_time_bounds_a_call() {
    let mut world = World::in_memory();
    world.budget.deadline_ms = 100;
    let clock = Arc::clone(&world.clock);
    let act = in_time(move |_, context: ToolContext| {
        let clock = Arc::clone(&clock);
        async move {
            let left = context.deadline.since(lockgate::contract::ports::Clock::now(&*clock));
            assert_eq!(left, Duration::from_millis(100));
            clock.forward(left);
            std::future::pending().await
        }
    });
    world.add(slow(Effect::Read).timeout(Duration::from_mins(1)), act);
    let began = tokio::time::Instant::now();
    let ran = world.run(vec![proposed("c", "slow", "{}")]).await;
    assert_eq!(ran.codes(), ["timed_out"]);
    assert_eq!(ran.stop(), ("limit_reached", "deadline"));
    assert!(began.elapsed() <= Duration::from_millis(102), "{:?}", began.elapsed());
}

/// A handler that blocks its thread is left behind; it is told that nobody waits.
#[tokio::test]
async fn a_blocking_handler_is_left_behind() {
    let world = World::in_memory();
    let (told, seen) = std::sync::mpsc::channel();
    let handler = world.handler(in_time(move |_, context: ToolContext| {
        let told = told.clone();
        async move {
            while !context.cancel.is_cancelled() {
                std::thread::yield_now();
            }
            let _ = told.send(());
            Ok(Output::of("late"))
        }
    }));
    let spec = slow(Effect::Read).timeout(Duration::from_millis(20)).handler(handler.blocking()).build().unwrap();
    world.registry.register(spec).unwrap();
    let ran = world.run(vec![proposed("c", "slow", "{}")]).await;
    assert_eq!(ran.codes(), ["timed_out"]);
    seen.recv_timeout(Duration::from_secs(10)).unwrap();
}
