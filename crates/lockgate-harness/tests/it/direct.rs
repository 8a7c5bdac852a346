//! Calls without a model.

use std::sync::Arc;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Event, Finding};
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::outcome::Status;
use lockgate_contract::run::RunStatus;
use lockgate_contract::subject::Subject;
use lockgate_harness::{DirectAnswer, DirectCall, Reconciliation, Resume, RunError, Stop};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, OPEN_FOR};
use crate::journals::{Fault, Faulty};
use crate::model::{calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

fn direct(bench: &Bench, tool: &str, arguments: &str) -> DirectCall {
    DirectCall::new(Subject::default(), bench.binding(), tool, arguments)
}

async fn call(bench: &Bench, tool: &str, arguments: &str) -> DirectAnswer {
    bench.runner().call(direct(bench, tool, arguments)).await.unwrap()
}

async fn call_with(bench: &Bench, tool: &str, arguments: &str, approval: &ApprovalId) -> DirectAnswer {
    let direct = DirectCall { approval: Some(approval.clone()), ..direct(bench, tool, arguments) };
    bench.runner().call(direct).await.unwrap()
}

/// The code of an answer, `ok` on success.
fn code(answer: &DirectAnswer) -> &str {
    answer.result.code().map_or("ok", |code| code.word())
}

/// A payment that waits, and its question.
async fn waiting(bench: &Bench) -> ApprovalId {
    let answer = call(bench, "pay", OK).await;
    assert_eq!((code(&answer), answer.status, answer.effect_state), ("approval_required", None, EffectState::None)); // R-168
    answer.result.meta.approval_id.unwrap()
}

async fn stopped(bench: &Bench, answer: &DirectAnswer) -> RunStatus {
    bench.runner().state(&answer.run_id).await.unwrap().stop().map(Stop::status).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_call_has_a_run_of_its_own() {
    let bench = Bench::new([]);
    let first = call(&bench, "look", OK).await;
    let second = call(&bench, "note", OK).await;
    assert_eq!(first.result.call_id.as_str(), "run-000000000001:step-0:call-0"); // R-207
    assert_eq!(second.result.call_id.as_str(), "run-000000000002:step-0:call-0");
    assert_eq!(first.result.data.as_ref().unwrap().text(), r#"{"n":1}"#);
    assert_eq!((first.status, first.effect_state), (Some(Status::Executed), EffectState::Done));
    assert!(first.times.is_some());
    let expected = ["run.started", "tool.requested", "tool.started", "tool.finished", "run.completed"];
    assert_eq!(bench.kinds(&first.run_id).await, expected); // R-063
    let state = bench.runner().state(&second.run_id).await.unwrap();
    assert_eq!((state.steps(), state.valid_actions()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn refusals_and_failures_are_answers_too() {
    let bench = Bench::new([]);
    let table = [
        ("nosuch", "{}", "unknown_tool", RunStatus::Completed),
        ("look", "{", "invalid_arguments", RunStatus::Completed),
        ("ban", OK, "policy_denied", RunStatus::Completed),
        ("look", r#"{"do":"business"}"#, "not_found", RunStatus::Completed),
        ("look", r#"{"do":"panic"}"#, "tool_internal_error", RunStatus::Completed),
        ("note", r#"{"do":"broken"}"#, "environment_error", RunStatus::Completed),
        ("note", r#"{"do":"hangs"}"#, "timed_out", RunStatus::NeedsReconciliation),
        ("look", r#"{"do":"lost"}"#, "outcome_unknown", RunStatus::NeedsReconciliation),
    ];
    for (tool, arguments, expected, status) in table {
        let answer = call(&bench, tool, arguments).await;
        assert_eq!((code(&answer), stopped(&bench, &answer).await), (expected, status), "{tool} {arguments}");
        assert_eq!(answer.effect_state == EffectState::Unknown, status == RunStatus::NeedsReconciliation);
        assert!(answer.audit.text.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_call_again_with_its_approval() {
    let bench = Bench::new([]);
    let approval = waiting(&bench).await;
    // Not decided yet: the same answer.
    let still = call_with(&bench, "pay", OK, &approval).await;
    assert_eq!((code(&still), stopped(&bench, &still).await), ("approval_required", RunStatus::WaitingForApproval));
    bench.decide(&approval, ApprovalState::Granted).await.unwrap();
    assert_eq!(bench.world.entries(), []);
    // The same value, written differently, is the same call.
    let done = call_with(&bench, "pay", r#"{ "n": 1.0, "do": "o\u006b" }"#, &approval).await;
    assert_eq!((code(&done), &done.result.call_id), ("ok", &still.result.call_id)); // R-172
    assert_eq!((done.result.meta.deduplicated.clone(), stopped(&bench, &done).await), (None, RunStatus::Completed));

    // Once more: the stored result, marked as such (S-31).
    let before = bench.bytes(&done.run_id).await;
    let again = call_with(&bench, "pay", OK, &approval).await;
    assert_eq!(again.result.meta.deduplicated.as_ref(), Some(&done.result.call_id));
    assert_eq!(again.result.data.as_ref().unwrap().text(), done.result.data.as_ref().unwrap().text());
    assert_eq!((again.status, again.times.is_none()), (Some(Status::Executed), true));
    assert_eq!((bench.bytes(&done.run_id).await, bench.world.entries().len()), (before, 1)); // appr-replay
}

#[tokio::test(start_paused = true)]
async fn another_call_than_the_approved_one_leaves_it_open() {
    let bench = Bench::new([]);
    let approval = waiting(&bench).await;
    for granted in [false, true] {
        if granted {
            bench.decide(&approval, ApprovalState::Granted).await.unwrap();
        }
        let run = bench.approvals(&"run-000000000001".into()).await.remove(0).run_id;
        let before = bench.bytes(&run).await;
        let others = [
            ("pay", r#"{"do":"ok","n":5000}"#), // appr-args-bound
            ("pay", "{"),                       // not even arguments
            ("pay", r#"{"n":1}"#),              // not what the tool takes
            ("look", OK),                       // a tool that would be let pass
            ("note", OK),
            ("nosuch", OK),
        ];
        for (tool, arguments) in others {
            let answer = call_with(&bench, tool, arguments, &approval).await;
            assert_eq!((code(&answer), answer.status), ("approval_stale", None), "{tool} {arguments}");
            assert_eq!(answer.result.meta.approval_id.as_ref(), Some(&approval));
            assert_eq!((&answer.result.tool_name[..], answer.effect_state), (tool, EffectState::None));
        }
        assert_eq!(bench.bytes(&run).await, before);
        assert_eq!(bench.world.entries(), []);
    }
    let done = call_with(&bench, "pay", OK, &approval).await;
    assert_eq!((code(&done), bench.world.entered()), ("ok", vec!["pay"]));
    // And the result of the approved call is no answer to another one.
    assert_eq!(code(&call_with(&bench, "pay", r#"{"do":"ok","n":5000}"#, &approval).await), "approval_stale");
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_nobody_elses() {
    let bench = Bench::new([]);
    let approval = waiting(&bench).await;
    bench.decide(&approval, ApprovalState::Granted).await.unwrap();
    let own = Subject::default();
    let others = [
        Subject { tenant: "other".to_owned(), ..own.clone() },
        Subject { user: "mallory".to_owned(), ..own.clone() },
        Subject { agent: "another".to_owned(), ..own },
    ];
    for done in [false, true] {
        for subject in &others {
            let stranger =
                DirectCall { subject: subject.clone(), approval: Some(approval.clone()), ..direct(&bench, "pay", OK) };
            let answer = bench.runner().call(stranger).await.unwrap();
            // Neither the effect nor a result that is not theirs (R-231).
            assert_eq!((code(&answer), answer.result.data.is_none()), ("approval_stale", true));
        }
        assert_eq!(bench.world.entries().len(), usize::from(done));
        call_with(&bench, "pay", OK, &approval).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_granted_is_settled() {
    for (answer, expected) in [
        (Some(ApprovalState::Denied), "approval_denied"),
        (Some(ApprovalState::Withdrawn), "approval_withdrawn"),
        (None, "approval_expired"),
    ] {
        let bench = Bench::new([]);
        let approval = waiting(&bench).await;
        match answer {
            Some(answer) => drop(bench.decide(&approval, answer).await.unwrap()),
            None => bench.clock.pass(OPEN_FOR),
        }
        let done = call_with(&bench, "pay", OK, &approval).await;
        assert_eq!((code(&done), stopped(&bench, &done).await), (expected, RunStatus::Completed));
        assert_eq!((done.status, done.result.meta.deduplicated.is_none()), (Some(Status::NotExecuted), true));
        let again = call_with(&bench, "pay", OK, &approval).await;
        assert_eq!((code(&again), again.result.meta.deduplicated.is_some()), (expected, true));
        assert_eq!(bench.world.entries(), []); // R-173
    }
}

#[tokio::test(start_paused = true)]
async fn an_agents_question_is_not_answered_by_a_direct_call() {
    let bench = Bench::new([calls(&[("pay", OK)]), says("Done.")]);
    let run = bench.run().await;
    bench.decide_all(run.run_id(), ApprovalState::Granted).await;
    let approval = bench.approvals(run.run_id()).await.remove(0).approval_id;
    let again = DirectCall { approval: Some(approval), ..direct(&bench, "pay", OK) };
    let error = bench.runner().call(again).await.unwrap_err();
    assert!(matches!(error, RunError::WrongKind { .. }), "{error}");
    assert_eq!(bench.world.entries(), []);
}

#[tokio::test(start_paused = true)]
async fn a_direct_run_has_no_driver() {
    let bench = Bench::new([]);
    waiting(&bench).await;
    let run = "run-000000000001".into();
    let error = bench.runner().resume(&run, Resume::default()).await.unwrap_err();
    assert!(matches!(error, RunError::WrongKind { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_direct_run_whose_caller_died_is_brought_to_its_end() {
    // The commits of such a run: start, claim, result with its end.
    let table = [
        (Fault::Dead(2), "look", "cancelled", RunStatus::Cancelled, 1), // a read leaves no trace of its start
        (Fault::Dead(2), "note", "cancelled", RunStatus::Cancelled, 0),
        (Fault::DeadAfter(2), "note", "outcome_unknown", RunStatus::NeedsReconciliation, 0), // R-126
        (Fault::Dead(3), "note", "outcome_unknown", RunStatus::NeedsReconciliation, 1),
        (Fault::DeadAfter(3), "note", "ok", RunStatus::Completed, 1),
    ];
    for (fault, tool, expected, status, entries) in table {
        let mut bench = Bench::new([]);
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, fault);
        let dies = tokio::time::timeout(std::time::Duration::from_secs(100), call(&bench, tool, OK));
        assert!(dies.await.is_err());
        let bench = bench.restarted(disk);
        let run = "run-000000000001".into();
        let state = bench.runner().resume(&run, Resume::default()).await.unwrap();
        assert_eq!(state.stop().map(Stop::status), Some(status), "{fault:?}");
        // Nothing was asked for before the start was written: there is no call then, and nothing ran for it.
        let codes = crate::bench::codes(&state);
        assert!(codes.is_empty() && expected == "cancelled" || codes == [expected], "{fault:?}: {codes:?}");
        assert_eq!(bench.world.entries().len(), entries, "{fault:?}");
        assert_eq!(lockgate_harness::check::events(&bench.events(&run).await), []);
    }
}

/// Found by the crash matrix: the end of a run that had stopped came without `run.resumed`.
#[tokio::test(start_paused = true)]
async fn a_direct_run_goes_on_once_somebody_knows_what_became_of_it() {
    for (finding, status, reason) in [
        (Finding::Done, RunStatus::Completed, "call_settled"),
        (Finding::NotDone, RunStatus::Cancelled, "cancelled"),
        // Nobody will find out: the run does not wait for it for ever.
        (Finding::Abandoned, RunStatus::Completed, "call_settled"),
    ] {
        let mut bench = Bench::new([]);
        let disk = Arc::clone(&bench.journal);
        bench.journal = Faulty::new(&disk, Fault::Dead(3));
        let dies = tokio::time::timeout(std::time::Duration::from_secs(100), call(&bench, "note", OK));
        assert!(dies.await.is_err());
        let bench = bench.restarted(disk);
        let run: RunId = "run-000000000001".into();
        bench.runner().resume(&run, Resume::default()).await.unwrap();
        let found = Reconciliation { call_id: run.call(0, 0), finding, by: "alice".to_owned(), reason: None };
        bench.runner().reconcile(&run, found).await.unwrap();
        let state = bench.runner().resume(&run, Resume::default()).await.unwrap();
        assert_eq!(crate::bench::stop(&state), (status, reason.to_owned()));
        assert_eq!(lockgate_harness::check::events(&bench.events(&run).await), []);
        assert_eq!(bench.world.entries().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_caller_does_not_disturb_the_first() {
    let bench = Bench::new([]);
    let slow = r#"{"do":"slow","n":1}"#;
    let approval = call(&bench, "pay", slow).await.result.meta.approval_id.unwrap();
    bench.decide(&approval, ApprovalState::Granted).await.unwrap();
    let (first, second) =
        tokio::join!(call_with(&bench, "pay", slow, &approval), call_with(&bench, "pay", slow, &approval));
    assert_eq!((code(&first), first.status), ("ok", Some(Status::Executed)));
    assert_eq!((code(&second), second.status), ("in_progress", None));
    let later = call_with(&bench, "pay", slow, &approval).await;
    assert_eq!((code(&later), later.result.meta.deduplicated.is_some()), ("ok", true));
    assert_eq!(bench.world.entered(), ["pay"]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_not_there() {
    let bench = Bench::new([]);
    let again = DirectCall { approval: Some("apr-0000000000000000".into()), ..direct(&bench, "pay", OK) };
    let error = bench.runner().call(again).await.unwrap_err();
    assert!(matches!(&error, RunError::NoSuchApproval(_)), "{error}");
    assert_eq!(bench.journal.runs(lockgate_contract::ports::RunFilter::default()).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn cancelled_before_and_during() {
    for (tool, expected, status) in
        [("look", "interrupted", RunStatus::Cancelled), ("note", "interrupted", RunStatus::NeedsReconciliation)]
    {
        let mut bench = Bench::new([]);
        bench.cancel.cancel();
        let never = call(&bench, tool, OK).await;
        assert_eq!((code(&never), never.status), ("cancelled", Some(Status::NotExecuted)));
        assert_eq!((stopped(&bench, &never).await, bench.world.entries()), (RunStatus::Cancelled, Vec::new()));

        bench.cancel = CancellationToken::new();
        let cancel = async {
            bench.world.hanging.notified().await;
            bench.cancel.cancel();
        };
        let (answer, ()) = tokio::join!(call(&bench, tool, r#"{"do":"hangs"}"#), cancel);
        assert_eq!((code(&answer), stopped(&bench, &answer).await), (expected, status), "{tool}");
        // It is this call's own result, not somebody else's.
        assert_eq!((answer.result.meta.deduplicated.as_ref(), answer.status), (None, Some(Status::Executed)));
        let kinds = bench.kinds(&answer.run_id).await;
        assert_eq!(kinds.iter().filter(|kind| *kind == "tool.requested").count(), 1, "{kinds:?}"); // R-212
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_caller_died_is_unknown_and_never_run_again() {
    let mut bench = Bench::new([]);
    let approval = waiting(&bench).await;
    bench.decide(&approval, ApprovalState::Granted).await.unwrap();
    // run.resumed, then the claim: the effect happens, and its result finds no journal.
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Dead(3));
    let dies = tokio::time::timeout(std::time::Duration::from_secs(100), call_with(&bench, "pay", OK, &approval));
    assert!(dies.await.is_err());
    assert_eq!(bench.world.entered(), ["pay"]);
    let bench = bench.restarted(disk);
    let answer = call_with(&bench, "pay", OK, &approval).await;
    assert_eq!((code(&answer), answer.effect_state), ("outcome_unknown", EffectState::Unknown)); // R-126, R-128
    assert_eq!(stopped(&bench, &answer).await, RunStatus::NeedsReconciliation);
    assert_eq!(code(&call_with(&bench, "pay", OK, &approval).await), "outcome_unknown");
    assert_eq!(bench.world.entered(), ["pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_could_not_be_stored_ends_no_run() {
    let mut bench = Bench::new([]);
    let disk = Arc::clone(&bench.journal);
    bench.journal = Faulty::new(&disk, Fault::Fails(3));
    let answer = call(&bench, "note", OK).await;
    assert_eq!((code(&answer), answer.result.data.is_none()), ("result_not_recorded", true));
    let kinds: Vec<Event> = disk.events(&answer.run_id, 0).await.unwrap();
    assert_eq!(kinds.last().unwrap().kind.word(), "tool.started");
}

#[tokio::test(start_paused = true)]
async fn events_of_direct_calls_are_seen_as_they_come() {
    let bench = Bench::new([]);
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    let options = lockgate_harness::RunnerOptions {
        observer: Some(Arc::new(move |event: &Event| into.lock().unwrap().push(event.seq))),
        ..lockgate_harness::RunnerOptions::default()
    };
    let runner = lockgate_harness::Runner::new(Arc::clone(bench.runner().gate()), bench.ids.clone(), options);
    let answer = runner.call(direct(&bench, "note", OK)).await.unwrap();
    let stored: Vec<u64> = bench.events(&answer.run_id).await.iter().map(|event| event.seq).collect();
    assert_eq!(*seen.lock().unwrap(), stored); // R-209
}
