//! How many calls a second a journal in PostgreSQL takes, beside what the same server does when each commit is one row.
//!
//! `cargo run --release -p lockgate-journal --features postgres --example postgres_throughput -- URL`
//!
//! A call is a claim and a result: two transactions, each with the lock of its run, the call's row and an event. The database
//! keeps what was written.
#![expect(clippy::print_stdout, clippy::disallowed_methods, clippy::cast_precision_loss, reason = "a measurement")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{EventType, NewEvent};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{Claim, Journal, NewRun, Settling};
use lockgate_contract::run::RunKind;
use lockgate_journal::{PostgresJournal, PostgresOptions};
use tokio_postgres::NoTls;

/// How long each line is measured.
const TIME: Duration = Duration::from_secs(5);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().nth(1).ok_or("the URL of a database")?;
    for callers in [1, 32] {
        let rows = single_rows(&url, callers).await?;
        report("commits of one row", callers, rows);
        let calls = calls(&url, callers).await?;
        report("calls (claim + settle)", callers, calls);
    }
    Ok(())
}

/// Done by one caller each, with the time that each took.
type Taken = Vec<Duration>;

fn report(what: &str, callers: u32, mut taken: Taken) {
    taken.sort();
    let at = |percent: usize| taken[(taken.len() - 1) * percent / 100].as_micros();
    let rate = taken.len() as f64 / TIME.as_secs_f64();
    println!("{what:<24} {callers:>3} callers {rate:>8.0}/s   p50 {:>6} µs   p99 {:>6} µs", at(50), at(99));
}

async fn single_rows(url: &str, callers: u32) -> Result<Taken, Failure> {
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        if caller == 0 {
            client.batch_execute("CREATE TABLE IF NOT EXISTS single_row (place bigserial, data text)").await?;
        }
        let insert = client.prepare("INSERT INTO single_row (data) VALUES ($1)").await?;
        tasks.push((client, insert));
    }
    let began = Instant::now();
    let tasks = tasks.into_iter().map(|(client, insert)| {
        tokio::spawn(async move {
            let mut taken = Taken::new();
            while began.elapsed() < TIME {
                let one = Instant::now();
                client.execute(&insert, &[&BODY]).await?;
                taken.push(one.elapsed());
            }
            Ok::<_, Failure>(taken)
        })
    });
    all(tasks.collect()).await
}

async fn calls(url: &str, callers: u32) -> Result<Taken, Failure> {
    let options = PostgresOptions { connections: callers, ..PostgresOptions::default() };
    let journal: Arc<dyn Journal> = Arc::new(PostgresJournal::open_with(url, options)?);
    let mut holds = Vec::new();
    for caller in 0..callers {
        let new = NewRun {
            run_id: RunId::new(format!("run-{}-{callers}-{caller}", std::process::id())),
            tenant: "tenant".to_owned(),
            kind: RunKind::Agent,
            title: String::new(),
            chained: false,
            started: event("run.started")?,
        };
        holds.push(journal.create_run(new).await?.0);
    }
    let began = Instant::now();
    let tasks = holds.into_iter().map(|hold| {
        let journal = Arc::clone(&journal);
        tokio::spawn(async move {
            let mut taken = Taken::new();
            while began.elapsed() < TIME {
                let call = hold.lease().call(u32::try_from(taken.len())?, 0);
                let one = Instant::now();
                journal.claim(hold.lease(), claim(&call), vec![event("tool.started")?]).await?;
                let settling = Settling { call_id: call, attempt: 1, late: false, artifact: None };
                journal.settle(hold.lease(), settling, vec![event("tool.finished")?]).await?;
                taken.push(one.elapsed());
            }
            Ok::<_, Failure>(taken)
        })
    });
    all(tasks.collect()).await
}

async fn all(tasks: Vec<tokio::task::JoinHandle<Result<Taken, Failure>>>) -> Result<Taken, Failure> {
    let mut all = Taken::new();
    for task in tasks {
        all.extend(task.await??);
    }
    Ok(all)
}

/// An event of the usual size.
const BODY: &str = "{\"tool_name\":\"pay\",\"amount\":\"12.50\",\"to\":\"................................................\
                    ..............................................................................................\
                    ..............................................................................................\
                    ..............................................................................................\"}";

fn event(kind: &str) -> Result<NewEvent, Failure> {
    let data = Document::parse(BODY, Limits::OUTPUT)?.into();
    Ok(NewEvent { kind: EventType::from_word(kind), step: 0, call_id: None, data })
}

fn claim(call: &CallId) -> Claim {
    Claim {
        call_id: call.clone(),
        step: 0,
        attempt: 1,
        tool_name: "pay".to_owned(),
        effect: Effect::External,
        arguments_digest: Digest::of_text("example", "arguments"),
        idempotency_key: format!("key of {call}"),
        approval: None,
        caller_key: None,
        subject: "subject:default/local/agent".to_owned(),
        quotas: Vec::new(),
        seen: Vec::new(),
    }
}
