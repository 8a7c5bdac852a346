//! What recovery does about a call whose result was lost, what people find out, and what is tried again: the crash matrix of
//! the storage design, on the fold and its driver.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::{Body, Finding};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::JournalError;
use lockgate_contract::run::RunStatus;
use lockgate_harness::{Reconciliation, Resume, RunError, RunResult, RunState};

use crate::bench::{Bench, codes, stop};
use crate::crashes::{to_the_end, until_the_power_fails};
use crate::journals::{Fault, Faulty};
use crate::model::{calls, says};
use crate::tools::{Found, WINDOW};

const OK: &str = r#"{"do":"ok","n":1}"#;

/// A run whose process died between the effect of its first call, a `tool`, and its result.
async fn lost(tool: &str) -> (Bench, RunId) {
    let mut bench = Bench::new([calls(&[(tool, OK)]), says("Done.")]);
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Dead(5));
    until_the_power_fails(&bench, None).await;
    (bench.restarted(disk), RunId::new("run-000000000001"))
}

/// The call's id, and who says what about it.
fn found(run: &RunId, finding: Finding) -> Reconciliation {
    Reconciliation { call_id: run.call(0, 0), finding, by: "alice".to_owned(), reason: Some("I looked".to_owned()) }
}

fn ended(state: &RunState) -> (Vec<String>, RunStatus) {
    (codes(state), stop(state).0)
}

fn ok() -> (Vec<String>, RunStatus) {
    (vec!["ok".to_owned()], RunStatus::Completed)
}

fn unknown() -> (Vec<String>, RunStatus) {
    (vec!["outcome_unknown".to_owned()], RunStatus::NeedsReconciliation)
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_remembers_the_key_is_sent_it_again() {
    let (bench, run) = lost("charge").await;
    assert_eq!(ended(&bench.resume(&run).await), ok());
    let entries = bench.world.entries();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0], entries[1]); // R-130: the same arguments under the same key
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_has_forgotten_the_key_is_sent_nothing() {
    let (bench, run) = lost("charge").await;
    bench.clock.pass(WINDOW);
    assert_eq!(ended(&bench.resume(&run).await), unknown()); // R-128
    assert_eq!(bench.world.entries().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_can_be_asked_is_asked() {
    for (answer, expected, entries) in [
        (Found::Done, ok(), 1),
        (Found::NotDone, ok(), 2),
        (Found::Unsure, unknown(), 1),
        (Found::WrongForm, unknown(), 1),
        (Found::Fails, unknown(), 1),
        (Found::Panics, unknown(), 1),
        (Found::Hangs, unknown(), 1),
    ] {
        let (bench, run) = lost("ship").await;
        *bench.world.found.lock().unwrap() = answer;
        let state = bench.resume(&run).await;
        assert_eq!(ended(&state), expected, "{answer:?}");
        assert_eq!(bench.world.entries().len(), entries, "{answer:?}");
        // It is asked once, under the key that the attempt was made with.
        let asked = bench.world.asked.lock().unwrap().clone();
        assert_eq!(asked, [bench.world.entries()[0].idempotency_key.clone()], "{answer:?}");
        if answer == Found::Done {
            let settled = state.calls().next().unwrap().settled.clone().unwrap();
            assert_eq!(settled.data.unwrap().text(), r#"{"n":7}"#);
            assert_eq!(settled.meta.reconciled_by.as_deref(), Some("tool"));
        }
        if answer == Found::NotDone {
            let kinds = bench.kinds(&run).await;
            let from = kinds.iter().position(|kind| kind == "call.reconciled").unwrap();
            assert_eq!(kinds[from..from + 3], ["call.reconciled", "tool.started", "tool.finished"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_finds_out() {
    for (finding, codes, entries) in
        [(Finding::Done, "ok", 1), (Finding::NotDone, "ok", 2), (Finding::Abandoned, "outcome_unknown", 1)]
    {
        let (bench, run) = lost("note").await;
        assert_eq!(ended(&bench.resume(&run).await), unknown());
        // Nothing goes on by itself.
        let before = bench.bytes(&run).await;
        assert_eq!(ended(&bench.resume(&run).await), unknown());
        assert_eq!(bench.bytes(&run).await, before);

        let state = bench.runner().reconcile(&run, found(&run, finding)).await.unwrap();
        assert_eq!(stop(&state).0, RunStatus::NeedsReconciliation);
        assert_eq!(bench.world.entries().len(), 1, "to say so runs nothing");
        let state = bench.resume(&run).await;
        assert_eq!(ended(&state), (vec![codes.to_owned()], RunStatus::Completed), "{finding}");
        assert_eq!(bench.world.entries().len(), entries, "{finding}");
        let keys: std::collections::BTreeSet<_> =
            bench.world.entries().into_iter().map(|entry| entry.idempotency_key).collect();
        assert_eq!(keys.len(), 1);
        // Who said it, and why, stands in the journal.
        let said = bench.events(&run).await.into_iter().find_map(|event| match event.body().unwrap() {
            Body::CallReconciled(said) => Some((said.finding, said.by, said.reason)),
            _ => None,
        });
        assert_eq!(said, Some((finding, "alice".to_owned(), Some("I looked".to_owned()))));
        // It is found out once.
        let again = bench.runner().reconcile(&run, found(&run, Finding::Done)).await.unwrap_err();
        assert!(matches!(again, RunError::NothingUnknown(_)), "{again}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_confirmed_is_said_to_the_model() {
    let (bench, run) = lost("note").await;
    bench.resume(&run).await;
    bench.runner().reconcile(&run, found(&run, Finding::Done)).await.unwrap();
    let state = bench.resume(&run).await;
    let messages = RunResult::of(&state).with_messages(&state).model_messages.unwrap();
    let told = messages.iter().find_map(|message| message.content.clone()).unwrap();
    assert_eq!(
        told.text(),
        r#"{"reconciled":"done","message":"It took effect, as was confirmed later; its output was lost."}"#
    );
}

/// What the model was told stays what it was told: the same bytes, whatever is found out later.
#[tokio::test(start_paused = true)]
async fn a_told_model_is_told_nothing_else() {
    for finding in [Finding::Done, Finding::NotDone, Finding::Abandoned] {
        let (mut bench, run) = {
            let mut bench = Bench::new([calls(&[("note", OK)]), says("Done.")]);
            bench.on_unknown = OnUnknown::TellModel;
            let disk = Arc::clone(&bench.journal);
            bench.journal = Faulty::new(&disk, Fault::Dead(5));
            until_the_power_fails(&bench, None).await;
            (bench.restarted(disk), RunId::new("run-000000000001"))
        };
        bench.on_unknown = OnUnknown::TellModel;
        let before = bench.resume(&run).await;
        assert_eq!(ended(&before), (vec!["outcome_unknown".to_owned()], RunStatus::Completed));
        let state = bench.runner().reconcile(&run, found(&run, finding)).await.unwrap();
        let told = |state: &RunState| {
            serde_json::to_string(&RunResult::of(state).with_messages(state).model_messages).unwrap()
        };
        assert_eq!(told(&state), told(&before), "{finding}");
        assert!(state.is_reconciled());
        assert_eq!(bench.world.entries().len(), 1, "a call that the model knows the end of does not run again");
    }
}

/// A further attempt needs a further approval.
#[tokio::test(start_paused = true)]
async fn what_did_not_happen_is_asked_about_again() {
    let mut bench = Bench::new([calls(&[("pay", OK)]), says("Done.")]);
    let disk = Arc::clone(&bench.journal);
    let run = RunId::new("run-000000000001");
    bench.run().await;
    bench.decide_all(&run, ApprovalState::Granted).await;
    bench.journal = Faulty::new(&disk, Fault::Dead(3));
    until_the_power_fails(&bench, Some(&run)).await;
    let bench = bench.restarted(disk);
    assert_eq!(ended(&bench.resume(&run).await), unknown());
    bench.runner().reconcile(&run, found(&run, Finding::NotDone)).await.unwrap();
    let state = bench.resume(&run).await;
    assert_eq!(stop(&state).0, RunStatus::WaitingForApproval);
    assert_eq!(bench.world.entries().len(), 1);
    let questions = bench.approvals(&run).await;
    assert_eq!(questions.len(), 2);
    assert_eq!(questions[0].state, ApprovalState::Consumed); // R-172
    bench.decide_all(&run, ApprovalState::Granted).await;
    assert_eq!(ended(&to_the_end(&bench, &run).await), ok());
    assert_eq!(bench.world.entries().len(), 2);
}

/// A yes is for one attempt, also where a lost one may be repeated.
#[tokio::test(start_paused = true)]
async fn a_lost_attempt_that_was_approved_is_asked_about_again() {
    let mut bench = Bench::new([calls(&[("ask", OK)]), says("Done.")]);
    let run = bench.run().await.run_id().clone();
    bench.decide_all(&run, ApprovalState::Granted).await;
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Dead(3));
    until_the_power_fails(&bench, Some(&run)).await;
    let bench = bench.restarted(disk);
    assert_eq!(stop(&bench.resume(&run).await).0, RunStatus::WaitingForApproval);
    assert_eq!(bench.world.entries().len(), 1);
    bench.decide_all(&run, ApprovalState::Granted).await;
    assert_eq!(ended(&bench.resume(&run).await), ok());
    assert_eq!((bench.world.entries().len(), bench.approvals(&run).await.len()), (2, 2)); // R-172
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_within_the_budget() {
    // The tool, what becomes of it, how often it runs with two retries, and how it ends.
    for (tool, act, entries, code) in [
        ("look", "environment", 3, "environment_error"),
        ("look", "hangs", 3, "timed_out"),
        ("look", "business", 1, "not_found"),
        ("look", "bug", 1, "tool_internal_error"),
        ("note", "broken", 3, "environment_error"),
        ("note", "environment", 1, "environment_error"),
        ("note", "hangs", 1, "timed_out"),
        ("note", "lost", 1, "outcome_unknown"),
        ("put", "environment", 3, "environment_error"),
        ("put", "hangs", 3, "timed_out"),
        ("charge", "lost", 3, "outcome_unknown"),
        ("charge", "bug", 1, "tool_internal_error"),
    ] {
        let arguments = format!(r#"{{"do":"{act}"}}"#);
        let bench = Bench::new([calls(&[(tool, &arguments)]), says("Done.")]).within(|budget| {
            budget.max_retries = 2;
            budget.max_environment_failures = 0;
        });
        let began = tokio::time::Instant::now();
        let state = bench.run().await;
        assert_eq!(codes(&state), [code], "{tool} {act}");
        assert_eq!(bench.world.entries().len(), entries, "{tool} {act}");
        assert_eq!(state.retries() as usize, entries - 1, "{tool} {act}");
        let failed = bench.kinds(state.run_id()).await.iter().filter(|kind| *kind == "tool.attempt_failed").count();
        assert_eq!(failed, entries - 1, "each attempt is a record of its own");
        if entries == 3 {
            // A half of 250 ms, then a half of 500 ms, at the least.
            assert!(began.elapsed() >= Duration::from_millis(375), "{tool} {act}: {:?}", began.elapsed());
            let keys: std::collections::BTreeSet<_> =
                bench.world.entries().into_iter().map(|entry| entry.idempotency_key).collect();
            assert_eq!(keys.len(), 1, "one key for all attempts");
        }
    }
}

/// A retry is sent under the same key, and so only as long as the provider remembers it, however long nobody drove the run.
#[tokio::test(start_paused = true)]
async fn what_failed_long_ago_is_not_tried_again() {
    for (later, entries) in [(Duration::from_secs(1), 3), (WINDOW, 1)] {
        let turns = [calls(&[("charge", r#"{"do":"lost"}"#)]), says("Done.")];
        let mut bench = Bench::new(turns).within(|budget| budget.max_retries = 2);
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, Fault::Dead(6));
        until_the_power_fails(&bench, None).await;
        let bench = bench.restarted(disk);
        let run = RunId::new("run-000000000001");
        assert!(bench.kinds(&run).await.iter().any(|kind| kind == "tool.attempt_failed"));
        bench.clock.pass(later);
        assert_eq!(ended(&bench.resume(&run).await), unknown());
        assert_eq!(bench.world.entries().len(), entries); // R-128
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_nothing_is_tried_again() {
    let bench = Bench::new([calls(&[("look", r#"{"do":"environment"}"#)]), says("Done.")]);
    let state = bench.run().await;
    assert_eq!((codes(&state), bench.world.entries().len()), (vec!["environment_error".to_owned()], 1));
}

/// An attempt that may have taken effect is not forgotten because the next one was refused.
#[tokio::test(start_paused = true)]
async fn a_refused_retry_leaves_the_effect_unknown() {
    let bench = Bench::new([calls(&[("put", r#"{"do":"environment"}"#)]), says("Done.")]).within(|budget| {
        budget.max_retries = 5;
        budget.deadline_ms = 300;
    });
    let state = bench.run().await;
    assert_eq!((codes(&state), stop(&state).0), (vec!["limit_reached".to_owned()], RunStatus::NeedsReconciliation));
}

/// A process that was paused until another one took its run over: it starts nothing more, and the result of what it had
/// started is not lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_lost_its_run_is_shut_out() {
    let folder = tempfile::tempdir().unwrap();
    let turns = [calls(&[("note", r#"{"do":"slow"}"#), ("send", OK)]), says("Done.")];
    let bench = Bench::in_file(&folder.path().join("journal.db"), turns);
    let (runner, task, run) = (bench.runner(), bench.task(), RunId::new("run-000000000001"));
    let paused = tokio::spawn(async move { runner.start(task).await });
    while bench.world.entries().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The lock is lost, as on a file system that forgets its locks.
    let lock = folder.path().join("journal.db.run-000000000001.lock");
    #[expect(clippy::disallowed_methods, reason = "what happens to the journal's own file")]
    std::fs::remove_file(lock).unwrap();
    let state = bench.runner().resume(&run, Resume::default()).await.unwrap();
    assert_eq!(
        (codes(&state), stop(&state).0),
        (vec!["outcome_unknown".to_owned(), "blocked".to_owned()], RunStatus::NeedsReconciliation)
    );
    // It sees that the run stopped without it; where the other one still drove it, it would be told that it is shut out.
    let told = paused.await.unwrap();
    let stopped = told.as_ref().is_ok_and(|state| stop(state).0 == RunStatus::NeedsReconciliation);
    assert!(stopped || matches!(&told, Err(RunError::Journal(JournalError::Fenced { .. }))), "{told:?}");
    assert_eq!(bench.world.entered(), ["note"]); // R-128
    // Its late result settles what was unknown, and the run goes on.
    let kinds = bench.kinds(&run).await;
    assert_eq!(kinds.last().map(String::as_str), Some("call.reconciled"));
    let state = bench.resume(&run).await;
    assert_eq!((codes(&state), stop(&state).0), (vec!["ok".to_owned(), "blocked".to_owned()], RunStatus::Completed));
    assert_eq!(bench.world.entered(), ["note"]);
}
