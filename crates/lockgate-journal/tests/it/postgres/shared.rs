//! What several programs do in one database.

use std::sync::Arc;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::ids::{ApprovalId, ArtifactId};
use lockgate_contract::ports::{ClaimRefused, Journal, JournalError};
use tokio_postgres::{AsyncMessage, NoTls};

use crate::support::{Fixture, artifact, assert_gap_free, caller_key, claim, decision, event, settling};

#[tokio::test]
async fn everything_is_there_after_a_reopen() {
    let mut f = Fixture::postgres();
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
    let again = f.journal.settle(&run, settling(&call, None), Vec::new()).await.unwrap_err();
    assert_eq!(again, JournalError::AlreadySettled(call));
    assert_eq!(f.journal.append(&run, vec![event("x.a")]).await.unwrap()[0].seq, 7);
}

#[tokio::test]
async fn what_nobody_waits_for_is_written_all_the_same() {
    let f = Fixture::postgres();
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_handles_write_one_run_without_gaps() {
    let f = Fixture::postgres();
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

#[tokio::test]
async fn what_one_handle_decides_the_other_one_sees_and_uses() {
    let f = Fixture::postgres();
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

/// Runs are locked apart from each other: only the key itself can say who came first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_runs_gets_a_key_that_both_want_at_once() {
    let f = Fixture::postgres();
    let journals = [f.journal.clone(), f.second()];
    let runs = [f.create("run-a").await, f.create("run-b").await];
    for round in 0..20 {
        let mut tasks = Vec::new();
        for (journal, run) in journals.iter().zip(&runs) {
            let (journal, run): (Arc<dyn Journal>, _) = (journal.clone(), run.clone());
            let mut claim = claim(&run.call(round, 0), 1, None);
            // A caller may write anything.
            claim.caller_key = Some(caller_key(&format!("key \0 {round}"), "request"));
            tasks.push(tokio::spawn(async move { journal.claim(&run, claim, vec![event("tool.started")]).await }));
        }
        let mut holders = Vec::new();
        let mut accepted = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                Ok(events) => accepted.push(events[0].run_id.clone()),
                Err(ClaimRefused::KeyTaken(holder)) => holders.push(holder.run_id.clone()),
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!((accepted.len(), &accepted), (1, &holders), "round {round}");
    }
}

#[tokio::test]
async fn whoever_listens_is_told_which_run_has_something_new() {
    let f = Fixture::postgres();
    let database = f.database.as_ref().unwrap();
    let (client, mut connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                let _ = sender.send((notification.channel().to_owned(), notification.payload().to_owned()));
            }
        }
    });
    client.batch_execute("LISTEN lockgate_runs").await.unwrap();
    let mut told = async || told.recv().await.unwrap();
    let of = |run: &str| ("lockgate_runs".to_owned(), run.to_owned());
    let run = f.create("run-a").await;
    assert_eq!(told().await, of("run-a"));
    let other = f.create("run-b").await;
    assert_eq!(told().await, of("run-b"));
    f.journal.append(&run, vec![event("x.a")]).await.unwrap();
    assert_eq!(told().await, of("run-a"));
    // Refused, or nothing: there is nothing new.
    f.journal.reconcile(&other, &other.call(0, 0), vec![event("x.a")]).await.unwrap_err();
    f.journal.append(&run, Vec::new()).await.unwrap();
    f.ask(&other, "apr-1").await;
    assert_eq!(told().await, of("run-b"));
}

#[tokio::test]
async fn an_event_cannot_be_rewritten() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    let before = f.everything(&run).await;
    // Not even by the one who is above everything else.
    let administrator = f.database.as_ref().unwrap().administrator().await;
    for sql in ["UPDATE lockgate.event SET data = '{}'", "DELETE FROM lockgate.event", "TRUNCATE lockgate.event"] {
        let error = administrator.execute(sql, &[]).await.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().message(), "an event is never rewritten", "{sql}");
    }
    assert_eq!(f.everything(&run).await, before);
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_not_guessed() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let administrator = f.database.as_ref().unwrap().administrator().await;
    administrator
        .batch_execute(
            "ALTER TABLE lockgate.event DISABLE TRIGGER ALL;
             UPDATE lockgate.event SET data = '{' WHERE seq = 2;
             UPDATE lockgate.run SET status = 'paused';
             UPDATE lockgate.approval SET question = '{}';",
        )
        .await
        .unwrap();
    let told = f.journal.events(&run, 0).await.unwrap_err();
    assert!(matches!(&told, JournalError::Corrupt(text) if text.contains("event 2 of run `run-a`")), "{told:?}");
    let told = f.journal.run(&run).await.unwrap_err();
    assert!(matches!(&told, JournalError::Corrupt(text) if text.contains("`paused`")), "{told:?}");
    let told = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap_err();
    assert!(matches!(told, JournalError::Corrupt(_)), "{told:?}");
    administrator.batch_execute("UPDATE lockgate.run SET title = '\\xff', status = NULL").await.unwrap();
    let told = f.journal.run(&run).await.unwrap_err();
    assert!(matches!(told, JournalError::Corrupt(_)), "{told:?}");
}
