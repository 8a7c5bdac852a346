//! Runs of chance: whatever the model asks for, whatever becomes of it, whatever people say and whenever the power fails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::EventType;
use lockgate_contract::ids::RunId;
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_harness::{RunResult, RunState};
use proptest::prelude::*;

use crate::bench::{Bench, OPEN_FOR, stop};
use crate::crashes::until_the_power_fails;
use crate::journals::{Fault, Faulty};
use crate::model::{Turn, calls, says};

#[derive(Debug, Clone)]
struct Script {
    turns: Vec<Vec<(&'static str, String)>>,
    budget: Budget,
    tell_model: bool,
    parallel_reads: usize,
    decisions: Vec<Answer>,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Grants,
    Denies,
    Withdraws,
    IsLate,
    SaysNothing,
}

fn arguments() -> impl Strategy<Value = String> {
    let what = prop_oneof![
        10 => Just("ok"),
        3 => Just("slow"),
        1 => prop::sample::select(vec![
            "business", "environment", "broken", "bug", "panic", "lost", "wrong", "hangs", "undone",
        ]),
    ];
    prop_oneof![
        9 => (what, 0..3u8).prop_map(|(what, n)| format!(r#"{{"do":"{what}","n":{n}}}"#)),
        1 => prop::sample::select(vec!["", "{", "[]", r#"{"do":5}"#, r#"{"do":"ok","do":"ok"}"#, r#"{"do":"ok","x":1}"#])
            .prop_map(str::to_owned),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    let tools = vec![
        "look", "look", "look", "peek", "stat", "ask", "note", "note", "put", "send", "pay", "pay", "ban", "nosuch",
    ];
    let tool = prop_oneof![20 => prop::sample::select(tools), 1 => Just("finish")];
    let turns = prop::collection::vec(prop::collection::vec((tool, arguments()), 1..6), 0..5);
    let budget = (1..7u32, 0..14u32, 1..7u32, 0..4u32).prop_map(|(steps, actions, calls, repeated)| Budget {
        max_steps: steps,
        max_valid_actions: actions,
        max_calls_per_turn: calls,
        max_repeated_turns: repeated,
        ..Budget::default()
    });
    let answer = prop_oneof![
        5 => Just(Answer::Grants),
        1 => Just(Answer::Denies),
        1 => Just(Answer::Withdraws),
        1 => Just(Answer::IsLate),
        1 => Just(Answer::SaysNothing),
    ];
    (turns, budget, any::<bool>(), 1..5usize, prop::collection::vec(answer, 30)).prop_map(
        |(turns, budget, tell_model, parallel_reads, decisions)| Script {
            turns,
            budget,
            tell_model,
            parallel_reads,
            decisions,
        },
    )
}

impl Script {
    fn bench(&self) -> Bench {
        let turn = |turn: &Vec<(&'static str, String)>| -> Turn {
            let turn: Vec<(&str, &str)> = turn.iter().map(|(tool, arguments)| (*tool, arguments.as_str())).collect();
            calls(&turn)
        };
        let mut bench = Bench::new(self.turns.iter().map(turn).chain([says("Done.")]));
        bench.budget = self.budget.clone();
        bench.on_unknown = if self.tell_model { OnUnknown::TellModel } else { OnUnknown::Stop };
        bench.parallel_reads = self.parallel_reads;
        bench
    }

    /// Answers questions as the script says and resumes, until the run has ended.
    async fn to_the_end(&self, bench: &Bench, run: &RunId) -> RunState {
        let mut answers = self.decisions.iter().cycle();
        for _ in 0..60 {
            let state = bench.resume(run).await;
            if stop(&state).0 != RunStatus::WaitingForApproval {
                return state;
            }
            for approval in bench.approvals(run).await {
                if approval.state != ApprovalState::Pending {
                    continue;
                }
                let answer = match answers.next().unwrap() {
                    Answer::Grants => ApprovalState::Granted,
                    Answer::Denies => ApprovalState::Denied,
                    Answer::Withdraws => ApprovalState::Withdrawn,
                    Answer::IsLate => {
                        bench.clock.pass(OPEN_FOR);
                        break;
                    }
                    Answer::SaysNothing => continue,
                };
                bench.decide(&approval.approval_id, answer).await.unwrap();
            }
        }
        panic!("it does not end: {self:?}");
    }

    fn assert_ended(&self, bench: &Bench, state: &RunState) {
        assert!(state.calls().all(|call| call.settled.is_some()), "{self:?}"); // R-212
        assert!(state.valid_actions() <= self.budget.max_valid_actions, "{self:?}");
        assert!(state.turns().len() <= self.budget.max_steps as usize, "{self:?}"); // R-122
        for (call, count) in bench.world.entries_of_effects() {
            assert_eq!(count, 1, "{call} was entered {count} times: {self:?}"); // R-128
        }
        let result = RunResult::of(state);
        let asked: Vec<&str> = result.calls.iter().map(|call| call.tool_name.as_str()).collect();
        let scripted: Vec<&str> = self.turns.iter().flatten().map(|(tool, _)| *tool).collect();
        assert!(scripted.starts_with(&asked), "{self:?}");
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

/// The run's events of each call and of the run itself, without their times and numbers.
async fn threads(bench: &Bench, run: &RunId) -> BTreeMap<String, Vec<String>> {
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in bench.events(run).await {
        let of = event.call_id.as_ref().map(ToString::to_string).unwrap_or_default();
        threads.entry(of).or_default().push(format!("{} {} {}", event.kind, event.step, event.data.text()));
    }
    threads
}

fn first() -> RunId {
    RunId::new("run-000000000001")
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(64))]

    /// The invariants are checked by the bench, on every event and on every beginning of the run.
    #[test]
    fn every_run_ends_in_order(script in script()) {
        block_on(async {
            let bench = script.bench();
            let state = bench.run().await;
            let state = script.to_the_end(&bench, state.run_id()).await;
            script.assert_ended(&bench, &state);
        });
    }

    /// Both drivers, whatever runs side by side.
    #[test]
    fn the_drivers_agree(script in script()) {
        block_on(async {
            let blocking = script.bench();
            let state = blocking.run().await;
            // Its time begins here.
            let streaming = script.bench();
            let mut stream = streaming.runner().stream(streaming.task());
            let mut seen = 0;
            while let Some(event) = stream.next().await {
                seen += 1;
                assert_eq!(event.seq, seen);
            }
            let streamed = stream.finish().await.unwrap();
            assert_eq!(streamed.last_seq(), seen);
            let (one, two) = (threads(&blocking, &first()).await, threads(&streaming, &first()).await);
            assert_eq!(one, two, "{script:?}");
            let shown = |state| serde_json::to_string(&RunResult::of(state).with_messages(state)).unwrap();
            assert_eq!(shown(&state), shown(&streamed));
            if script.parallel_reads == 1 {
                assert_eq!(blocking.bytes(&first()).await, streaming.bytes(&first()).await);
            }
        });
    }

    /// How many reads run side by side changes when things happen, not what the model is told. Except where one read holds
    /// back those behind it, which ran already when they stood beside it: by its question, or by an effect that it cannot
    /// tell.
    #[test]
    fn parallelism_changes_no_result(mut script in script()) {
        let reads = ["look", "peek", "stat"];
        for turn in &mut script.turns {
            turn.retain(|(tool, arguments)| {
                let holds_back = arguments.contains("lost") || arguments.contains("undone");
                *tool != "ask" && !(holds_back && reads.contains(tool))
            });
            if turn.is_empty() {
                turn.push(("look", r#"{"do":"ok"}"#.to_owned()));
            }
        }
        block_on(async {
            let mut shown = Vec::new();
            for reads in [4, 1] {
                let mut bench = script.bench();
                bench.parallel_reads = reads;
                let state = bench.run().await;
                let state = script.to_the_end(&bench, state.run_id()).await;
                shown.push(serde_json::to_string_pretty(&RunResult::of(&state).with_messages(&state)).unwrap());
            }
            assert_eq!(shown[0], shown[1], "{script:?}"); // S-20
        });
    }

    /// The power fails twice, somewhere.
    #[test]
    fn no_effect_happens_twice(script in script(), crashes in prop::collection::vec((any::<bool>(), 2..30usize), 2)) {
        block_on(async {
            let mut bench = script.bench();
            let disk = Arc::clone(&bench.journal);
            let fault = |index: usize| match crashes[index] {
                (true, number) => Fault::Dead(number),
                (false, number) => Fault::DeadAfter(number),
            };
            bench.journal = Faulty::new(&disk, fault(0));
            until_the_power_fails(&bench, None).await;
            let mut bench = bench.restarted(Faulty::new(&disk, fault(1)));
            bench.decide_all(&first(), ApprovalState::Granted).await;
            until_the_power_fails(&bench, Some(&first())).await;
            bench = bench.restarted(disk);
            let state = script.to_the_end(&bench, &first()).await;
            script.assert_ended(&bench, &state);
        });
    }

    /// Cancelled at any time: it ends, or waits, and everything is accounted for.
    #[test]
    fn a_cancel_ends_it(script in script(), millis in 0..1500u64) {
        block_on(async {
            let bench = script.bench();
            let cancel = async {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                bench.cancel.cancel();
            };
            let (state, ()) = tokio::join!(bench.run(), cancel);
            let waits = stop(&state).0 == RunStatus::WaitingForApproval;
            assert!(waits || state.calls().all(|call| call.settled.is_some()), "{script:?}");
            let events = bench.events(&first()).await;
            let starts = events.iter().filter(|event| event.kind == EventType::ToolStarted).count();
            let effects = bench.world.entries_of_effects();
            assert!(effects.len() <= starts && effects.values().all(|count| *count == 1), "{script:?}"); // R-125
        });
    }
}
