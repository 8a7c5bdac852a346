//! What several programs do in one database.

use std::sync::Arc;

use lockgate_contract::ids::ApprovalId;
use lockgate_contract::ports::{ClaimRefused, Journal, JournalError};
use tokio_postgres::{AsyncMessage, NoTls};

use crate::support::{Fixture, caller_key, claim, event};

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
