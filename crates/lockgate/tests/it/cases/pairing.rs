//! Every call has its one result, also when the process died in between; what finished is not done again.

use lockgate::contract::effect::{Idempotency, OnUnknown, Permission};
use lockgate::contract::event::{Event, EventType};

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{Ran, World, at_once, echo, in_time};
use lockgate::prelude::*;

/// The two calls of a turn, in the file's words.
fn two_calls() -> Vec<lockgate::contract::ports::ProposedCall> {
    vec![proposed("c1", "act", r#"{"n":1}"#), proposed("c2", "act", r#"{"n":2}"#)]
}

fn acting(effect: Effect) -> lockgate::ToolSpecBuilder {
    let tool = ToolSpec::builder("act").effect(effect).permission(Permission::Allow);
    tool.input_schema_text(r#"{"type":"object"}"#)
}

/// The type and the place of the call in `tool.started c2 (effect write, replay never)`.
fn event_of(line: &str) -> Option<(String, usize)> {
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    let call = words.next()?.strip_prefix('c')?.parse::<usize>().ok()?;
    kind.starts_with("tool.").then(|| (kind.to_owned(), call - 1))
}

fn is_event(event: &Event, kind: &str, call: usize) -> bool {
    event.kind.word() == kind
        && event.call_id.as_ref().is_some_and(|id| id.as_str().ends_with(&format!(":call-{call}")))
}

/// A run of the two calls that was killed behind the last event of the line's journal, in the world that finds it.
async fn killed(case: &Case, effect: Effect, on_unknown: OnUnknown) -> (World, Ran) {
    let lines = case.texts("/input/journal");
    let (kind, call) = lines.iter().rev().find_map(|line| event_of(line)).unwrap();
    let mut world = World::on_disk();
    world.on_unknown = on_unknown;
    world.add(acting(effect), echo());
    world.killed_behind(move |event| is_event(event, &kind, call));
    let ran = world.run(two_calls()).await;
    let world = world.after_the_kill();
    // What is left is what the line says was there, in that order, and nothing behind it.
    let stored = world.journal.events(ran.run_id(), 0).await.unwrap();
    let mut stored = stored.iter().filter(|event| event.call_id.is_some());
    for (kind, call) in lines.iter().filter_map(|line| event_of(line)) {
        assert!(stored.any(|event| is_event(event, &kind, call)), "{kind} {call}");
    }
    assert!(stored.next().is_none());
    (world, ran)
}

pub(super) async fn dangling(case: Case) {
    assert!(case.texts("/input/journal").iter().any(|line| line.contains("effect write, replay never")));
    let (world, killed_run) = killed(&case, Effect::Write, OnUnknown::Stop).await;
    let ran = world.resume(killed_run.run_id()).await;
    assert_eq!(ran.codes(), ["ok", "outcome_unknown"]); // R-126, R-128
    assert_eq!(ran.stop(), ("needs_reconciliation", "unknown_effect"));
    assert!(world.entered().is_empty(), "nothing is run again");
    let again = world.restarted().resume(killed_run.run_id()).await;
    assert_eq!(again.state.last_seq(), ran.state.last_seq(), "and it stays so");

    // Told of it, the model goes on, with one result for each call, and the same bytes each time.
    let mut requests = Vec::new();
    for _ in 0..2 {
        let (mut world, killed_run) = killed(&case, Effect::Write, OnUnknown::TellModel).await;
        let wire = Wire::start(vec![Box::new(|_| super::wire::done())]);
        world.model = Some(wire.model());
        let ran = world.resume(killed_run.run_id()).await;
        assert_eq!(ran.codes(), ["ok", "outcome_unknown"]);
        assert_eq!(ran.stop(), ("completed", "final_answer"));
        assert!(world.entered().is_empty());
        wire.last_request();
        let told = ran.told(1);
        assert!(told.contains("outcome_unknown") && told.contains("Check before repeating"), "{told}");
        let bytes = wire.bodies().remove(0);
        let again = world.restarted().resume(killed_run.run_id()).await;
        assert_eq!(format!("{:?}", again.state.messages()), format!("{:?}", ran.state.messages()));
        requests.push(bytes);
    }
    assert_eq!(requests[0], requests[1]); // R-111

    // Without the intent, the call is simply gated and run.
    for kind in ["tool.finished", "model.responded"] {
        let mut world = World::on_disk();
        world.add(acting(Effect::Write), echo());
        world.killed_behind(move |event| event.kind.word() == kind);
        let first = world.run(two_calls()).await;
        let world = world.after_the_kill();
        let ran = world.resume(first.run_id()).await;
        assert_eq!(ran.codes(), ["ok", "ok"], "{kind}");
        let expected: &[&str] = if kind == "tool.finished" { &[r#"{"n":2}"#] } else { &[r#"{"n":1}"#, r#"{"n":2}"#] };
        assert_eq!(world.entered(), expected, "{kind}");
        assert_eq!(ran.stop(), ("completed", "final_answer"));
    }
}

pub(super) async fn finished_is_not_lost(case: Case) {
    let lines = case.texts("/input/journal");
    let (kind, call) = lines.iter().rev().find_map(|line| event_of(line)).unwrap();
    let mut world = World::on_disk();
    world.add(acting(Effect::Write), echo());
    let last = kind.clone();
    world.killed_behind(move |event| is_event(event, &last, call));
    let first = world.run(two_calls()[..=call].to_vec()).await;
    let before = world.requests();
    let world = world.after_the_kill();
    assert_eq!(world.journal.events(first.run_id(), 0).await.unwrap().last().unwrap().kind.word(), kind);
    let ran = world.resume(first.run_id()).await;
    assert_eq!(ran.codes(), ["ok"]);
    assert!(world.entered().is_empty(), "not run again");
    assert_eq!(ran.told(0), r#"{"n":1}"#);
    // The next request is the one that the killed process would have sent, byte for byte.
    let after = world.requests();
    let (expected, sent) = (&before[1], after.last().unwrap());
    assert_eq!(format!("{:?}", sent.messages), format!("{:?}", expected.messages)); // R-111
    assert_eq!(ran.stop(), ("completed", "final_answer"));
}

/// Where a run of two calls is killed, what the tool is, and how the second process ends the calls; then what it runs.
struct Kill {
    behind: (&'static str, usize),
    tool: fn() -> lockgate::ToolSpecBuilder,
    codes: [&'static str; 2],
    runs: &'static [&'static str],
}

#[tokio::test]
async fn a_kill_anywhere_leaves_one_result_a_call() {
    let read = || acting(Effect::Read);
    let write = || acting(Effect::Write);
    let declared = || acting(Effect::Write).idempotency(Idempotency::Declared);
    let kills = [
        Kill { behind: ("tool.requested", 0), tool: write, codes: ["outcome_unknown", "blocked"], runs: &[] },
        Kill { behind: ("tool.started", 0), tool: write, codes: ["outcome_unknown", "blocked"], runs: &[] },
        Kill { behind: ("tool.finished", 0), tool: write, codes: ["ok", "ok"], runs: &[r#"{"n":2}"#] },
        Kill { behind: ("tool.started", 1), tool: write, codes: ["ok", "outcome_unknown"], runs: &[] },
        Kill { behind: ("tool.finished", 1), tool: write, codes: ["ok", "ok"], runs: &[] },
        // What may be repeated is repeated; a read's intent rides with its result.
        Kill { behind: ("tool.started", 0), tool: declared, codes: ["ok", "ok"], runs: &[r#"{"n":1}"#, r#"{"n":2}"#] },
        Kill { behind: ("tool.started", 1), tool: declared, codes: ["ok", "ok"], runs: &[r#"{"n":2}"#] },
        Kill { behind: ("tool.finished", 1), tool: read, codes: ["ok", "ok"], runs: &[] },
    ];
    for kill in kills {
        let (kind, call) = kill.behind;
        let mut world = World::on_disk();
        world.add((kill.tool)(), echo());
        world.runner.parallel_reads = 1;
        world.killed_behind(move |event| is_event(event, kind, call));
        let first = world.run(two_calls()).await;
        let keys = world.keys();
        let world = world.after_the_kill();
        let ran = world.resume(first.run_id()).await;
        assert_eq!(ran.codes(), kill.codes, "{kind} {call}");
        assert_eq!(world.entered(), kill.runs, "{kind} {call}");
        // A second attempt of a call has the key of the first (C-16).
        for (n, key) in (1..).zip(&keys) {
            let text = format!(r#"{{"n":{n}}}"#);
            if let Some(place) = world.entered().iter().position(|entered| *entered == text) {
                assert_eq!(world.keys()[place], *key, "{kind} {call}");
            }
        }
        let third = world.restarted().resume(first.run_id()).await;
        assert_eq!(format!("{:?}", third.state.messages()), format!("{:?}", ran.state.messages()));
    }
}

/// Killed again while it recovers: the end is the same.
#[tokio::test]
async fn a_second_kill_changes_nothing() {
    for kind in ["run.resumed", "tool.failed"] {
        let mut world = World::on_disk();
        world.on_unknown = OnUnknown::TellModel;
        world.add(acting(Effect::Write), echo());
        world.killed_behind(move |event| is_event(event, "tool.started", 1));
        let first = world.run(two_calls()).await;
        let mut world = world.after_the_kill();
        world.killed_behind(move |event| event.kind.word() == kind);
        let second = world.resume(first.run_id()).await;
        let world = world.after_the_kill();
        let third = world.resume(first.run_id()).await;
        assert_eq!(third.codes(), ["ok", "outcome_unknown"], "{kind}");
        assert_eq!(format!("{:?}", third.state.messages()), format!("{:?}", second.state.messages()), "{kind}");
        assert!(world.entered().is_empty());
        assert_eq!(third.events_of(&EventType::ToolFailed).len(), 1);
    }
}

/// Waiting, denied, refused, failed: each has its result right behind its message, through a restart.
#[tokio::test]
async fn a_turn_with_every_kind_of_end_is_paired() {
    use lockgate::contract::approval::ApprovalState;
    let world = World::on_disk();
    world.add(acting(Effect::Write), echo());
    world.add(ToolSpec::builder("ask").effect(Effect::Write), echo());
    world.add(ToolSpec::builder("deny").permission(Permission::Deny), echo());
    world.add(
        ToolSpec::builder("fail").effect(Effect::Read),
        at_once(|_| Err(ToolExecutionError::new("no", "no").into())),
    );
    let calls = ["absent", "act", "ask", "deny", "fail", "ask"].map(|name| proposed("", name, "{}"));
    let waiting = world.run(calls.to_vec()).await;
    assert_eq!(waiting.stop().0, "waiting_for_approval");
    let questions = world.questions(waiting.run_id()).await;
    world.answer(&questions[0], ApprovalState::Denied).await.unwrap();
    world.answer(&questions[1], ApprovalState::Granted).await.unwrap();
    let mut world = world.restarted();
    let wire = Wire::start(vec![Box::new(|_| super::wire::done())]);
    world.model = Some(wire.model());
    let ran = world.resume(waiting.run_id()).await;
    assert_eq!(ran.codes(), ["unknown_tool", "ok", "approval_denied", "policy_denied", "no", "ok"]);
    wire.last_request();
}

/// Dropped from outside, a call still leaves its one ending (architecture rule 4).
#[tokio::test]
async fn a_dropped_run_leaves_a_result() {
    for effect in [Effect::Read, Effect::Write] {
        let world = World::on_disk();
        let (entered, seen) = tokio::sync::oneshot::channel();
        let entered = std::sync::Mutex::new(Some(entered));
        world.add(
            acting(effect),
            in_time(move |_, _| {
                entered.lock().unwrap().take().unwrap().send(()).unwrap();
                std::future::pending()
            }),
        );
        let runner = world.runner(vec![crate::world::Turn::Calls(two_calls()[..1].to_vec())]);
        let run = world.agent_run();
        let driver = tokio::spawn(async move { runner.start(run).await });
        seen.await.unwrap();
        driver.abort();
        driver.await.unwrap_err();
        let journal = &world.journal;
        let run = journal.runs(lockgate::contract::ports::RunFilter::default()).await.unwrap().remove(0).run_id;
        // The ending is written by a task of its own; each turn of the loop lets it go on.
        let ended = loop {
            let events = journal.events(&run, 0).await.unwrap();
            if let Some(ended) = events.iter().find(|event| event.kind == EventType::ToolFailed) {
                break ended.clone();
            }
            tokio::task::yield_now().await;
        };
        assert!(ended.data.text().contains(r#""code":"interrupted""#), "{}", ended.data);
        let ran = world.restarted().resume(&run).await;
        assert_eq!(ran.codes(), ["interrupted"]);
        let status = if effect == Effect::Read { "completed" } else { "needs_reconciliation" };
        assert_eq!(ran.stop().0, status);
    }
}
