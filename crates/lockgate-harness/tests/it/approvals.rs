//! A person is asked: the question outlives the process, and what was not approved never runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{DecisionRefused, PolicyEngine};
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_contract::subject::Subject;
use lockgate_executor::{Gate, GateOptions};
use lockgate_harness::{DirectCall, Resume, RunError, RunResult, Runner, RunnerOptions, Stop};
use lockgate_journal::SqliteJournal;
use lockgate_policy::NativePolicy;
use lockgate_registry::ReplacementRule;

use crate::bench::{Bench, OPEN_FOR, codes, stop};
use crate::journals::{Fault, Faulty};
use crate::model::{calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

fn waits() -> (RunStatus, String) {
    (RunStatus::WaitingForApproval, "approval_required".to_owned())
}

fn done() -> (RunStatus, String) {
    (RunStatus::Completed, "final_answer".to_owned())
}

/// A run that waits in a file for one payment.
async fn waiting(path: &Path) -> (Bench, RunId) {
    let bench = Bench::in_file(path, [calls(&[("pay", OK)]), says("Paid, or not.")]);
    let run = bench.run().await;
    assert_eq!(stop(&run), waits()); // R-169
    assert_eq!(bench.model.steps(), [0]); // R-170: nothing further is read
    (restarted(bench, path), run.run_id().clone())
}

/// Everything is dropped and the file opened again.
fn restarted(bench: Bench, path: &Path) -> Bench {
    let clock = bench.clock.clone();
    // The old journal is closed before the new one is opened.
    let bench = bench.restarted(Arc::new(lockgate_journal::MemoryJournal::new(clock.clone())));
    let journal = SqliteJournal::open(path, clock).unwrap();
    bench.restarted(Arc::new(journal))
}

#[tokio::test]
async fn what_is_granted_runs_once_under_its_own_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    let approval = bench.approvals(&run).await.remove(0);
    assert_eq!(approval.expires_at, approval.requested_at.after(OPEN_FOR)); // R-171
    bench.decide_all(&run, ApprovalState::Granted).await;
    assert_eq!(bench.world.entries(), []); // approving runs nothing
    let bench = restarted(bench, &path);
    let state = bench.resume(&run).await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["ok".to_owned()]));
    assert_eq!(bench.world.entered(), ["pay"]);
    assert_eq!(state.calls().next().unwrap().call_id, approval.call_id); // R-172
    let kinds = bench.kinds(&run).await;
    let expected = [
        "run.started",
        "model.requested",
        "model.responded",
        "tool.requested",
        "approval.requested",
        "run.waiting",
        "approval.decided",
        "run.lease_taken",
        "run.resumed",
        "approval.consumed",
        "tool.started",
        "tool.finished",
        "model.requested",
        "model.responded",
        "run.completed",
    ];
    assert_eq!(kinds, expected);

    // Once more: the same bytes, and nothing else (appr-replay).
    let bytes = bench.bytes(&run).await;
    let bench = restarted(bench, &path);
    let again = bench.resume(&run).await;
    assert_eq!(format!("{again:?}"), format!("{state:?}"));
    assert_eq!((bench.bytes(&run).await, bench.world.entries().len()), (bytes, 1));
    assert_eq!(bench.approvals(&run).await[0].state, ApprovalState::Consumed);
}

#[tokio::test]
async fn what_is_not_granted_never_runs() {
    let decisions: [(&[ApprovalState], &str); 3] = [
        (&[ApprovalState::Denied], "approval_denied"),
        (&[ApprovalState::Withdrawn], "approval_withdrawn"),
        (&[ApprovalState::Granted, ApprovalState::Withdrawn], "approval_withdrawn"),
    ];
    for (answers, code) in decisions {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (bench, run) = waiting(&path).await;
        let approval = bench.approvals(&run).await.remove(0).approval_id;
        for answer in answers {
            bench.decide(&approval, *answer).await.unwrap();
        }
        let bench = restarted(bench, &path);
        let state = bench.resume(&run).await;
        assert_eq!((stop(&state), codes(&state)), (done(), vec![code.to_owned()]));
        assert_eq!(bench.world.entries(), []); // R-173
        assert!(bench.model.told()[0].contains(code)); // R-196
        assert_eq!(state.valid_actions(), 0);
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_runs_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    bench.clock.pass(OPEN_FOR.saturating_sub(Duration::from_millis(1)));
    let before = bench.bytes(&run).await;
    assert_eq!(stop(&bench.resume(&run).await), waits());
    assert_eq!(bench.bytes(&run).await, before);
    bench.clock.pass(Duration::from_millis(1));
    let late = bench.decide(&bench.approvals(&run).await[0].approval_id, ApprovalState::Granted).await;
    assert!(matches!(late, Err(DecisionRefused::NotOpen { state: ApprovalState::Expired, .. }))); // appr-expiry
    let state = bench.resume(&run).await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["approval_expired".to_owned()]));
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test]
async fn a_grant_that_nobody_used_in_time_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    bench.decide_all(&run, ApprovalState::Granted).await;
    bench.clock.pass(OPEN_FOR);
    let state = bench.resume(&run).await;
    assert_eq!(codes(&state), ["approval_expired"]);
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test]
async fn an_approval_that_came_late_in_the_run_leaves_the_call_its_time() {
    // The run's own ten minutes are long over when the person decides.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let turns = [calls(&[("pay", r#"{"do":"slow","n":1}"#)]), says("Paid.")];
    let bench = Bench::in_file(&path, turns).within(|budget| budget.deadline_ms = 60_000);
    let run = bench.run().await.run_id().clone();
    bench.clock.pass(Duration::from_secs(500));
    bench.decide_all(&run, ApprovalState::Granted).await;
    let bench = restarted(bench, &path);
    let state = bench.resume(&run).await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["ok".to_owned()]));
}

#[tokio::test]
async fn a_run_that_still_waits_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let bench = Bench::in_file(&path, [calls(&[("pay", OK), ("pay", OK), ("look", OK)]), says("Paid.")]);
    let run = bench.run().await.run_id().clone();
    let before = bench.bytes(&run).await;
    for budget in [None, Some(Budget { max_steps: 99, ..Budget::default() })] {
        let state = bench.try_resume(&run, Resume { budget }).await.unwrap();
        assert_eq!((stop(&state), codes(&state)[2].as_str()), (waits(), ""));
    }
    assert_eq!(bench.bytes(&run).await, before);
    // The second one is decided: it waits behind the first, and so does everything else.
    let second = bench.approvals(&run).await.remove(1);
    bench.decide(&second.approval_id, ApprovalState::Granted).await.unwrap();
    let before = bench.bytes(&run).await;
    assert_eq!(stop(&bench.resume(&run).await), waits());
    assert_eq!(bench.bytes(&run).await, before);
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test]
async fn answers_reach_their_calls_in_whatever_order_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let turn = [("pay", r#"{"do":"ok","n":1}"#), ("pay", r#"{"do":"ok","n":2}"#), ("note", r#"{"do":"ok","n":3}"#)];
    let bench = Bench::in_file(&path, [calls(&turn), says("Done.")]);
    let run = bench.run().await.run_id().clone();
    let approvals = bench.approvals(&run).await;
    assert_eq!(approvals.len(), 2); // several calls wait side by side
    assert_eq!(bench.world.entries(), []); // and an allowed effect behind them waits too
    bench.decide(&approvals[1].approval_id, ApprovalState::Granted).await.unwrap();
    bench.decide(&approvals[0].approval_id, ApprovalState::Denied).await.unwrap();
    let bench = restarted(bench, &path);
    let state = bench.resume(&run).await;
    assert_eq!(codes(&state), ["approval_denied", "ok", "ok"]); // appr-parallel-interrupts, R-231
    let ran: Vec<_> = bench.world.entries().into_iter().map(|entry| entry.arguments).collect();
    assert_eq!(ran, [turn[1].1, turn[2].1]);
}

#[tokio::test]
async fn one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let bench = Bench::in_file(&path, [calls(&[("pay", OK), ("nosuch", "{}"), ("pay", OK)]), says("Done.")]);
    let state = bench.run().await;
    let run = state.run_id().clone();
    // The refusal between them is settled already.
    assert_eq!(codes(&state), ["approval_required", "unknown_tool", "approval_required"]);
    for (decided, expected) in [(0, "approval_required"), (1, "ok")] {
        let approval = bench.approvals(&run).await[decided].approval_id.clone();
        bench.decide(&approval, ApprovalState::Granted).await.unwrap();
        let state = bench.resume(&run).await;
        assert_eq!(codes(&state), ["ok", "unknown_tool", expected]);
        assert_eq!(bench.world.entries().len(), decided + 1);
    }
}

#[tokio::test]
async fn a_read_behind_a_waiting_call_runs_when_the_question_runs_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let bench = Bench::in_file(&path, [calls(&[("pay", OK), ("look", OK)]), says("Done.")]);
    let run = bench.run().await.run_id().clone();
    bench.clock.pass(OPEN_FOR);
    let state = bench.resume(&run).await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["approval_expired".to_owned(), "ok".to_owned()]));
}

#[tokio::test]
async fn what_the_policy_forbids_is_asked_of_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::in_file(&folder.path().join("journal.db"), [calls(&[("ban", OK)]), says("Done.")]);
    let state = bench.run().await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["policy_denied".to_owned()])); // appr-vs-policy
    assert!(bench.approvals(state.run_id()).await.is_empty());
}

/// A runner as `bench` would make it, under another policy.
fn under(bench: &Bench, policy: impl PolicyEngine + 'static) -> Runner {
    let gate = Gate::builder(
        Arc::clone(&bench.registry),
        Arc::new(policy),
        Arc::clone(&bench.journal),
        Arc::clone(&bench.redactor),
        bench.clock.clone(),
    );
    let gate = gate.options(GateOptions { approval_expires: OPEN_FOR, ..GateOptions::default() }).build().unwrap();
    Runner::new(Arc::new(gate), bench.ids.clone(), RunnerOptions::default()).with_model(bench.model.clone())
}

#[tokio::test]
async fn a_no_stands_whatever_policy_the_next_process_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    for answer in [ApprovalState::Denied, ApprovalState::Withdrawn] {
        // The first process asks for everything; the second one would let the write pass.
        let bench = Bench::in_file(&path, [calls(&[("note", OK)]), says("Done.")]);
        bench.ids.start_at(answer as u64 * 100);
        let strict = under(&bench, NativePolicy::new().ask_always());
        let state = strict.start(bench.task()).await.unwrap();
        assert_eq!(stop(&state), waits());
        bench.decide_all(state.run_id(), answer).await;
        let state = bench.resume(state.run_id()).await;
        assert_eq!(codes(&state), [format!("approval_{}", answer.word())]); // appr-decline-executes
        assert_eq!(bench.world.entries(), []);
    }
}

#[tokio::test]
async fn a_no_stands_for_a_direct_call_too() {
    for answer in [ApprovalState::Denied, ApprovalState::Withdrawn] {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench::in_file(&folder.path().join("journal.db"), []);
        let direct =
            |approval| DirectCall { approval, ..DirectCall::new(Subject::default(), bench.binding(), "note", OK) };
        let strict = under(&bench, NativePolicy::new().ask_always());
        let approval = strict.call(direct(None)).await.unwrap().result.meta.approval_id;
        bench.decide(approval.as_ref().unwrap(), answer).await.unwrap();
        let refused = bench.runner().call(direct(approval)).await.unwrap();
        assert_eq!(refused.result.code().unwrap().word(), format!("approval_{}", answer.word()));
        assert_eq!(bench.world.entries(), []); // appr-decline-executes
    }
}

#[tokio::test]
async fn a_question_that_stands_already_is_waited_for_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut bench = Bench::in_file(&path, [calls(&[("pay", OK), ("look", OK)]), says("Done.")]);
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::AskedBefore);
    let state = bench.run().await;
    let approval = bench.approvals(state.run_id()).await.remove(0).approval_id;
    assert_eq!(state.stop(), Some(&Stop::WaitingForApproval(vec![approval])));
    bench.decide_all(state.run_id(), ApprovalState::Granted).await;
    let state = bench.resume(state.run_id()).await;
    assert_eq!((stop(&state), codes(&state)), (done(), vec!["ok".to_owned(); 2]));
    assert_eq!(bench.world.entered(), ["pay", "look"]);
}

#[tokio::test]
async fn policy_and_definition_are_looked_at_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    bench.decide_all(&run, ApprovalState::Granted).await;
    let mut changed = lockgate_contract::tool::ToolSpec::builder("pay")
        .input_schema_text(r#"{"type":"object"}"#)
        .handler(lockgate_contract::tool::Handler::untyped(|_, _| async { panic!("this is another tool") }));
    changed = changed.version("2.0");
    bench.registry.replace(changed.build().unwrap(), ReplacementRule::Stop).unwrap();
    let state = bench.resume(&run).await;
    assert_eq!(codes(&state), ["definition_changed"]); // appr-shown-is-executed: what was approved is what runs
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test]
async fn a_revoked_tool_stays_unrun_though_it_was_approved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    bench.decide_all(&run, ApprovalState::Granted).await;
    bench.registry.revoke("pay");
    let state = bench.resume(&run).await;
    assert_eq!(codes(&state), ["unknown_tool"]);
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_who_resume_at_the_same_time_run_the_effect_once() {
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (bench, run) = waiting(&path).await;
        bench.decide_all(&run, ApprovalState::Granted).await;
        let other = SqliteJournal::open(&path, bench.clock.clone()).unwrap();
        let second = Bench {
            journal: Arc::new(other),
            world: Arc::clone(&bench.world),
            registry: crate::tools::registry(&bench.world),
            ..Bench::over(bench.journal.clone(), bench.clock.clone(), [calls(&[("pay", OK)]), says("Paid, or not.")])
        };
        let resume = |bench: &Bench| {
            let (runner, run) = (bench.runner(), run.clone());
            tokio::spawn(async move { runner.resume(&run, Resume::default()).await })
        };
        let (one, two) = (resume(&bench), resume(&second));
        let results = [one.await.unwrap(), two.await.unwrap()];
        assert_eq!(bench.world.entered().len(), 1, "round {round}"); // R-128, appr-replay
        // One drives it; the other finds it driven, or done.
        for result in &results {
            match result {
                Ok(state) => assert_eq!((stop(state), codes(state)), (done(), vec!["ok".to_owned()])),
                Err(error) => assert!(matches!(error, RunError::Busy(_)), "round {round}: {error}"),
            }
        }
        assert!(results.iter().any(Result::is_ok), "round {round}");
        crate::invariants::assert_hold(&bench.events(&run).await); // R-209, R-212
    }
}

#[tokio::test]
async fn what_is_shown_while_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bench, run) = waiting(&path).await;
    let state = bench.runner().state(&run).await.unwrap();
    let result = RunResult::of(&state);
    let approval = bench.approvals(&run).await.remove(0);
    assert_eq!(result.calls[0].approval_id.as_ref(), Some(&approval.approval_id));
    assert_eq!((result.steps, result.valid_actions), (1, 0));
    assert!(approval.shown_text.contains("pay 1.0 wants to run with effect external"), "{}", approval.shown_text);
}
