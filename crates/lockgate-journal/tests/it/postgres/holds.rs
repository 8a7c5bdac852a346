//! The right to drive a run, among programs that share a database.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{ClaimRefused, Journal, JournalError, Lease};
use lockgate_journal::{PostgresClock, PostgresJournal, PostgresOptions};

use crate::support::database::options;
use crate::support::{Fixture, assert_gap_free, claim, event, new_run};

/// Longer than the lease of every test journal that does not say otherwise.
const LEASE: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_handles_and_one_holds() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    let journals: Vec<_> = (0..4).map(|_| f.second()).collect();
    // What the maker's handle let go is free when the handle is gone.
    let Fixture { journal, database, .. } = f;
    drop(journal);
    let (holders, taken) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let tasks: Vec<_> = journals
        .into_iter()
        .map(|journal| {
            let (run, holders, taken) = (run.run_id.clone(), Arc::clone(&holders), Arc::clone(&taken));
            tokio::spawn(async move {
                for _ in 0..40 {
                    if let Some(held) = journal.hold(&run).await.unwrap() {
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        tokio::task::yield_now().await;
                        holders.fetch_sub(1, Ordering::SeqCst);
                        taken.fetch_add(1, Ordering::SeqCst);
                        drop(held);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let administrator = database.as_ref().unwrap().administrator().await;
    let row = administrator.query_one("SELECT epoch FROM lockgate.run", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), i64::from(1 + taken.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn a_paused_holder_is_shut_out_when_its_lease_is_over() {
    let f = Fixture::postgres();
    let (maker, _) = f.journal.create_run(new_run("run-a")).await.unwrap();
    let run = maker.lease().clone();
    let other = f.second();
    assert!(other.hold(&run).await.unwrap().is_none());
    f.clock.pass(LEASE.saturating_sub(Duration::from_millis(1)));
    assert!(other.hold(&run).await.unwrap().is_none());
    f.clock.pass(Duration::from_millis(1));
    let taken = other.hold(&run).await.unwrap().unwrap();
    assert_eq!(taken.lease().epoch, 2);
    assert_eq!(f.kinds(&run).await, ["run.started", "run.lease_taken"]);

    // The one that was paused goes on, and finds that it may not.
    let fenced = JournalError::Fenced { run: run.run_id.clone() };
    assert_eq!(f.journal.append(&run, vec![event("x.a")]).await.unwrap_err(), fenced);
    let told = f.journal.claim(&run, claim(&run.call(0, 0), 1, None), vec![event("tool.started")]).await;
    assert_eq!(told.unwrap_err(), ClaimRefused::Journal(fenced));
    // That it lets go frees nothing.
    drop(maker);
    assert!(f.journal.hold(&run).await.unwrap().is_none());
    other.append(taken.lease(), vec![event("x.a")]).await.unwrap();
}

#[tokio::test]
async fn a_run_that_is_let_go_is_free_for_others() {
    let f = Fixture::postgres();
    let (held, _) = f.journal.create_run(new_run("run-a")).await.unwrap();
    let (run, other) = (held.lease().clone(), f.second());
    // The journal goes first: its lease outlives it, and is given back all the same.
    drop(f.journal);
    assert!(other.hold(&run).await.unwrap().is_none());
    drop(held);
    assert!(other.hold(&run).await.unwrap().is_some());
}

/// The release goes over another connection than what is asked next, and could come later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_lets_a_run_go_can_take_it_again_at_once() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    for epoch in 2..300 {
        let held = f.journal.hold(&run).await.unwrap().unwrap();
        assert_eq!(held.lease().epoch, epoch);
        drop(held);
    }
}

#[tokio::test]
async fn a_lease_is_renewed_while_it_is_held() {
    let f = Fixture::postgres();
    let database = f.database.as_ref().unwrap();
    // By the database's clock, as in production.
    let short = PostgresOptions {
        clock: PostgresClock::Database,
        lease: Duration::from_millis(900),
        ..options(f.clock.clone())
    };
    let journal = PostgresJournal::open_with(&database.url(), short.clone()).unwrap();
    let other = PostgresJournal::open_with(&database.url(), short).unwrap();
    let (held, _) = journal.create_run(new_run("run-a")).await.unwrap();
    let run = held.lease().run_id.clone();
    let administrator = database.administrator().await;
    let until = async || {
        let row = administrator.query_one("SELECT lease_until FROM lockgate.run", &[]).await.unwrap();
        row.get::<_, Option<i64>>(0)
    };
    let first = until().await.unwrap();
    // Twice as long as it would stand without.
    while until().await.unwrap() < first + 1800 {
        assert!(other.hold(&run).await.unwrap().is_none());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(held);
    drop(journal);
    assert_eq!(until().await, None);
    assert_eq!(other.hold(&run).await.unwrap().unwrap().lease().epoch, 2);
}

const CHILD_URL: &str = "JOURNAL_OF_CHILD";

fn short_lease() -> PostgresOptions {
    PostgresOptions {
        clock: PostgresClock::Database,
        lease: Duration::from_millis(600),
        ..options(crate::support::ManualClock::new())
    }
}

/// Not a test of its own: the driver that is killed in `a_driver_that_is_killed_is_followed_when_its_lease_is_over`.
#[tokio::test]
#[ignore = "started by another test, as a process of its own"]
async fn child_that_drives() {
    let Ok(url) = std::env::var(CHILD_URL) else {
        return;
    };
    let journal = PostgresJournal::open_with(&url, short_lease()).unwrap();
    let (hold, _) = journal.create_run(new_run("run-a")).await.unwrap();
    loop {
        journal.append(hold.lease(), vec![event("x.a"), event("x.b")]).await.unwrap();
    }
}

#[tokio::test]
async fn a_driver_that_is_killed_is_followed_when_its_lease_is_over() {
    let f = Fixture::postgres();
    let url = f.database.as_ref().unwrap().url();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["postgres::holds::child_that_drives", "--exact", "--ignored", "--nocapture"])
        .env(CHILD_URL, &url)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let journal = PostgresJournal::open_with(&url, short_lease()).unwrap();
    let run = Lease::first(RunId::new("run-a"));
    // In the middle of its work.
    while journal.run(&run).await.unwrap().is_none_or(|run| run.last_seq < 20) {
        assert!(child.try_wait().unwrap().is_none(), "the child has ended by itself");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(journal.hold(&run).await.unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    let hold = loop {
        if let Some(hold) = journal.hold(&run).await.unwrap() {
            break hold;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(hold.lease().epoch, 2);
    assert!(matches!(journal.append(&run, vec![event("x.a")]).await, Err(JournalError::Fenced { .. })));
    let events = f.events(&run).await;
    assert_gap_free(&events);
    // What was written before it died is whole: pairs, and then who follows.
    assert_eq!(events.last().unwrap().kind.word(), "run.lease_taken");
    assert_eq!(events.len() % 2, 0);
}
