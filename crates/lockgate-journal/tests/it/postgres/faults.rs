//! Connections that end in the middle, servers that are gone, and what a journal says it knows.

use std::time::Duration;

use lockgate_contract::ports::{Journal, JournalError, Lease};
use lockgate_journal::{PostgresJournal, PostgresOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_postgres::Client;

use crate::support::database::{Database, options, server};
use crate::support::{Fixture, ManualClock, event, new_run};

/// Waits until a connection of this database waits for such a thing, and answers with its process.
async fn process_that_waits_for(administrator: &Client, database: &Database, what: &str) -> i32 {
    loop {
        let sql = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND (wait_event_type = $2 OR wait_event = $2)";
        if let Some(row) = administrator.query_opt(sql, &[&database.name(), &what]).await.unwrap() {
            return row.get(0);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Appends in a task of its own.
fn append(f: &Fixture, run: &Lease) -> JoinHandle<Result<usize, JournalError>> {
    let (journal, run) = (f.journal.clone(), run.clone());
    tokio::spawn(async move { journal.append(&run, vec![event("x.a")]).await.map(|events| events.len()) })
}

#[tokio::test]
async fn a_connection_that_ends_before_the_commit_has_written_nothing() {
    let f = Fixture::postgres();
    // Held, so that nothing else waits for the run.
    let (hold, _) = f.journal.create_run(new_run("run-a")).await.unwrap();
    let run = hold.lease().clone();
    let database = f.database.as_ref().unwrap();
    let (administrator, other) = (database.administrator().await, database.administrator().await);
    other.batch_execute("BEGIN; SELECT 1 FROM lockgate.run FOR UPDATE").await.unwrap();
    let appending = append(&f, &run);
    let process = process_that_waits_for(&administrator, database, "Lock").await;
    administrator.query("SELECT pg_terminate_backend($1)", &[&process]).await.unwrap();
    let told = appending.await.unwrap();
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("57P01")), "{told:?}");
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(f.kinds(&run).await, ["run.started"]);
    assert_eq!(append(&f, &run).await.unwrap(), Ok(1));
}

#[tokio::test]
async fn a_connection_that_ends_in_the_commit_leaves_it_unknown() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    let database = f.database.as_ref().unwrap();
    let administrator = database.administrator().await;
    // Checked when the transaction commits, and then it waits.
    administrator
        .batch_execute(
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON lockgate.event DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION wait();
             SELECT pg_advisory_lock(1);",
        )
        .await
        .unwrap();
    let appending = append(&f, &run);
    let process = process_that_waits_for(&administrator, database, "advisory").await;
    administrator.query("SELECT pg_terminate_backend($1)", &[&process]).await.unwrap();
    let told = appending.await.unwrap();
    assert!(matches!(told, Err(JournalError::CommitUnknown(_))), "{told:?}");
    administrator.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
    // What is there decides: this time, nothing.
    assert_eq!(f.kinds(&run).await, ["run.started"]);
    assert_eq!(append(&f, &run).await.unwrap(), Ok(1));
}

#[tokio::test]
async fn a_commit_that_no_standby_has_confirmed_is_unknown() {
    let mut f = Fixture::postgres();
    let run = f.create("run-a").await;
    let database = f.database.take().unwrap();
    let administrator = database.administrator().await;
    let standbys: String =
        administrator.query_one("SELECT current_setting('synchronous_standby_names')", &[]).await.unwrap().get(0);
    assert_eq!(standbys, "nobody", "the server has to be started with `-c synchronous_standby_names=nobody`");
    let url = format!("{}?options=-c%20synchronous_commit%3Don", database.url());
    let waiting = PostgresJournal::open_with(&url, options(f.clock.clone())).unwrap();
    let reader = std::mem::replace(&mut f.journal, std::sync::Arc::new(waiting));
    let appending = append(&f, &run);
    let process = process_that_waits_for(&administrator, &database, "SyncRep").await;
    // An administrator loses patience. The server reports success, with a warning beside it.
    administrator.query("SELECT pg_cancel_backend($1)", &[&process]).await.unwrap();
    let told = appending.await.unwrap();
    assert!(
        matches!(&told, Err(JournalError::CommitUnknown(text)) if text.contains("synchronous replication")),
        "{told:?}"
    );
    // What is there decides: this time, everything.
    assert_eq!(reader.events(&run, 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_somebody_writes_into_too_long_is_unavailable() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    let database = f.database.as_ref().unwrap();
    let impatient = PostgresOptions { wait: Duration::from_millis(200), ..options(f.clock.clone()) };
    let journal = PostgresJournal::open_with(&database.url(), impatient).unwrap();
    let other = database.administrator().await;
    other.batch_execute("BEGIN; SELECT 1 FROM lockgate.run FOR UPDATE").await.unwrap();
    let told = journal.append(&run, vec![event("x.a")]).await;
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("lock timeout")), "{told:?}");
    other.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(journal.append(&run, vec![event("x.a")]).await.unwrap()[0].seq, 2);
}

/// A driver that is paused, or cut off, in the middle of a transaction does not keep its run locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_stops_in_the_middle_is_shut_out_by_the_server() {
    let (f, mut proxy, journal) = behind_a_proxy(Duration::from_secs(2)).await;
    let (hold, _) = journal.create_run(new_run("run-a")).await.unwrap();
    let (run, database) = (hold.lease().clone(), f.database.as_ref().unwrap());
    let (administrator, other) = (database.administrator().await, database.administrator().await);
    other.batch_execute("BEGIN; SELECT 1 FROM lockgate.run FOR UPDATE").await.unwrap();
    let journal = std::sync::Arc::new(journal);
    let (stopped, lease) = (std::sync::Arc::clone(&journal), run.clone());
    let appending = tokio::spawn(async move { stopped.append(&lease, vec![event("x.a")]).await });
    process_that_waits_for(&administrator, database, "Lock").await;
    proxy.hold_back();
    other.batch_execute("ROLLBACK").await.unwrap();
    // It has the lock now, and the server hears nothing more from it. Others are patient longer than that.
    let patient = PostgresOptions { wait: Duration::from_secs(30), ..options(f.clock.clone()) };
    let patient = PostgresJournal::open_with(&database.url(), patient).unwrap();
    assert_eq!(patient.append(&run, vec![event("x.b")]).await.unwrap()[0].seq, 2);
    let told = appending.await.unwrap();
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("25P03")), "{told:?}");
    assert_eq!(f.kinds(&run).await, ["run.started", "x.b"]);
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_back_is_waited_for() {
    let (_f, mut proxy, journal) = behind_a_proxy(Duration::from_secs(30)).await;
    let (hold, _) = journal.create_run(new_run("run-a")).await.unwrap();
    let run = hold.lease().clone();
    let mut stored = 1;
    for _ in 0..3 {
        let port = proxy.stop().await;
        let returning = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Proxy::start(port).await
        });
        match journal.append(&run, vec![event("x.a")]).await {
            Ok(_) => stored += 1,
            // It did not know yet that its connection was gone: that costs this write, and nothing was written.
            Err(JournalError::Unavailable(_)) => {}
            Err(other) => panic!("{other}"),
        }
        journal.append(&run, vec![event("x.b")]).await.unwrap();
        stored += 1;
        proxy = returning.await.unwrap();
    }
    assert_eq!(journal.events(&run, 0).await.unwrap().len(), stored);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_away_is_told() {
    let (_f, mut proxy, journal) = behind_a_proxy(Duration::from_millis(300)).await;
    let (hold, _) = journal.create_run(new_run("run-a")).await.unwrap();
    proxy.stop().await;
    for _ in 0..2 {
        let told = journal.append(hold.lease(), vec![event("x.a")]).await;
        assert!(matches!(told, Err(JournalError::Unavailable(_))), "{told:?}");
        let told = journal.run(hold.lease()).await;
        assert!(matches!(told, Err(JournalError::Unavailable(_))), "{told:?}");
    }
}

/// What stands between a journal and its server, and can be taken away.
struct Proxy {
    port: u16,
    passing: watch::Sender<bool>,
    serving: JoinSet<()>,
}

impl Proxy {
    async fn start(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (passing, passes) = watch::channel(true);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (near, _) = listener.accept().await.unwrap();
                connections.spawn(forward(near, passes.clone()));
            }
        });
        Self { port, passing, serving }
    }

    /// Lets nothing through to the server any more.
    fn hold_back(&self) {
        self.passing.send(false).unwrap();
    }

    /// Ends everything, and answers with the port that is free now.
    async fn stop(&mut self) -> u16 {
        self.serving.shutdown().await;
        self.port
    }
}

async fn forward(near: TcpStream, mut passes: watch::Receiver<bool>) {
    let (mut from_near, mut to_near) = near.into_split();
    let (mut from_far, mut to_far) = TcpStream::connect(server().0).await.unwrap().into_split();
    let there = async {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from_near.read(&mut buffer).await {
            passes.wait_for(|passes| *passes).await.unwrap();
            if to_far.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
    };
    let back = tokio::io::copy(&mut from_far, &mut to_near);
    // Whichever end is closed first, both are.
    tokio::select! {
        () = there => {}
        _ = back => {}
    }
}

async fn behind_a_proxy(wait: Duration) -> (Fixture, Proxy, PostgresJournal) {
    let f = Fixture::postgres();
    let proxy = Proxy::start(0).await;
    let (address, _) = server();
    let url = f.database.as_ref().unwrap().url().replace(&address, &format!("127.0.0.1:{}", proxy.port));
    let options = PostgresOptions { wait, ..options(ManualClock::new()) };
    let journal = PostgresJournal::open_with(&url, options).unwrap();
    (f, proxy, journal)
}
