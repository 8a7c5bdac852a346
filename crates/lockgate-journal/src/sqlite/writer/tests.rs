use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::params;
use tempfile::TempDir;

use super::*;
use crate::sqlite::file;

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
        let connection = self.place.reader().unwrap();
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
    let request = Box::new(Queued { work: Some(work), answer: None, reply });
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
    let reader = fixture.place.reader().unwrap();
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
    // As many pages as there are, and no more: what SQLite then answers is what it answers when a disk is full.
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
    let large = "x".repeat(1 << 20);
    let told = fixture.insert(&large).await;
    assert!(matches!(&told, Err(JournalError::Unavailable(text)) if text.contains("full")), "{told:?}");
    assert_eq!(fixture.stored(), ["run-before"]);
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
    place.reader().unwrap().query_row("SELECT count(*) FROM run", [], |row| row.get(0)).unwrap()
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
