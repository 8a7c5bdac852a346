use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::params;
use tempfile::TempDir;

use super::*;
use crate::sqlite::{checkpoint, file};

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

struct Fixture {
    writer: Writer,
    place: Place,
    readers: Arc<Readers>,
    _folder: TempDir,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = file::prepare(&folder.path().join("journal.db")).unwrap();
    let place = Place { path, busy_timeout: Duration::from_millis(50) };
    let readers = Arc::new(Readers::new(place.clone()));
    let writer = Writer::start(place.clone(), Arc::new(Stopped), Arc::clone(&readers)).unwrap();
    Fixture { writer, place, readers, _folder: folder }
}

impl Fixture {
    async fn insert(&self, id: &str) -> Result<(), JournalError> {
        let id = id.to_owned();
        self.writer.commit(move |connection, _| insert(connection, &id)).await
    }

    /// The runs that a connection of its own sees.
    fn stored(&self) -> Vec<String> {
        let connection = self.place.reader().unwrap().0;
        let mut statement = connection.prepare("SELECT run_id FROM run ORDER BY place").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

fn insert(connection: &Connection, id: &str) -> Result<(), JournalError> {
    connection
        .execute(
            "INSERT INTO run (run_id, tenant, kind, title, next_seq, created_at, updated_at)
             VALUES (?1, 't', 'agent', '', 1, 0, 0)",
            params![id],
        )
        .map(drop)
        .map_err(storage)
}

/// Holds the writer inside a request until it is opened, so that what comes meanwhile becomes one group.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<(bool, bool)>, Condvar)>);

impl Gate {
    /// Called by the request: says that it is inside, and waits.
    fn enter(&self) {
        let (state, changed) = &*self.0;
        let mut guard = state.lock().unwrap();
        guard.0 = true;
        changed.notify_all();
        drop(changed.wait_while(guard, |(_, open)| !*open).unwrap());
    }

    /// Called by the test: waits until the request is inside.
    fn wait_until_entered(&self) {
        let (state, changed) = &*self.0;
        drop(changed.wait_while(state.lock().unwrap(), |(inside, _)| !*inside).unwrap());
    }

    fn open(&self) {
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_all();
    }
}

fn send<T: Send + 'static>(
    writer: &Writer,
    work: impl FnOnce(&Connection, Timestamp) -> Result<T, JournalError> + Send + 'static,
) -> oneshot::Receiver<Result<T, JournalError>> {
    let (reply, answer) = oneshot::channel();
    let request =
        Box::new(Queued { purpose: Purpose::Continue, durable: Durable::Now, work: once(work), answer: None, reply });
    assert!(writer.requests.as_ref().unwrap().send(request).is_ok());
    answer
}

/// Runs `queue` while the writer is held, so that what it sends is taken as one group afterwards.
fn as_one_group(writer: &Writer, queue: impl FnOnce()) {
    let gate = Gate::default();
    let held = gate.clone();
    drop(send(writer, move |_, _| {
        held.enter();
        Ok(())
    }));
    gate.wait_until_entered();
    queue();
    gate.open();
}

/// What SQLite says of this write that its commit waits for.
fn level(connection: &Connection) -> Result<String, JournalError> {
    crate::sqlite::connection::settings(connection).map(|settings| settings.synchronous).map_err(storage)
}

#[tokio::test]
async fn a_group_waits_for_the_disk_unless_nothing_of_it_would_be_missed() {
    use Durable::{Next, Now};
    let fixture = fixture();
    for (groups, expected) in [([Now, Now], "full"), ([Next, Next], "normal"), ([Next, Now], "full")] {
        let mut answers = Vec::new();
        as_one_group(&fixture.writer, || {
            for durable in groups {
                let (reply, answer) = oneshot::channel();
                let work = once(|connection: &Connection, _| level(connection));
                let request = Queued { purpose: Purpose::Begin, durable, work, answer: None, reply };
                fixture.writer.requests.as_ref().unwrap().send(Box::new(request)).unwrap();
                answers.push(answer);
            }
        });
        for answer in answers {
            assert_eq!(answer.await.unwrap().as_deref(), Ok(expected));
        }
    }
}

#[tokio::test]
async fn what_is_queued_becomes_one_commit() {
    let fixture = fixture();
    let mut answers = Vec::new();
    as_one_group(&fixture.writer, || {
        for number in 0..=LARGEST_GROUP {
            answers.push(send(&fixture.writer, move |connection, _| {
                insert(connection, &format!("run-{number}"))?;
                // What one transaction wrote is one version of the database for every other connection.
                connection.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0)).map_err(storage)
            }));
        }
    });
    // Only the last one, which no longer fits, finds the others committed when it begins.
    let reader = fixture.place.reader().unwrap().0;
    let mut versions = std::collections::BTreeSet::new();
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.await.unwrap(), Ok(i64::try_from(number + 1).unwrap()));
        versions.insert(reader.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).unwrap());
    }
    assert!(versions.len() <= 2, "{versions:?}");
    assert_eq!(fixture.stored().len(), LARGEST_GROUP + 1);
}

#[tokio::test]
async fn one_bad_request_of_a_group_fails_alone() {
    let fixture = fixture();
    let mut answers = Vec::new();
    as_one_group(&fixture.writer, || {
        for id in ["run-a", "run-b", "run-a", "run-c"] {
            answers.push(send(&fixture.writer, move |connection, _| {
                // Written first, so that there is something to undo.
                insert(connection, &format!("{id}-{}", if id == "run-b" { "bad" } else { "good" }))?;
                if id == "run-b" { Err(JournalError::Exists("b".to_owned())) } else { Ok(()) }
            }));
        }
    });
    let mut told = Vec::new();
    for answer in answers {
        told.push(answer.await.unwrap());
    }
    assert_eq!(told[0], Ok(()));
    assert_eq!(told[1], Err(JournalError::Exists("b".to_owned())));
    assert!(matches!(told[2], Err(JournalError::Unavailable(_))), "{told:?}");
    assert_eq!(told[3], Ok(()));
    assert_eq!(fixture.stored(), ["run-a-good", "run-c-good"]);
}

#[tokio::test]
async fn a_failed_commit_is_unknown_to_everybody_and_the_file_is_opened_again() {
    let fixture = fixture();
    fixture.insert("run-before").await.unwrap();
    // Kept open by a read, so that the failure has something to close.
    fixture.readers.read(|_| Ok(())).await.unwrap();
    let mut answers = Vec::new();
    as_one_group(&fixture.writer, || {
        answers.push(send(&fixture.writer, |connection, _| insert(connection, "run-good")));
        answers.push(send(&fixture.writer, |_, _| Err(JournalError::Exists("refused".to_owned()))));
        answers.push(send(&fixture.writer, |connection, _| {
            // A foreign key that is checked at the commit only, and then is not there.
            connection
                .execute_batch(
                    "CREATE TEMP TABLE only_here (x);
                     PRAGMA defer_foreign_keys = ON;
                     INSERT INTO artifact (run_id, artifact_id, text) VALUES ('run-none', 'art-1', '');",
                )
                .map_err(storage)
        }));
    });
    for answer in answers {
        let told = answer.await.unwrap();
        assert!(matches!(told, Err(JournalError::CommitUnknown(_))), "{told:?}");
    }
    fixture.insert("run-after").await.unwrap();
    assert_eq!(fixture.stored(), ["run-before", "run-after"]);
    // A temporary table lives as long as its connection: this is another one, and it keeps the promises as well.
    let (tables, synchronous) = fixture
        .writer
        .commit(|connection, _| {
            let tables: u32 = connection
                .query_row("SELECT count(*) FROM sqlite_temp_schema", [], |row| row.get(0))
                .map_err(storage)?;
            let settings = crate::sqlite::connection::settings(connection).map_err(storage)?;
            Ok::<_, JournalError>((tables, settings.synchronous))
        })
        .await
        .unwrap();
    assert_eq!((tables, synchronous.as_str()), (0, "full"));
}

#[tokio::test]
async fn a_full_disk_is_unavailable_and_writes_nothing() {
    let fixture = fixture();
    fixture.insert("run-before").await.unwrap();
    fill(&fixture).await;
    let large = "x".repeat(1 << 20);
    let told = fixture.insert(&large).await;
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("full")), "{told:?}");
    assert_eq!(fixture.stored(), ["run-before"]);
}

/// Lets the file grow no more. What SQLite then answers is what it answers when a disk is full.
async fn fill(fixture: &Fixture) {
    fixture
        .writer
        .commit(|connection, _| {
            connection
                .query_row("SELECT page_count FROM pragma_page_count", [], |row| row.get::<_, i64>(0))
                .and_then(|pages| connection.pragma_update(None, "max_page_count", pages))
                .map_err(storage)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn on_a_full_disk_what_ends_is_tried_again_alone() {
    let fixture = fixture();
    fill(&fixture).await;
    let (begin, end, between) = (oneshot::channel(), oneshot::channel(), oneshot::channel());
    let times = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = Arc::clone(&times);
    as_one_group(&fixture.writer, || {
        let requests: [Box<dyn Request>; 3] = [
            Box::new(Queued {
                purpose: Purpose::End,
                durable: Durable::Now,
                work: move |connection: &Connection, _| {
                    counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    insert(connection, "run-end")
                },
                answer: None,
                reply: end.0,
            }),
            Box::new(Queued {
                purpose: Purpose::Begin,
                durable: Durable::Now,
                work: once(|connection: &Connection, _| insert(connection, &"x".repeat(1 << 20))),
                answer: None,
                reply: begin.0,
            }),
            Box::new(Queued {
                purpose: Purpose::Continue,
                durable: Durable::Now,
                work: once(|connection: &Connection, _| insert(connection, "run-between")),
                answer: None,
                reply: between.0,
            }),
        ];
        for request in requests {
            assert!(fixture.writer.requests.as_ref().unwrap().send(request).is_ok());
        }
    });
    assert_eq!(end.1.await.unwrap(), Ok(()));
    assert_eq!(begin.1.await.unwrap(), Err(full()));
    assert_eq!(between.1.await.unwrap(), Err(full()));
    assert_eq!(times.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(fixture.stored(), ["run-end"]);
}

#[tokio::test]
async fn a_full_disk_takes_the_reserve_for_what_ends_and_nothing_begins_without_one() {
    let fixture = fixture();
    let reserve = file::beside(&fixture.place.path, ".reserve");
    fixture.insert("run-a").await.unwrap();
    assert!(!reserve.exists(), "who begins nothing needs none");
    fixture.writer.begin(|connection, _| insert(connection, "run-b")).await.unwrap();
    assert!(reserve.exists());
    fill(&fixture).await;
    let large = "x".repeat(1 << 20);
    let begin = large.clone();
    let told = fixture.writer.begin(move |connection, _| insert(connection, &begin)).await;
    assert_eq!(told, Err(full()));
    assert!(reserve.exists(), "what begins does not take it");
    // Here its room is of no use, and that is told.
    let told = fixture.writer.end(move |connection, _| insert(connection, &large)).await;
    assert_eq!(told, Err(full()));
    assert!(!reserve.exists());
    // It cannot be made again.
    std::fs::create_dir(&reserve).unwrap();
    let told = fixture.writer.begin(|connection, _| insert(connection, "run-c")).await;
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("results of calls")), "{told:?}");
    fixture.insert("run-d").await.unwrap();
    fixture.writer.end(|connection, _| insert(connection, "run-e")).await.unwrap();
    std::fs::remove_dir(&reserve).unwrap();
    fixture.writer.begin(|connection, _| insert(connection, "run-f")).await.unwrap();
    assert_eq!(fixture.stored(), ["run-a", "run-b", "run-d", "run-e", "run-f"]);
    assert!(reserve.exists());
}

/// The bytes of the write-ahead log.
fn log_size(fixture: &Fixture) -> u64 {
    std::fs::metadata(file::beside(&fixture.place.path, "-wal")).map_or(0, |log| log.len())
}

fn bytes(frames: u32) -> u64 {
    u64::from(frames) * (4096 + 24)
}

async fn insert_large(fixture: &Fixture, times: u32) -> u64 {
    let mut largest = 0;
    for number in 0..times {
        fixture.insert(&format!("{number}-{}", "x".repeat(200_000))).await.unwrap();
        largest = largest.max(log_size(fixture));
    }
    largest
}

async fn until_the_log_is_empty(fixture: &Fixture) {
    for _ in 0..100 {
        if log_size(fixture) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the log has {} bytes after 5 s", log_size(fixture));
}

#[tokio::test]
async fn the_log_stays_small_under_load_and_is_emptied_at_rest() {
    let fixture = fixture();
    // Each is 50 pages and as many of the index: 40 MB in all.
    let largest = insert_large(&fixture, 100).await;
    assert!(largest <= bytes(2 * checkpoint::PART), "{largest}");
    until_the_log_is_empty(&fixture).await;
    assert_eq!(fixture.stored().len(), 100);
    // It is used again.
    fixture.insert("run-again").await.unwrap();
    assert!(log_size(&fixture) > 0);
}

#[tokio::test]
async fn a_reader_does_not_keep_the_log_from_being_emptied_for_good() {
    let fixture = fixture();
    fixture.insert("run-a").await.unwrap();
    let reader = Connection::open(&fixture.place.path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM run;").unwrap();
    let while_read = insert_large(&fixture, 100).await;
    assert!(while_read > bytes(checkpoint::LARGE), "the test writes too little: {while_read}");
    // Still the same snapshot.
    assert_eq!(reader.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    reader.execute_batch("COMMIT").unwrap();
    // Under load it is begun anew behind the next part.
    let mut size = log_size(&fixture);
    for number in 0..40 {
        fixture.insert(&format!("later-{number}-{}", "x".repeat(200_000))).await.unwrap();
        size = size.min(log_size(&fixture));
    }
    assert!(size < bytes(checkpoint::LARGE), "{size}");
    until_the_log_is_empty(&fixture).await;
}

#[tokio::test]
async fn nothing_is_read_or_written_before_a_failed_commit_was_settled() {
    let fixture = fixture();
    fixture.insert("run-a").await.unwrap();
    // It holds the log, so that nobody can empty it.
    let other = Connection::open(&fixture.place.path).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM run;").unwrap();
    let told = fixture
        .writer
        .commit(|connection, _| {
            let late = "PRAGMA defer_foreign_keys = ON;
                        INSERT INTO artifact (run_id, artifact_id, text) VALUES ('run-none', 'art-1', '');";
            connection.execute_batch(late).map_err(storage)
        })
        .await;
    assert!(matches!(told, Err(JournalError::CommitUnknown(_))), "{told:?}");
    let read = fixture.readers.read(|_| Ok(())).await;
    assert!(matches!(&read, Err(JournalError::Unavailable(text)) if text.contains("opened anew")), "{read:?}");
    let written = fixture.insert("run-b").await;
    assert!(
        matches!(&written, Err(JournalError::Unavailable(text)) if text.contains("another process")),
        "{written:?}"
    );
    other.execute_batch("COMMIT").unwrap();
    fixture.insert("run-c").await.unwrap();
    fixture.readers.read(|_| Ok(())).await.unwrap();
    assert_eq!(fixture.stored(), ["run-a", "run-c"]);
}

#[tokio::test]
async fn what_failed_is_settled_at_rest_too() {
    let fixture = fixture();
    fixture.insert("run-a").await.unwrap();
    let other = Connection::open(&fixture.place.path).unwrap();
    other.execute_batch("BEGIN; SELECT count(*) FROM run;").unwrap();
    let late = "PRAGMA defer_foreign_keys = ON;
                INSERT INTO artifact (run_id, artifact_id, text) VALUES ('run-none', 'art-1', '');";
    let told = fixture.writer.commit(move |connection, _| connection.execute_batch(late).map_err(storage)).await;
    assert!(matches!(told, Err(JournalError::CommitUnknown(_))), "{told:?}");
    other.execute_batch("COMMIT").unwrap();
    for _ in 0..100 {
        if fixture.readers.read(|_| Ok(())).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it reads nothing after 5 s");
}

#[tokio::test]
async fn a_lock_that_others_hold_too_long_is_unavailable() {
    let fixture = fixture();
    let other = Connection::open(&fixture.place.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = fixture.insert("run-a").await;
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("locked")), "{told:?}");
    other.execute_batch("ROLLBACK").unwrap();
    fixture.insert("run-b").await.unwrap();
    assert_eq!(fixture.stored(), ["run-b"]);
}

#[test]
fn dropping_the_writer_writes_what_is_queued() {
    let fixture = fixture();
    as_one_group(&fixture.writer, || {
        for number in 0..20 {
            // Nobody waits for the answer.
            drop(send(&fixture.writer, move |connection, _| insert(connection, &format!("run-{number:02}"))));
        }
    });
    let Fixture { writer, place, readers, _folder } = fixture;
    drop(writer);
    let stored = count(&place);
    drop(readers);
    assert_eq!(stored, 20);
}

fn count(place: &Place) -> i64 {
    place.reader().unwrap().0.query_row("SELECT count(*) FROM run", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_panic_in_the_writer_is_told_and_nothing_is_written_after_it() {
    let fixture = fixture();
    let told: Result<(), JournalError> = fixture.writer.commit(|_, _| panic!("a bug, on purpose")).await;
    assert!(matches!(told, Err(JournalError::CommitUnknown(_))), "{told:?}");
    let told = fixture.insert("run-a").await;
    assert!(matches!(told, Err(JournalError::Unavailable(_) | JournalError::CommitUnknown(_))), "{told:?}");
    assert!(fixture.stored().is_empty());
}

/// Somebody else has the file for longer than anybody waits to begin something.
#[tokio::test]
async fn what_ends_something_waits_longer_for_the_file() {
    let f = fixture();
    f.insert("run-a").await.unwrap();
    let other = f.place.writer(Timestamp::from_millis(0), &mut checkpoint::Log::new()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = f.insert("run-b").await.unwrap_err();
    assert!(matches!(refused, JournalError::Unavailable(_)), "{refused}");
    let ending = f.writer.end(|connection, _| insert(connection, "run-c"));
    let (ended, ()) = tokio::join!(ending, async {
        tokio::time::sleep(f.place.busy_timeout * 4).await;
        other.execute_batch("ROLLBACK").unwrap();
    });
    ended.unwrap();
    assert_eq!(f.stored(), ["run-a", "run-c"]);
}
