//! The process dies between any two commits, or its driver is dropped at any point: nothing is lost that was promised, and
//! no effect happens twice.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::EventType;
use lockgate_contract::ids::RunId;
use lockgate_contract::run::RunStatus;
use lockgate_harness::{Resume, RunError, RunState};

use crate::bench::{Bench, OPEN_FOR, codes, stop};
use crate::journals::{Fault, Faulty};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

/// A run of three turns with reads side by side, effects, refusals, a failure and two questions.
fn script() -> Vec<Turn> {
    vec![
        calls(&[("look", OK), ("peek", OK), ("note", OK), ("put", OK), ("nosuch", "{}")]),
        calls(&[("pay", OK), ("look", OK), ("pay", r#"{"do":"business"}"#), ("send", OK)]),
        calls(&[("look", r#"{"do":"business"}"#), ("note", "{")]),
        says("Done."),
    ]
}

/// Resumes and answers until the run has ended.
pub(crate) async fn to_the_end(bench: &Bench, run: &RunId) -> RunState {
    for _ in 0..20 {
        let state = bench.resume(run).await;
        if stop(&state).0 != RunStatus::WaitingForApproval {
            return state;
        }
        bench.decide_all(run, ApprovalState::Granted).await;
    }
    panic!("it does not end");
}

/// Takes a run as far as its journal lets it, as one process would.
pub(crate) async fn until_the_power_fails(bench: &Bench, run: Option<&RunId>) {
    let runner = bench.runner();
    let driver = async {
        let state = match run {
            None => runner.start(bench.task()).await,
            Some(run) => runner.resume(run, Resume::default()).await,
        };
        drop(state);
    };
    // Longer than any call may take, and shorter than a question stays open: what hangs now, hangs because of the journal.
    let _ = tokio::time::timeout(OPEN_FOR / 10, driver).await;
}

fn only_run() -> RunId {
    RunId::new("run-000000000001")
}

/// What must hold after any crash and the resume after it.
fn assert_repaired(bench: &Bench, state: &RunState, fault: Fault) {
    for (call, count) in bench.world.entries_of_effects() {
        assert_eq!(count, 1, "{call} was entered {count} times after {fault:?}"); // R-128, architecture rule 5
    }
    assert!(state.calls().all(|call| call.settled.is_some()), "{fault:?}"); // R-212
}

#[tokio::test(start_paused = true)]
async fn between_any_two_commits() {
    for tell_model in [false, true] {
        let mut ends = BTreeSet::new();
        for number in 1.. {
            let mut died = false;
            for fault in [Fault::Dead(number), Fault::DeadAfter(number)] {
                let mut bench = Bench::new(script());
                if tell_model {
                    bench.on_unknown = OnUnknown::TellModel;
                }
                let disk = Arc::clone(&bench.journal);
                let faulty = Faulty::new(&disk, fault);
                bench.journal = faulty.clone();
                until_the_power_fails(&bench, None).await;
                // The first process may have come to its questions: the second one goes on in the same journal.
                if disk
                    .events(&only_run(), 0)
                    .await
                    .is_ok_and(|events| events.last().is_some_and(|event| event.kind == EventType::RunWaiting))
                {
                    bench.decide_all(&only_run(), ApprovalState::Granted).await;
                    until_the_power_fails(&bench, Some(&only_run())).await;
                }
                died |= faulty.commits() >= number;
                let mut bench = bench.restarted(Arc::clone(&disk));
                bench.parallel_reads = 1;
                let Ok(events) = disk.events(&only_run(), 0).await else { continue };
                crate::invariants::assert_hold(&events);
                let state = to_the_end(&bench, &only_run()).await;
                assert_repaired(&bench, &state, fault);
                ends.insert(stop(&state).0.word());
                if codes(&state).iter().all(|code| code != "outcome_unknown" && code != "blocked") {
                    let expected = [
                        "ok",
                        "ok",
                        "ok",
                        "ok",
                        "unknown_tool",
                        "ok",
                        "ok",
                        "not_found",
                        "ok",
                        "not_found",
                        "invalid_arguments",
                    ];
                    assert_eq!(codes(&state), expected, "{fault:?}");
                }
                // A second time, nothing happens (pair-dangling-after-kill).
                let bytes = bench.bytes(&only_run()).await;
                to_the_end(&bench, &only_run()).await;
                assert_eq!(bench.bytes(&only_run()).await, bytes);
            }
            if !died {
                break;
            }
        }
        let expected: &[&str] = if tell_model { &["completed"] } else { &["completed", "needs_reconciliation"] };
        assert!(ends.iter().eq(expected), "{ends:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_began_is_unknown_and_one_that_did_not_is_simply_done() {
    // The commits of this run: start, asked, answered, claim, result, …
    let after = async |fault| {
        let mut bench = Bench::new([calls(&[("note", OK)]), says("Done.")]);
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, fault);
        until_the_power_fails(&bench, None).await;
        let bench = bench.restarted(disk);
        let state = to_the_end(&bench, &only_run()).await;
        (codes(&state).remove(0), bench.world.entries().len(), stop(&state).0)
    };
    let ok = |count| ("ok".to_owned(), count, RunStatus::Completed);
    let unknown = |count| ("outcome_unknown".to_owned(), count, RunStatus::NeedsReconciliation);
    assert_eq!(after(Fault::Dead(3)).await, ok(1)); // the model is asked again
    assert_eq!(after(Fault::DeadAfter(3)).await, ok(1)); // the turn is stored: the same calls under the same ids
    assert_eq!(after(Fault::Dead(4)).await, ok(1)); // no intent, so no effect
    assert_eq!(after(Fault::DeadAfter(4)).await, unknown(0)); // R-126: the intent stands; there was no effect, but who knows
    assert_eq!(after(Fault::Dead(5)).await, unknown(1)); // the effect happened, its result is lost
    assert_eq!(after(Fault::DeadAfter(5)).await, ok(1)); // pair-finished-shown-as-lost: the stored result is used
}

#[tokio::test(start_paused = true)]
async fn a_read_and_a_repeatable_write_are_done_again() {
    for (tool, commit) in [("look", 4), ("put", 5)] {
        let mut bench = Bench::new([calls(&[(tool, OK)]), says("Done.")]);
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, Fault::Dead(commit));
        until_the_power_fails(&bench, None).await;
        let bench = bench.restarted(disk);
        let state = to_the_end(&bench, &only_run()).await;
        assert_eq!((codes(&state), stop(&state).0), (vec!["ok".to_owned()], RunStatus::Completed), "{tool}");
        let keys: BTreeSet<_> = bench.world.entries().into_iter().map(|entry| entry.idempotency_key).collect();
        assert_eq!((bench.world.entries().len(), keys.len()), (2, 1), "{tool}"); // R-127, R-130: one key for both
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_refuses_one_commit() {
    for number in 1..40 {
        let mut bench = Bench::new(script());
        let disk = Arc::clone(&bench.journal);
        let fault = Fault::Fails(number);
        let faulty = Faulty::new(&disk, fault);
        bench.journal = faulty.clone();
        let result = bench.runner().start(bench.task()).await;
        if let Err(error) = &result {
            let told = matches!(error, RunError::Journal(_) | RunError::NotRecorded { .. });
            assert!(told, "{fault:?}: {error}");
        }
        let bench = bench.restarted(Arc::clone(&disk));
        let Ok(events) = disk.events(&only_run(), 0).await else { continue };
        crate::invariants::assert_hold(&events);
        let state = to_the_end(&bench, &only_run()).await;
        assert_repaired(&bench, &state, fault);
    }
}

#[tokio::test(start_paused = true)]
async fn an_intent_that_cannot_be_written_starts_nothing() {
    let mut bench = Bench::new([calls(&[("note", OK), ("note", r#"{"do":"ok","n":2}"#)]), says("Done.")]);
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Fails(4));
    let state = bench.runner().start(bench.task()).await.unwrap();
    assert_eq!(codes(&state), ["storage_unavailable", "ok"]); // R-125
    assert_eq!(bench.world.entries().len(), 1);
    crate::invariants::assert_hold(&bench.events(state.run_id()).await);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_stored_is_not_shown() {
    let mut bench = Bench::new([calls(&[("note", OK)]), says("Nobody hears this.")]);
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Fails(5));
    let error = bench.runner().start(bench.task()).await.unwrap_err();
    assert!(matches!(&error, RunError::NotRecorded { .. }), "{error}");
    assert_eq!(bench.model.steps(), [0]);
    let bench = bench.restarted(disk);
    let state = to_the_end(&bench, &only_run()).await;
    assert_eq!((codes(&state), bench.world.entries().len()), (vec!["outcome_unknown".to_owned()], 1));
}

/// Polls a future so many times, then drops it. Whether it was done by then.
async fn polled<F: Future>(future: F, times: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..times {
        let done = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
        if done {
            return true;
        }
        // Timers and others go on in between.
        tokio::task::yield_now().await;
    }
    false
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_anywhere() {
    let mut unknown = 0;
    for times in 1.. {
        let mut bench = Bench::new(script());
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, Fault::Slow);
        let runner = bench.runner();
        let done = polled(Box::pin(runner.start(bench.task())), times).await;
        // What a dropped call leaves behind is written by a task of its own (architecture rule 4).
        tokio::time::sleep(Duration::from_secs(1)).await;
        let bench = bench.restarted(Arc::clone(&disk));
        if disk.events(&only_run(), 0).await.is_err() {
            continue;
        }
        let state = to_the_end(&bench, &only_run()).await;
        assert_repaired(&bench, &state, Fault::Slow);
        unknown += usize::from(stop(&state).0 == RunStatus::NeedsReconciliation);
        if done {
            break;
        }
    }
    assert!(unknown > 0);
}
