//! What holds for every run and for any events.

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::{CATALOGUE, Event, EventType};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::run::Budget;
use lockgate_contract::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::bench::{ALLOWED, Bench, HIDDEN, Meddling, PYTHON, SECRET, START, Setup, TurnPlan, block_on};
use crate::check;

const WORDS: [&str; 14] = [
    "ok",
    "null",
    "done",
    "echo",
    "wrong",
    "fail",
    "fail_done",
    "fail_unknown",
    "environment",
    "environment_nothing",
    "lost",
    "bug",
    "panic",
    "slow",
];

fn tool_name() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => select(&ALLOWED[..]).prop_map(str::to_owned),
        6 => select(&["put", "share", "pay"][..]).prop_map(str::to_owned),
        1 => Just(HIDDEN.to_owned()),
        1 => Just("nowhere".to_owned()),
        1 => Just(format!("look-{SECRET}")),
        1 => Just(PYTHON.to_owned()),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => Just(r#"{"do":"ok"}"#.to_owned()),
        12 => select(&WORDS[..]).prop_map(|word| format!(r#"{{"do":"{word}"}}"#)),
        1 => Just(r#"{"do":"cancel"}"#.to_owned()),
        1 => Just("{".to_owned()),
        1 => Just(r#"{"do":1}"#.to_owned()),
        2 => Just(format!(r#"{{"do":"echo","key":"{SECRET}"}}"#)),
        1 => Just(r#"{ "do" : "ok", "amount": 9007199254740993.10 }"#.to_owned()),
    ]
}

fn turn() -> impl Strategy<Value = TurnPlan> {
    let text = proptest::option::of("[a-z]{1,8}");
    prop_oneof![
        30 => (text.clone(), proptest::collection::vec((tool_name(), arguments()), 1..5))
            .prop_map(|(text, calls)| TurnPlan::Answers(text, calls)),
        // The same call, again and again.
        6 => (text, tool_name(), arguments(), 2..4_usize)
            .prop_map(|(text, name, arguments, times)| TurnPlan::Answers(text, vec![(name, arguments); times])),
        2 => Just(TurnPlan::Answers(Some("done".to_owned()), Vec::new())),
        1 => Just(TurnPlan::Fails),
        1 => Just(TurnPlan::Hangs),
    ]
}

fn answer() -> impl Strategy<Value = ApprovalState> {
    prop_oneof![
        5 => Just(ApprovalState::Granted),
        1 => Just(ApprovalState::Denied),
        1 => Just(ApprovalState::Withdrawn),
    ]
}

fn meddling() -> impl Strategy<Value = Meddling> {
    prop_oneof![
        40 => Just(Meddling::None),
        6 => answer().prop_map(Meddling::Decide),
        2 => Just(Meddling::Mistake),
        2 => select(&[1_000_u64, 300_000, 700_000][..]).prop_map(Meddling::Pass),
        1 => Just(Meddling::Cancel),
        2 => Just(Meddling::Fail),
        2 => Just(Meddling::Kill),
        1 => Just(Meddling::Drop),
    ]
}

fn budget() -> impl Strategy<Value = Budget> {
    (1..6_u32, 1..8_u32, 1..5_u32, select(&[1_000_000_u64, 400_000, 100_000_000][..]), 0..3_u32, 0..3_u32).prop_map(
        |(max_steps, max_valid_actions, max_calls_per_turn, deadline_ms, max_environment_failures, max_retries)| {
            Budget {
                max_steps,
                max_valid_actions,
                max_calls_per_turn,
                deadline_ms,
                max_environment_failures,
                max_repeated_turns: 3,
                max_retries,
                max_questions: None,
            }
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    (
        proptest::collection::vec(turn(), 1..5),
        budget(),
        any::<bool>(),
        select(&[1_usize, 4][..]),
        proptest::bool::weighted(0.15),
        proptest::bool::weighted(0.2),
        proptest::collection::vec(meddling(), 0..40),
    )
        .prop_map(|(turns, budget, tell_model, parallel_reads, ask_always, own_executor, meddlings)| Setup {
            turns,
            budget,
            on_unknown: if tell_model { OnUnknown::TellModel } else { OnUnknown::Stop },
            parallel_reads,
            ask_always,
            own_executor,
            meddlings,
            ..Setup::default()
        })
}

/// Between two drivers: somebody decides, time passes, other limits are given.
fn resumes() -> impl Strategy<Value = Vec<(Option<ApprovalState>, u64, Option<Budget>)>> {
    let time = select(&[0_u64, 0, 0, 700_000][..]);
    proptest::collection::vec((proptest::option::weighted(0.8, answer()), time, proptest::option::of(budget())), 0..5)
}

fn assert_sound(events: &[Event]) -> Result<(), TestCaseError> {
    let defects = check::events(events);
    let shown: Vec<String> = events
        .iter()
        .map(|event| {
            let call = event.call_id.as_ref().map(CallId::as_str).unwrap_or_default();
            format!("{} {} {} {call} {}", event.seq, event.kind, event.step, event.data.text())
        })
        .collect();
    prop_assert!(defects.is_empty(), "{defects:#?}\n{}", shown.join("\n"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// R-214: a checker that cries wolf is not read any more.
    #[test]
    fn no_run_of_an_agent_has_a_defect(setup in setup(), resumes in resumes()) {
        let events = block_on(async {
            let bench = Bench::new(setup);
            bench.start().await;
            for (answer, millis, budget) in resumes {
                if let Some(answer) = answer {
                    bench.decide(answer).await;
                }
                bench.clock.pass(std::time::Duration::from_millis(millis));
                bench.resume(budget).await;
            }
            // A decision that comes when everything is over.
            bench.decide(ApprovalState::Granted).await;
            bench.events().await
        });
        assert_sound(&events)?;
    }

    #[test]
    fn no_direct_call_has_a_defect(
        setup in setup(),
        tool in tool_name(),
        arguments in arguments(),
        again in proptest::collection::vec((proptest::option::weighted(0.8, answer()), 0..4_u32), 0..4),
    ) {
        let events = block_on(async {
            let bench = Bench::new(setup);
            bench.call(&tool, &arguments, None).await;
            for (answer, how) in again {
                if let Some(answer) = answer {
                    bench.decide(answer).await;
                }
                let approval = bench.approvals().await.into_iter().next();
                match (how, approval) {
                    (0, _) => bench.resume(None).await,
                    (1, Some(approval)) => bench.call(&tool, r#"{"do":"other"}"#, Some(approval)).await,
                    (_, Some(approval)) => bench.call(&tool, &arguments, Some(approval)).await,
                    (_, None) => {}
                }
            }
            bench.events().await
        });
        assert_sound(&events)?;
    }

    /// Whatever is done to the events of a run, they are checked to their end.
    #[test]
    fn mangled_runs_do_no_harm(setup in setup(), manglings in proptest::collection::vec(mangling(), 1..8)) {
        let mut events = block_on(async {
            let bench = Bench::new(setup);
            bench.start().await;
            bench.decide(ApprovalState::Granted).await;
            bench.resume(None).await;
            bench.events().await
        });
        for (mangling, one, other) in manglings {
            mangle(&mut events, &mangling, one, other);
        }
        let defects = check::events(&events);
        prop_assert!(defects.iter().all(|defect| defect.seqs.is_sorted()));
        prop_assert!(defects.iter().all(|defect| !defect.text.is_empty()));
    }

    #[test]
    fn any_events_do_no_harm(events in proptest::collection::vec(any_event(), 0..40)) {
        let _ = check::events(&events);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let export = check::Export::read(&bytes);
        for run in export.runs {
            let _ = check::events(&run.events);
        }
    }
}

/// `PROPTEST_CASES` asks for more.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default)
}

#[derive(Debug, Clone)]
enum Mangling {
    Drop,
    Double,
    Swap,
    SwapBodies,
    Renumber(u64),
    Step(u32),
    Call(Option<String>),
    Type(String),
    /// The body without one member, or with another value there.
    Body(Option<String>),
}

fn mangling() -> impl Strategy<Value = (Mangling, Index, Index)> {
    let mangling = prop_oneof![
        Just(Mangling::Drop),
        Just(Mangling::Double),
        Just(Mangling::Swap),
        Just(Mangling::SwapBodies),
        any::<u64>().prop_map(Mangling::Renumber),
        any::<u32>().prop_map(Mangling::Step),
        proptest::option::of(call_id()).prop_map(Mangling::Call),
        kind().prop_map(Mangling::Type),
        proptest::option::of(value()).prop_map(Mangling::Body),
    ];
    (mangling, any::<Index>(), any::<Index>())
}

fn mangle(events: &mut Vec<Event>, mangling: &Mangling, one: Index, other: Index) {
    if events.is_empty() {
        return;
    }
    let (at, to) = (one.index(events.len()), other.index(events.len()));
    match mangling {
        Mangling::Drop => drop(events.remove(at)),
        Mangling::Double => events.insert(to, events[at].clone()),
        Mangling::Swap => events.swap(at, to),
        Mangling::SwapBodies => {
            let data = events[at].data.clone();
            events[at].data = std::mem::replace(&mut events[to].data, data);
        }
        Mangling::Renumber(seq) => events[at].seq = *seq,
        Mangling::Step(step) => events[at].step = *step,
        Mangling::Call(call_id) => events[at].call_id = call_id.as_deref().map(CallId::from),
        Mangling::Type(kind) => events[at].kind = EventType::from_word(kind),
        Mangling::Body(value) => {
            let serde_json::Value::Object(mut body) = events[at].data.to_json_value() else { return };
            let Some(key) = body.keys().nth(other.index(body.len().max(1))).cloned() else { return };
            match value {
                None => drop(body.remove(&key)),
                Some(value) => drop(body.insert(key, serde_json::from_str(value).unwrap())),
            }
            events[at].data = Document::from_json_value(&body.into()).into();
        }
    }
}

fn kind() -> impl Strategy<Value = String> {
    prop_oneof![
        select(CATALOGUE).prop_map(|(_, word, ..)| word.to_owned()),
        Just("call.reconciled".to_owned()),
        Just("note.taken".to_owned()),
    ]
}

fn call_id() -> impl Strategy<Value = String> {
    (0..3_u32, 0..3_u32, any::<bool>()).prop_map(|(step, index, inner)| {
        format!("run-0000000a11ce:step-{step}:call-{index}{}", if inner { ".0" } else { "" })
    })
}

fn value() -> impl Strategy<Value = String> {
    select(
        &["null", "0", "4294967295", "true", "\"look\"", "\"granted\"", "[]", "{}", "\"EXECUTED\"", "\"unknown\""][..],
    )
    .prop_map(str::to_owned)
}

fn any_event() -> impl Strategy<Value = Event> {
    let names = [
        "tool_name",
        "tool_version",
        "ok",
        "code",
        "status",
        "effect_state",
        "data",
        "message",
        "retryable",
        "audit",
        "calls",
        "text",
        "messages",
        "tools",
        "approval_id",
        "digest",
        "decision",
        "decided_by",
        "attempt",
        "effect",
        "reason",
        "detail",
        "limit",
        "approvals",
        "answer",
        "completed_by",
    ];
    let body = proptest::collection::btree_map(select(names.to_vec()), value(), 0..16).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        Document::parse(format!("{{{}}}", members.join(",")), Limits::OWN).unwrap()
    });
    let ids = (0..2_u64, prop_oneof![0..40_u64, any::<u64>()], proptest::option::of(call_id()));
    (ids, 0..3_u32, 0..3_u32, kind(), body).prop_map(|((run, seq, call_id), v, step, kind, data)| Event {
        v,
        run_id: RunId::from_random(run),
        seq,
        at: Timestamp::from_millis(START.as_millis()),
        kind: EventType::from_word(&kind),
        step,
        call_id: call_id.map(CallId::new),
        data: data.into(),
        hash: None,
    })
}
