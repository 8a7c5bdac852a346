//! What chance decides about a run: what the model asks for, what becomes of it, what people say, when somebody cancels.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::ModelError;
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_harness::{RunResult, RunState};
use proptest::prelude::*;

use crate::bench::{Bench, OPEN_FOR, stop};
use crate::model::{Turn, calls, says};

/// The name under which code comes that is no tool call.
pub(super) const CODE: &str = "python";

/// Argument texts that no tool of the bench takes: three that are no JSON object, and three that its schema refuses (an
/// empty text is an empty object).
pub(super) const NO_OBJECTS: [&str; 3] = ["{", "[]", r#"{"do":"ok","do":"ok"}"#];
pub(super) const REFUSED: [&str; 3] = ["", r#"{"do":5}"#, r#"{"do":"ok","x":1}"#];

#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Names and raw argument texts.
    pub(super) turns: Vec<Vec<(&'static str, String)>>,
    /// What the model does once it has nothing more to ask for.
    pub(super) last: Last,
    pub(super) budget: Budget,
    pub(super) tell_model: bool,
    pub(super) parallel_reads: usize,
    pub(super) decisions: Vec<Answer>,
    /// The run is cancelled as soon as it has so many events.
    pub(super) cancelled_at: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Last {
    Answers,
    Fails,
    Hangs,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    Grants,
    Denies,
    Withdraws,
    IsLate,
    SaysNothing,
}

fn arguments() -> impl Strategy<Value = String> {
    let what = prop_oneof![
        6 => Just("ok"),
        2 => Just("slow"),
        2 => prop::sample::select(vec![
            "business", "environment", "broken", "bug", "panic", "lost", "wrong", "hangs", "undone",
        ]),
    ];
    // Often the same as another's, and often a number of its own.
    let number = prop_oneof![0..3u32, 3..1_000_000u32];
    prop_oneof![
        9 => (what, number).prop_map(|(what, n)| format!(r#"{{"do":"{what}","n":{n}}}"#)),
        1 => prop::sample::select([NO_OBJECTS, REFUSED].concat()).prop_map(str::to_owned),
    ]
}

fn budget() -> impl Strategy<Value = Budget> {
    let limits = (1..7u32, 0..14u32, 1..7u32, 0..4u32);
    let deadline = prop_oneof![5 => Just(Budget::default().deadline_ms), 1 => 50..1500u64];
    (limits, deadline).prop_map(|((steps, actions, calls, repeated), deadline_ms)| Budget {
        max_steps: steps,
        max_valid_actions: actions,
        max_calls_per_turn: calls,
        max_repeated_turns: repeated,
        deadline_ms,
        ..Budget::default()
    })
}

/// Any run that nobody cancels.
pub(super) fn script() -> impl Strategy<Value = Script> {
    let tools = vec![
        "look", "look", "look", "peek", "stat", "ask", "note", "note", "put", "send", "pay", "pay", "ban", "post",
        "book", "nosuch",
    ];
    let tool = prop_oneof![40 => prop::sample::select(tools), 2 => Just("finish"), 1 => Just(CODE)];
    // Twice the same call, side by side, is nothing rare.
    let call = (tool, arguments(), prop_oneof![6 => Just(1), 1 => Just(2_usize)]);
    let turn = prop::collection::vec(call, 1..5).prop_map(|calls| {
        let repeated = |(tool, arguments, times)| std::iter::repeat_n((tool, arguments), times);
        calls.into_iter().flat_map(repeated).collect()
    });
    let last = prop_oneof![6 => Just(Last::Answers), 1 => Just(Last::Fails), 1 => Just(Last::Hangs)];
    let answer = prop_oneof![
        5 => Just(Answer::Grants),
        1 => Just(Answer::Denies),
        1 => Just(Answer::Withdraws),
        1 => Just(Answer::IsLate),
        1 => Just(Answer::SaysNothing),
    ];
    let turns = prop::collection::vec(turn, 0..5);
    (turns, last, budget(), any::<bool>(), 1..5usize, prop::collection::vec(answer, 30)).prop_map(
        |(turns, last, budget, tell_model, parallel_reads, decisions)| Script {
            turns,
            last,
            budget,
            tell_model,
            parallel_reads,
            decisions,
            cancelled_at: None,
        },
    )
}

/// Any run, cancelled at some event or never.
pub(super) fn cancelled_script() -> impl Strategy<Value = Script> {
    let cancelled_at = prop_oneof![2 => Just(None), 1 => (1..40usize).prop_map(Some)];
    (script(), cancelled_at).prop_map(|(script, cancelled_at)| Script { cancelled_at, ..script })
}

impl Script {
    pub(super) fn bench(&self) -> Bench {
        let turn = |turn: &Vec<(&'static str, String)>| -> Turn {
            let named: Vec<(&str, &str)> = turn.iter().map(|(tool, arguments)| (*tool, arguments.as_str())).collect();
            let mut turn = calls(&named);
            if let Turn::Says(response) = &mut turn {
                let code = response.calls.iter_mut().filter(|call| call.name == CODE);
                code.for_each(|call| call.language = ActionLanguage::Code);
            }
            turn
        };
        let last = match self.last {
            Last::Answers => says("Done."),
            Last::Fails => Turn::Fails(ModelError::TimedOut),
            Last::Hangs => Turn::Hangs,
        };
        let mut bench = Bench::new(self.turns.iter().map(turn).chain([last]));
        bench.budget = self.budget.clone();
        bench.on_unknown = if self.tell_model { OnUnknown::TellModel } else { OnUnknown::Stop };
        bench.parallel_reads = self.parallel_reads;
        if let Some(events) = self.cancelled_at {
            let (seen, cancel) = (AtomicUsize::new(0), bench.cancel.clone());
            bench.observers.push(Arc::new(move |_| {
                if seen.fetch_add(1, Ordering::SeqCst) + 1 == events {
                    cancel.cancel();
                }
            }));
        }
        bench
    }

    /// Answers questions as the script says and resumes, until the run has ended.
    pub(super) async fn to_the_end(&self, bench: &Bench, run: &RunId) -> RunState {
        let mut answers = self.decisions.iter().cycle();
        for _ in 0..60 {
            let state = bench.resume(run).await;
            if stop(&state).0 != RunStatus::WaitingForApproval {
                return state;
            }
            Self::answer(bench, run, &mut answers).await;
        }
        panic!("it does not end: {self:?}");
    }

    /// Every open question, until somebody is late.
    pub(super) async fn answer(bench: &Bench, run: &RunId, answers: &mut impl Iterator<Item = &Answer>) {
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

    pub(super) fn assert_ended(&self, bench: &Bench, state: &RunState) {
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

/// The first run of every bench.
pub(super) fn first() -> RunId {
    RunId::new("run-000000000001")
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

/// Runs are not cheap: an eighth of the usual number of cases, or of what `PROPTEST_CASES` asks for.
pub(super) fn runs() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 8, failure_persistence: None, ..usual }
}
