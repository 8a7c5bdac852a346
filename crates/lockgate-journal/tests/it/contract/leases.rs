//! Who drives a run; results of attempts that were thought lost, and what is found out about them.

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Body, EventType, Finding};
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{ClaimRefused, JournalError, Lease, Settling};
use lockgate_contract::run::RunStatus;

use crate::support::{Fixture, approval, assert_gap_free, claim, event, found, settled, settling};

contract! {
    whoever_takes_a_run_over_shuts_out_the_one_before;
    the_result_of_a_lost_driver_settles_its_call;
    a_run_ends_in_the_commit_of_a_result;
    a_result_that_comes_late_changes_nothing;
    a_late_result_answers_what_was_unknown;
    what_is_unknown_is_found_out_once;
    what_did_not_happen_may_be_tried_again;
}

/// Takes a run over, as a driver does that goes on with it.
async fn take_over(f: &Fixture, run: &Lease) -> Lease {
    let hold = f.journal.hold(run).await.unwrap().unwrap();
    hold.lease().clone()
}

/// The result of an attempt.
fn of_attempt(call: &CallId, attempt: u32) -> Settling {
    Settling { attempt, ..settling(call, None) }
}

async fn whoever_takes_a_run_over_shuts_out_the_one_before(f: Fixture) {
    let first = f.create("run-a").await;
    let (one, other) = (first.call(0, 0), first.call(0, 1));
    f.journal.claim(&first, claim(&one, 1, None), vec![event("tool.started")]).await.unwrap();
    let second = take_over(&f, &first).await;
    assert_eq!((first.epoch, second.epoch), (1, 2));
    let taken = f.events(&first).await.pop().unwrap();
    let Ok(Body::RunLeaseTaken(body)) = taken.body() else { panic!("{taken:?}") };
    assert_eq!((taken.kind.clone(), body.epoch), (EventType::RunLeaseTaken, 2));

    let before = f.everything(&first).await;
    let fenced = JournalError::Fenced { run: first.run_id.clone() };
    assert_eq!(f.journal.append(&first, vec![event("note.added")]).await.unwrap_err(), fenced);
    assert_eq!(f.journal.append(&first, Vec::new()).await.unwrap_err(), fenced);
    let asked = f.journal.ask(&first, approval(&first, "apr-1"), Vec::new()).await;
    assert_eq!(asked.unwrap_err(), fenced);
    let started = || vec![event("tool.started")];
    let refused = f.journal.claim(&first, claim(&other, 1, None), started()).await;
    assert_eq!(refused.unwrap_err(), ClaimRefused::Journal(fenced.clone()));
    let reconciled = f.journal.reconcile(&first, &one, vec![found(&one, Finding::NotDone)]).await;
    assert_eq!(reconciled.unwrap_err(), fenced);
    // A result that is no attempt's, of a call that is open and of one that was never started.
    for call in [&one, &other] {
        let result = f.journal.settle(&first, settling(call, None), vec![settled(call, EffectState::None)]).await;
        assert_eq!(result.unwrap_err(), fenced);
    }
    assert_eq!(f.everything(&first).await, before);
    f.journal.claim(&second, claim(&other, 1, None), started()).await.unwrap();
    // Nobody has a lease that was not given out yet.
    let forged = Lease { epoch: 3, ..second.clone() };
    assert_eq!(f.journal.append(&forged, vec![event("note.added")]).await.unwrap_err(), fenced);
    assert_gap_free(&f.events(&first).await);
}

async fn the_result_of_a_lost_driver_settles_its_call(f: Fixture) {
    let first = f.create("run-a").await;
    let call = first.call(0, 0);
    f.journal.claim(&first, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    let second = take_over(&f, &first).await;
    // What becomes of the run is not the lost driver's to say.
    let result = || vec![settled(&call, EffectState::Done), event("run.completed")];
    f.journal.settle(&first, of_attempt(&call, 1), result()).await.unwrap();
    assert_eq!(f.journal.run(&first).await.unwrap().unwrap().status, None);
    assert_eq!(f.kinds(&first).await, ["run.started", "tool.started", "run.lease_taken", "tool.finished"]);
    let again = f.journal.settle(&second, settling(&call, None), result()).await;
    assert_eq!(again.unwrap_err(), JournalError::AlreadySettled(call.clone()));
}

async fn a_run_ends_in_the_commit_of_a_result(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.journal.claim(&run, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    let result = || vec![settled(&call, EffectState::Done), event("run.completed")];
    f.journal.settle(&run, of_attempt(&call, 1), result()).await.unwrap();
    // A result that comes late ends nothing a second time.
    f.journal.settle(&run, Settling { late: true, ..of_attempt(&call, 1) }, result()).await.unwrap();
    let expected = ["run.started", "tool.started", "tool.finished", "run.completed", "tool.answered_late"];
    assert_eq!(f.kinds(&run).await, expected);
    assert_eq!(f.journal.run(&run).await.unwrap().unwrap().status, Some(RunStatus::Completed));
}

async fn a_result_that_comes_late_changes_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    let started = || vec![event("tool.started")];
    f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap();
    f.journal.claim(&run, claim(&call, 2, None), started()).await.unwrap();
    let done = || vec![settled(&call, EffectState::Done)];
    let appended = f.journal.settle(&run, of_attempt(&call, 1), done()).await.unwrap();
    let Ok(Body::ToolAnsweredLate(late)) = appended[0].body() else { panic!("{appended:?}") };
    assert_eq!((appended.len(), late.attempt), (1, 1));
    // The attempt that is under way settles the call, and the first one's result is late afterwards too.
    f.journal.settle(&run, of_attempt(&call, 2), done()).await.unwrap();
    f.journal.settle(&run, of_attempt(&call, 1), done()).await.unwrap();
    let kinds = f.kinds(&run).await;
    assert_eq!(kinds[3..], ["tool.answered_late", "tool.finished", "tool.answered_late"]);
    // An attempt that nobody started has no result.
    let never = f.journal.settle(&run, of_attempt(&call, 3), done()).await;
    assert_eq!(never.unwrap_err(), JournalError::AlreadySettled(call.clone()));
    // Of the attempt that settled the call: twice is once, and what nobody waited for is kept.
    let again = f.journal.settle(&run, of_attempt(&call, 2), done()).await;
    assert_eq!(again.unwrap_err(), JournalError::AlreadySettled(call.clone()));
    let late = Settling { late: true, ..of_attempt(&call, 2) };
    let appended = f.journal.settle(&run, late, done()).await.unwrap();
    assert_eq!(appended[0].kind, EventType::ToolAnsweredLate);
}

async fn a_late_result_answers_what_was_unknown(f: Fixture) {
    let first = f.create("run-a").await;
    let call = first.call(0, 0);
    f.journal.claim(&first, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    let second = take_over(&f, &first).await;
    let unknown = || vec![settled(&call, EffectState::Unknown)];
    f.journal.settle(&second, settling(&call, None), unknown()).await.unwrap();
    // Another unknown says nothing new.
    let again = f.journal.settle(&first, of_attempt(&call, 1), unknown()).await;
    assert_eq!(again.unwrap_err(), JournalError::AlreadySettled(call.clone()));
    let done = || vec![settled(&call, EffectState::Done)];
    let appended = f.journal.settle(&first, of_attempt(&call, 1), done()).await.unwrap();
    let Ok(Body::CallReconciled(found)) = appended[0].body() else { panic!("{appended:?}") };
    assert_eq!((found.finding, found.by.as_str()), (Finding::Done, "late_result"));
    assert!(found.settled.as_ref().is_some_and(|settled| settled.ok));
    let late = Settling { late: true, ..of_attempt(&call, 1) };
    let appended = f.journal.settle(&first, late, done()).await.unwrap();
    assert_eq!(appended[0].kind, EventType::ToolAnsweredLate);
    let twice = f.journal.settle(&first, of_attempt(&call, 1), done()).await;
    assert_eq!(twice.unwrap_err(), JournalError::AlreadySettled(call));
}

async fn what_is_unknown_is_found_out_once(f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    let nothing = JournalError::NothingToReconcile(call.clone());
    let say = async |finding| f.journal.reconcile(&run, &call, vec![found(&call, finding)]).await.map(drop);
    // Not before it was started, not while it may still get its result, not once it has one.
    assert_eq!(say(Finding::Abandoned).await, Err(nothing.clone()));
    f.journal.claim(&run, claim(&call, 1, None), vec![event("tool.started")]).await.unwrap();
    assert_eq!(say(Finding::Abandoned).await, Err(nothing.clone()));
    f.journal.settle(&run, of_attempt(&call, 1), vec![settled(&call, EffectState::Unknown)]).await.unwrap();
    assert_eq!(say(Finding::Abandoned).await, Ok(()));
    assert_eq!(say(Finding::Abandoned).await, Err(nothing.clone()));
    assert_eq!(say(Finding::NotDone).await, Err(nothing));
    // What is found out is said in an event, or it is not said.
    let other = run.call(0, 1);
    f.journal.claim(&run, claim(&other, 1, None), vec![event("tool.started")]).await.unwrap();
    f.journal.settle(&run, of_attempt(&other, 1), vec![settled(&other, EffectState::Unknown)]).await.unwrap();
    let silent = f.journal.reconcile(&run, &other, vec![event("note.added")]).await;
    assert_eq!(silent.unwrap_err(), JournalError::NothingToReconcile(other));
}

async fn what_did_not_happen_may_be_tried_again(f: Fixture) {
    let run = f.create("run-a").await;
    let started = || vec![event("tool.started")];
    // Once a call was settled as unknown, and once while its attempt was only lost.
    for (nth, is_settled) in [(0, true), (1, false)] {
        let call = run.call(0, nth);
        f.journal.claim(&run, claim(&call, 1, None), started()).await.unwrap();
        if is_settled {
            let unknown = vec![settled(&call, EffectState::Unknown)];
            f.journal.settle(&run, of_attempt(&call, 1), unknown).await.unwrap();
            let refused = f.journal.claim(&run, claim(&call, 2, None), started()).await;
            assert_eq!(refused.unwrap_err(), ClaimRefused::AlreadyClaimed);
        }
        f.journal.reconcile(&run, &call, vec![found(&call, Finding::NotDone)]).await.unwrap();
        let first = f.journal.claim(&run, claim(&call, 1, None), started()).await;
        assert_eq!(first.unwrap_err(), ClaimRefused::AlreadyClaimed);
        // What the first attempt says now is late, whatever it says.
        let late = f.journal.settle(&run, of_attempt(&call, 1), vec![settled(&call, EffectState::Done)]).await.unwrap();
        assert_eq!(late[0].kind, EventType::ToolAnsweredLate);
        f.journal.claim(&run, claim(&call, 2, None), started()).await.unwrap();
        f.journal.settle(&run, of_attempt(&call, 2), vec![settled(&call, EffectState::Done)]).await.unwrap();
    }
}
