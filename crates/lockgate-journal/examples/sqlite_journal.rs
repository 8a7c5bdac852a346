//! How many calls a second a journal in SQLite takes, beside what the same disk does without one; and how long a large
//! journal takes to be gone on with.
//!
//! ```sh
//! cargo run --release -p lockgate-journal --example sqlite_journal -- rate FOLDER
//! cargo run --release -p lockgate-journal --example sqlite_journal -- direct FOLDER    # calls without a model
//! cargo run --release -p lockgate-journal --example sqlite_journal -- fill FOLDER      # 1,000,000 events
//! cargo run --release -p lockgate-journal --example sqlite_journal -- recover FOLDER   # of those
//! ```
//!
//! A call is a claim and a result: two answers that are on the disk, each with the call's row and an event of 424 bytes. A direct call
//! is a run of its own: its beginning, a claim with three events, and the result with the run's end.
#![expect(clippy::print_stdout, clippy::disallowed_methods, clippy::cast_precision_loss, reason = "a measurement")]

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{EventType, NewEvent};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Claim, Clock, Journal, NewRun, RunFilter, Settling};
use lockgate_contract::run::RunKind;
use lockgate_contract::time::Timestamp;
use lockgate_journal::SqliteJournal;
use rusqlite::Connection;
use tokio::sync::oneshot;

/// How long each line is measured.
const TIME: Duration = Duration::from_secs(3);

/// The large journal.
const RUNS: u32 = 10_000;
const EVENTS: u32 = 100;

type Failure = Box<dyn Error + Send + Sync>;

/// Done by all callers, with the time that each took.
type Taken = Vec<Duration>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rate", folder] => rate(Path::new(folder)).await,
        ["direct", folder] => direct(Path::new(folder)).await,
        ["fill", folder] => fill(&open(&Path::new(folder).join("large.db"))?).await,
        ["recover", folder] => recover(&Path::new(folder).join("large.db")).await,
        _ => Err("rate, fill or recover, and a folder".into()),
    }
}

async fn rate(folder: &Path) -> Result<(), Failure> {
    report("append and fdatasync, twice a call", 1, appends(folder)?);
    for callers in [1, 32] {
        let path = folder.join(format!("bare-{callers}.db"));
        let connections = (0..callers).map(|_| bare(&path)).collect::<Result<Vec<_>, _>>()?;
        report("bare SQLite, a commit a row", callers, single_rows(connections)?);
        report("bare SQLite, group commit", callers, groups(&folder.join("group.db"), callers).await?);
        let journal = open(&folder.join(format!("journal-{callers}.db")))?;
        report("journal: an event", callers, work(&journal, callers, false).await?);
        report("journal: a call (claim, settle)", callers, work(&journal, callers, true).await?);
    }
    Ok(())
}

/// Direct calls, beside what two synced commits of the same bytes cost in a bare table: also in time of the processor.
async fn direct(folder: &Path) -> Result<(), Failure> {
    for callers in [1, 8, 32] {
        let spent = cpu();
        let taken = pairs(&folder.join(format!("pairs-{callers}.db")), callers).await?;
        report_cpu("bare SQLite, two synced commits", callers, taken, spent);
        let journal = open(&folder.join(format!("direct-{callers}.db")))?;
        let spent = cpu();
        let taken = direct_calls(&journal, callers).await?;
        report_cpu("journal: a direct call", callers, taken, spent);
    }
    Ok(())
}

fn report_cpu(what: &str, callers: u32, taken: Taken, before: Duration) {
    let each = cpu().saturating_sub(before).as_secs_f64() * 1e6 / taken.len().max(1) as f64;
    print!("{each:>6.0} µs CPU  ");
    report(what, callers, taken);
}

/// The time of the processor that this process took, with all its threads. Where the system does not tell, nothing.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    // In user and system mode, in hundredths of a second.
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn report(what: &str, callers: u32, mut taken: Taken) {
    taken.sort();
    let at = |percent: usize| taken[(taken.len() - 1) * percent / 100].as_micros();
    let rate = taken.len() as f64 / TIME.as_secs_f64();
    println!("{what:<36} {callers:>3} callers {rate:>8.0}/s   p50 {:>6} µs   p99 {:>6} µs", at(50), at(99));
}

/// The same bytes as the two events of a call, each synced.
fn appends(folder: &Path) -> Result<Taken, Failure> {
    let mut file = std::fs::File::create(folder.join("appended"))?;
    let bytes = body();
    let (begun, mut taken) = (Instant::now(), Vec::new());
    while begun.elapsed() < TIME {
        let call = Instant::now();
        for _ in 0..2 {
            file.write_all(bytes.as_bytes())?;
            file.sync_data()?;
        }
        taken.push(call.elapsed());
    }
    Ok(taken)
}

fn bare(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE IF NOT EXISTS row (place INTEGER PRIMARY KEY, data TEXT)")?;
    Ok(connection)
}

/// Each caller on a connection of its own.
fn single_rows(connections: Vec<Connection>) -> Result<Taken, Failure> {
    let callers: Vec<_> =
        connections.into_iter().map(|connection| thread::spawn(move || one_by_one(&connection))).collect();
    let mut taken = Vec::new();
    for caller in callers {
        taken.extend(caller.join().map_err(|_| "a caller ended midway")??);
    }
    Ok(taken)
}

fn one_by_one(connection: &Connection) -> Result<Taken, rusqlite::Error> {
    let mut insert = connection.prepare("INSERT INTO row (data) VALUES (?1)")?;
    let bytes = body();
    let (begun, mut taken) = (Instant::now(), Vec::new());
    while begun.elapsed() < TIME {
        let row = Instant::now();
        insert.execute([&bytes])?;
        taken.push(row.elapsed());
    }
    Ok(taken)
}

/// One thread commits whatever is queued: the least that a journal with group commit can cost.
async fn groups(path: &Path, callers: u32) -> Result<Taken, Failure> {
    in_groups(path, callers, vec![body()]).await
}

/// The same, where each caller waits for all of these rows, one after the other.
async fn in_groups(path: &Path, callers: u32, rows: Vec<String>) -> Result<Taken, Failure> {
    let connection = bare(path)?;
    let (requests, queue) = mpsc::channel::<(String, oneshot::Sender<()>)>();
    let writer = thread::spawn(move || -> Result<(), rusqlite::Error> {
        while let Ok(first) = queue.recv() {
            let mut group = vec![first];
            group.extend(queue.try_iter().take(511));
            connection.execute_batch("BEGIN IMMEDIATE")?;
            for (data, _) in &group {
                connection.prepare_cached("INSERT INTO row (data) VALUES (?1)")?.execute([data])?;
            }
            connection.execute_batch("COMMIT")?;
            for (_, reply) in group {
                let _ = reply.send(());
            }
        }
        Ok(())
    });
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (requests, rows) = (requests.clone(), rows.clone());
        tasks.push(tokio::spawn(async move {
            let (begun, mut taken) = (Instant::now(), Vec::new());
            while begun.elapsed() < TIME {
                let written = Instant::now();
                for row in &rows {
                    let (reply, answer) = oneshot::channel();
                    requests.send((row.clone(), reply))?;
                    answer.await?;
                }
                taken.push(written.elapsed());
            }
            Ok::<_, Failure>(taken)
        }));
    }
    drop(requests);
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await??);
    }
    writer.join().map_err(|_| "the writer ended midway")??;
    Ok(taken)
}

/// The bytes of a direct call in two commits, by one thread that serves all callers.
async fn pairs(path: &Path, callers: u32) -> Result<Taken, Failure> {
    let halves = [body().repeat(4), body() + END];
    in_groups(path, callers, halves.to_vec()).await
}

/// Runs of one call each.
async fn direct_calls(journal: &Arc<SqliteJournal>, callers: u32) -> Result<Taken, Failure> {
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let journal = Arc::clone(journal);
        tasks.push(tokio::spawn(async move {
            let (begun, mut taken) = (Instant::now(), Vec::new());
            for number in 0_u32.. {
                if begun.elapsed() >= TIME {
                    break;
                }
                // As random as the ids of real runs are.
                let run =
                    RunId::new(format!("run-{}", Digest::of_text("run", &format!("{caller} {number}")).short(12)));
                let new = NewRun { kind: RunKind::Direct, ..new_run(&run)? };
                let claim = claim(&run, 0);
                let settling = Settling { call_id: claim.call_id.clone(), attempt: 1, late: false, artifact: None };
                let (intent, result, end) = (vec![event()?, event()?, event()?], event()?, ended()?);
                let done = Instant::now();
                let (hold, _) = journal.create_run(new).await?;
                journal.claim(hold.lease(), claim, intent).await?;
                journal.settle(hold.lease(), settling, vec![result, end]).await?;
                drop(hold);
                taken.push(done.elapsed());
            }
            Ok::<_, Failure>(taken)
        }));
    }
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await??);
    }
    Ok(taken)
}

/// Events alone, or whole calls.
async fn work(journal: &Arc<SqliteJournal>, callers: u32, calls: bool) -> Result<Taken, Failure> {
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let journal = Arc::clone(journal);
        let run = RunId::new(format!("run-{calls}-{caller}"));
        tasks.push(tokio::spawn(async move {
            let (hold, _) = journal.create_run(new_run(&run)?).await?;
            let (begun, mut taken) = (Instant::now(), Vec::new());
            for number in 0.. {
                if begun.elapsed() >= TIME {
                    break;
                }
                let (event_1, event_2) = (event()?, event()?);
                let done = Instant::now();
                if calls {
                    let claim = claim(&run, number);
                    let settling = Settling { call_id: claim.call_id.clone(), attempt: 1, late: false, artifact: None };
                    journal.claim(hold.lease(), claim, vec![event_1]).await?;
                    journal.settle(hold.lease(), settling, vec![event_2]).await?;
                } else {
                    journal.append(hold.lease(), vec![event_1]).await?;
                }
                taken.push(done.elapsed());
            }
            Ok::<_, Failure>(taken)
        }));
    }
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await??);
    }
    Ok(taken)
}

async fn fill(journal: &Arc<SqliteJournal>) -> Result<(), Failure> {
    let mut tasks = Vec::new();
    for caller in 0..32 {
        let journal = Arc::clone(journal);
        tasks.push(tokio::spawn(async move {
            for number in (caller..RUNS).step_by(32) {
                let (hold, _) = journal.create_run(new_run(&RunId::new(format!("run-{number}")))?).await?;
                let events = (1..EVENTS).map(|_| event()).collect::<Result<Vec<_>, _>>()?;
                journal.append(hold.lease(), events).await?;
            }
            Ok::<_, Failure>(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    let (hold, _) = journal.create_run(new_run(&RunId::new("run-small"))?).await?;
    journal.append(hold.lease(), vec![event()?]).await?;
    Ok(())
}

async fn recover(path: &Path) -> Result<(), Failure> {
    let size = std::fs::metadata(path)?.len() >> 20;
    println!("{RUNS} runs of {EVENTS} events, {size} MiB");
    let begun = Instant::now();
    let journal = open(path)?;
    println!("opened                          {:>9.1?}", begun.elapsed());
    let begun = Instant::now();
    let listed = journal.runs(RunFilter::default()).await?.len();
    println!("the newest {listed:>3} runs listed      {:>9.1?}", begun.elapsed());
    let begun = Instant::now();
    let hold = journal.hold(&RunId::new("run-small")).await?.ok_or("the run is held")?;
    let events = journal.events(hold.lease(), 0).await?.len();
    journal.append(hold.lease(), vec![event()?]).await?;
    println!("a run of {events} events gone on with {:>9.1?}", begun.elapsed());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("at most in memory: {}", line.trim_start_matches("VmHWM:").trim());
    }
    Ok(())
}

fn open(path: &Path) -> Result<Arc<SqliteJournal>, Failure> {
    Ok(Arc::new(SqliteJournal::open(path, Arc::new(Now))?))
}

struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

fn new_run(run: &RunId) -> Result<NewRun, Failure> {
    let (run_id, started) = (run.clone(), event()?);
    Ok(NewRun {
        run_id,
        tenant: "tenant".to_owned(),
        kind: RunKind::Agent,
        title: String::new(),
        chained: false,
        started,
    })
}

fn claim(run: &RunId, number: u32) -> Claim {
    Claim {
        call_id: run.call(number, 0),
        step: number,
        attempt: 1,
        tool_name: "pay".to_owned(),
        effect: Effect::External,
        arguments_digest: Digest::of_text("measurement", "arguments"),
        idempotency_key: format!("key-{number}"),
        approval: None,
        caller_key: None,
        subject: "subject:default/local/agent".to_owned(),
        quotas: Vec::new(),
        seen: Vec::new(),
    }
}

/// 424 bytes.
fn body() -> String {
    format!("{{\"text\":\"{}\"}}", "x".repeat(413))
}

const END: &str = r#"{"reason":"call_settled"}"#;

fn ended() -> Result<NewEvent, Failure> {
    let data = Document::parse(END, Limits::OUTPUT)?;
    Ok(NewEvent { kind: EventType::RunCompleted, step: 0, call_id: None, data: data.into() })
}

fn event() -> Result<NewEvent, Failure> {
    let data = Document::parse(body(), Limits::OUTPUT)?;
    Ok(NewEvent { kind: EventType::from_word("x.measured"), step: 0, call_id: None, data: data.into() })
}
