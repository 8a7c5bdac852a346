//! What several handles do in one journal: those of another process, or of the next one.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::ids::{ApprovalId, ArtifactId};
use lockgate_contract::ports::{ClaimRefused, JournalError};

use crate::support::{Fixture, artifact, assert_gap_free, claim, decision, event, settling};

contract_of_what_is_kept! {
    everything_is_there_after_a_reopen;
    a_dropped_journal_has_written_what_was_asked_for;
    two_handles_write_one_run_without_gaps;
    what_one_handle_decides_the_other_one_sees_and_uses;
    news_of_another_journal_value_come_too;
}

async fn everything_is_there_after_a_reopen(mut f: Fixture) {
    let run = f.create("run-a").await;
    let call = run.call(0, 0);
    f.ask(&run, "apr-1").await;
    f.decide("apr-1", ApprovalState::Granted).await;
    f.journal.claim(&run, claim(&call, 1, Some("apr-1")), vec![event("tool.started")]).await.unwrap();
    f.journal
        .settle(&run, settling(&call, Some(artifact("art-1", "whole"))), vec![event("tool.finished")])
        .await
        .unwrap();
    f.journal.append(&run, vec![event("run.completed")]).await.unwrap();
    let before = f.everything(&run).await;

    let second = f.second();
    f.journal = second;
    assert_eq!(f.everything(&run).await, before);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-1")).await.unwrap().as_deref(), Some("whole"));
    let refused = f.journal.claim(&run, claim(&call, 2, None), Vec::new()).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::AlreadyClaimed);
    let again = f.journal.settle(&run, settling(&call, None), Vec::new()).await.unwrap_err();
    assert_eq!(again, JournalError::AlreadySettled(call));
    let next = f.journal.append(&run, vec![event("x.a")]).await.unwrap();
    assert_eq!(next[0].seq, 7);
}

async fn a_dropped_journal_has_written_what_was_asked_for(f: Fixture) {
    let run = f.create("run-a").await;
    let second = f.second();
    {
        // Asked for, and then not waited for.
        let mut write = second.append(&run, vec![event("x.a")]);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(write.as_mut().poll(&mut context).is_pending());
    }
    // Waits for what was asked for.
    drop(second);
    assert_eq!(f.kinds(&run).await, ["run.started", "x.a"]);
}

async fn two_handles_write_one_run_without_gaps(f: Fixture) {
    let run = f.create("run-a").await;
    let mut tasks = Vec::new();
    for journal in [f.journal.clone(), f.second()] {
        for _ in 0..4 {
            let (journal, run) = (journal.clone(), run.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..25 {
                    journal.append(&run, vec![event("x.a"), event("x.b")]).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    let events = f.events(&run).await;
    assert_eq!(events.len(), 1 + 2 * 4 * 25 * 2);
    assert_gap_free(&events);
}

async fn what_one_handle_decides_the_other_one_sees_and_uses(f: Fixture) {
    let other = f.second();
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    other.decide(decision("apr-1", ApprovalState::Granted)).await.unwrap();
    let id = ApprovalId::new("apr-1");
    assert_eq!(f.journal.approval(&id).await.unwrap().unwrap().state, ApprovalState::Granted);
    f.journal.claim(&run, claim(&run.call(0, 0), 1, Some("apr-1")), Vec::new()).await.unwrap();
    let refused = other.claim(&run, claim(&run.call(0, 0), 1, Some("apr-1")), Vec::new()).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::AlreadyClaimed);
    assert_eq!(other.approval(&id).await.unwrap().unwrap().state, ApprovalState::Consumed);
}

async fn news_of_another_journal_value_come_too(f: Fixture) {
    let run = f.create("run-a").await;
    let other = f.second();
    let (heard, ()) = tokio::join!(f.journal.follow(&run, 1), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        other.append(&run, vec![event("note.added")]).await.unwrap();
    });
    assert_eq!(heard.unwrap()[0].seq, 2);
}
