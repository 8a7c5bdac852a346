//! What only a file can do: outlive its journal, be shared, be wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockgate_contract::ids::{ApprovalId, ArtifactId, RunId};
use lockgate_contract::ports::{Journal, JournalError, Lease, Prune, Pruned, RunFilter};
use lockgate_journal::{OpenError, SqliteJournal, SqliteOptions, open};
use rusqlite::Connection;

use crate::support::{Fixture, ManualClock, artifact, assert_gap_free, event, event_with, new_run, settling};

fn refusal(path: &Path) -> OpenError {
    open(&format!("sqlite:{}", path.display()), ManualClock::new()).map(drop).unwrap_err()
}

fn fact<'a>(facts: &'a [(String, String)], name: &str) -> &'a str {
    facts.iter().find(|(known, _)| known == name).map(|(_, fact)| fact.as_str()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_handles_and_one_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journals: Vec<_> = (0..4).map(|_| Arc::new(SqliteJournal::open(&path, ManualClock::new()).unwrap())).collect();
    let run = RunId::new("run-a");
    drop(journals[0].create_run(new_run("run-a")).await.unwrap());
    let holders = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let tasks: Vec<_> = journals
        .into_iter()
        .map(|journal| {
            let (run, holders) = (run.clone(), Arc::clone(&holders));
            tokio::spawn(async move {
                for _ in 0..200 {
                    if let Some(held) = journal.hold(&run).await.unwrap() {
                        assert_eq!(holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        tokio::task::yield_now().await;
                        holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(held);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".lock")), "{left:?}");
}

const CHILD_PATH: &str = "JOURNAL_OF_CHILD";
const PROCESSES: usize = 6;
const ROUNDS: usize = 30;

/// Not a test of its own: the other process of `processes_write_one_file_without_gaps`.
#[tokio::test]
#[ignore = "started by another test, as a process of its own"]
async fn child_that_writes() {
    let Some(path) = std::env::var_os(CHILD_PATH) else {
        return;
    };
    let journal = SqliteJournal::open(Path::new(&path), ManualClock::new()).unwrap();
    let journal: Arc<dyn lockgate_contract::ports::Journal> = Arc::new(journal);
    let run = Lease::first(RunId::new("run-shared"));
    // Whoever comes first makes the run.
    match journal.create_run(new_run("run-shared")).await {
        Ok(_) | Err(JournalError::Exists(_)) => {}
        Err(error) => panic!("{error}"),
    }
    // Whoever makes it holds its lock before it is there.
    while journal.run(&run).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let data = std::process::id().to_string();
    for _ in 0..ROUNDS {
        journal.append(&run, vec![event_with("x.a", &data), event_with("x.b", &data)]).await.unwrap();
    }
}

#[tokio::test]
async fn processes_write_one_file_without_gaps() {
    let folder = tempfile::tempdir().unwrap();
    // They also race for who makes the file and its tables.
    let path = folder.path().join("shared/journal.db");
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["sqlite::child_that_writes", "--exact", "--ignored", "--nocapture"])
                .env(CHILD_PATH, &path)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let journal = SqliteJournal::open(&path, ManualClock::new()).unwrap();
    let run = RunId::new("run-shared");
    let events = lockgate_contract::ports::Journal::events(&journal, &run, 0).await.unwrap();
    assert_eq!(events.len(), 1 + PROCESSES * ROUNDS * 2);
    assert_gap_free(&events);
    let writers: std::collections::BTreeSet<_> = events[1..].iter().map(|event| event.data.to_string()).collect();
    assert_eq!(writers.len(), PROCESSES);
    for pair in events[1..].chunks(2) {
        assert_eq!(pair[0].data.text(), pair[1].data.text());
    }
}

/// A journal that was opened beside another one of its process took the other one's locks away. SQLite 3.51 and newer make
/// the best of that; older ones may lose commits.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_second_journal_of_a_process_takes_no_locks_away() {
    use std::os::unix::fs::MetadataExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::open(&path, ManualClock::new()).unwrap();
    // Such as `3: POSIX  ADVISORY  READ 15206 fe:00:10616840 1073741826 1073742335`.
    let file = format!(":{} ", fs::metadata(&path).unwrap().ino());
    let locks = || fs::read_to_string("/proc/locks").unwrap().lines().filter(|lock| lock.contains(&file)).count();
    assert_eq!(locks(), 1);
    let second = SqliteJournal::open(&path, ManualClock::new()).unwrap();
    assert_eq!(locks(), 1);
    drop((journal, second));
}

#[tokio::test]
async fn it_says_what_it_is_set_to() {
    let f = Fixture::sqlite();
    f.create("run-a").await;
    f.create("run-b").await;
    let facts = f.journal.describe().await.unwrap();
    let path = f.folder.as_ref().unwrap().path().join("journal.db");
    assert_eq!(fact(&facts, "kind"), "sqlite");
    assert_eq!(fact(&facts, "path"), path.to_str().unwrap());
    assert_eq!(fact(&facts, "url"), format!("sqlite:{}", path.display()));
    assert_eq!(fact(&facts, "schema_version"), "6");
    assert_eq!(fact(&facts, "sqlite_version"), rusqlite::version());
    assert_eq!(fact(&facts, "journal_mode"), "wal");
    assert_eq!(fact(&facts, "synchronous"), "full");
    assert_eq!(fact(&facts, "foreign_keys"), "on");
    assert_eq!(fact(&facts, "runs"), "2");
    assert!(fact(&facts, "size_bytes").parse::<u64>().unwrap() >= 4096);
    // Read back, not repeated: another writer's row is counted too.
    f.second().create_run(new_run("run-c")).await.unwrap();
    assert_eq!(fact(&f.journal.describe().await.unwrap(), "runs"), "3");
}

#[tokio::test]
async fn an_event_cannot_be_rewritten() {
    let f = Fixture::sqlite();
    f.create("run-a").await;
    let other = Connection::open(f.folder.as_ref().unwrap().path().join("journal.db")).unwrap();
    let error = other.execute("UPDATE event SET data = '{}'", []).unwrap_err();
    assert!(error.to_string().contains("an event is never rewritten"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_not_guessed() {
    let f = Fixture::sqlite();
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let other = Connection::open(f.folder.as_ref().unwrap().path().join("journal.db")).unwrap();
    other
        .execute_batch(
            "DROP TRIGGER event_is_never_rewritten;
             UPDATE event SET data = '{' WHERE seq = 2;
             UPDATE run SET status = 'paused';
             UPDATE approval SET question = '{}';",
        )
        .unwrap();
    let told = f.journal.events(&run, 0).await.unwrap_err();
    assert!(matches!(&told, JournalError::Corrupt(text) if text.contains("event 2 of run `run-a`")), "{told:?}");
    let told = f.journal.run(&run).await.unwrap_err();
    assert!(matches!(&told, JournalError::Corrupt(text) if text.contains("`paused`")), "{told:?}");
    let told = f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap_err();
    assert!(matches!(told, JournalError::Corrupt(_)), "{told:?}");
}

#[test]
fn urls_say_which_journal() {
    for (url, message) in [
        ("journal.db", "does not say what kind"),
        ("oracle://user:secret@host/db", "`oracle:` is not a kind of journal"),
        ("sqlite:", "names no file"),
        ("sqlite::memory:", "has no path"),
        ("memory:x", "has no path"),
    ] {
        let error = open(url, ManualClock::new()).map(drop).unwrap_err();
        assert!(error.to_string().contains(message), "{url}: {error}");
        assert!(error.hint().contains("`sqlite:"), "{url}: {}", error.hint());
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let unknown = open("oracle://host", ManualClock::new()).map(drop).unwrap_err().to_string();
    assert!(unknown.contains("`sqlite:PATH`") && unknown.contains("`memory:`"), "{unknown}");
}

#[tokio::test]
async fn memory_is_a_journal_too() {
    let journal = open("memory:", ManualClock::new()).unwrap();
    journal.create_run(new_run("run-a")).await.unwrap();
    let facts = journal.describe().await.unwrap();
    assert_eq!((fact(&facts, "kind"), fact(&facts, "runs")), ("memory", "1"));
}

#[cfg(unix)]
#[test]
fn what_is_made_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/journal.db");
    let journal = open(&format!("sqlite:{}", path.display()), ManualClock::new()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    for entry in fs::read_dir(folder.path().join("a/b")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(journal);
}

#[test]
fn a_new_file_that_another_process_holds_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let other = Connection::open(&path).unwrap();
    // SQLite does not wait by itself for the switch to WAL.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = SqliteOptions { busy_timeout: Duration::from_millis(200) };
    let began = Instant::now();
    let error = SqliteJournal::open_with(&path, ManualClock::new(), options).map(drop).unwrap_err();
    assert!(began.elapsed() >= options.busy_timeout, "{:?}", began.elapsed());
    assert!(error.to_string().contains("locked"), "{error}");
    assert!(error.hint().contains("another program"), "{}", error.hint());
    other.execute_batch("ROLLBACK").unwrap();
    SqliteJournal::open_with(&path, ManualClock::new(), options).map(drop).unwrap();
}

#[test]
fn a_folder_is_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let error = refusal(folder.path());
    assert_eq!(error.to_string(), format!("`{}` is not a file", folder.path().display()));
    assert!(error.hint().contains("name a file"));
}

#[test]
fn a_place_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    // Below a file there is no folder, for nobody.
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = refusal(&file.join("journal.db"));
    assert!(matches!(&error, OpenError::Access { path, .. } if *path == file), "{error}");
    let error = refusal(&file.join("deeper/journal.db"));
    assert!(error.to_string().starts_with("cannot make the folder"), "{error}");
    assert!(error.hint().contains("in which you may write"));
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_told() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    let opened = open(&format!("sqlite:{}", closed.join("journal.db").display()), ManualClock::new()).map(drop);
    // The superuser may write everywhere; whoever else gets an answer that names the place.
    if fs::write(closed.join("probe"), "").is_ok() {
        assert_eq!(opened, Ok(()));
    } else {
        let error = opened.unwrap_err();
        assert!(matches!(&error, OpenError::Access { path, .. } if *path == closed.join("journal.db")), "{error}");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_cannot_be_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let url = format!("sqlite:{}", path.display());
    let journal = open(&url, ManualClock::new()).unwrap();
    let run = journal.create_run(new_run("run-a")).await.unwrap().0.lease().clone();
    journal.append(&run, vec![event("x.a")]).await.unwrap();
    // What was not moved into the file yet is read too.
    let log = folder.path().join("journal.db-wal");
    let kept = fs::read(&log).unwrap();
    assert!(!kept.is_empty());
    let main = fs::read(&path).unwrap();
    drop(journal);
    fs::write(&path, main).unwrap();
    fs::write(&log, &kept).unwrap();
    // SQLite cannot make its shared memory, as on a full disk.
    let memory = folder.path().join("journal.db-shm");
    std::os::unix::fs::symlink(folder.path().join("nowhere/memory"), &memory).unwrap();
    let journal = open(&url, ManualClock::new()).unwrap();
    assert_eq!(journal.runs(RunFilter::default()).await.unwrap().len(), 1);
    assert_gap_free(&journal.events(&run, 0).await.unwrap());
    assert_eq!(journal.events(&run, 0).await.unwrap().len(), 2);
    let told = journal.append(&run, vec![event("x.b")]).await.unwrap_err();
    assert!(matches!(told, JournalError::Unavailable(_)), "{told:?}");
    // Reading changed nothing.
    assert_eq!(fs::read(&log).unwrap(), kept);
    // As soon as it can be written, it is.
    fs::remove_file(&memory).unwrap();
    journal.append(&run, vec![event("x.b")]).await.unwrap();
    assert_gap_free(&journal.events(&run, 0).await.unwrap());
}

#[test]
fn garbage_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let garbage = "this is a letter, not a database\n".repeat(1000);
    fs::write(&path, &garbage).unwrap();
    let error = refusal(&path);
    assert_eq!(
        error.to_string(),
        format!("`{}` is not a Lockgate journal: it is not an SQLite database", path.display())
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), garbage);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bookmarks.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE run (mine TEXT)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = refusal(&path);
    assert!(error.to_string().contains("it is a database of another program"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let mut f = Fixture::sqlite();
    f.create("run-a").await;
    let path = f.folder.as_ref().unwrap().path().join("journal.db");
    f.journal = open("memory:", f.clock.clone()).unwrap();
    let other = Connection::open(&path).unwrap();
    let known: u32 = other.query_row("SELECT max(version) FROM meta", [], |row| row.get(0)).unwrap();
    let later = known + 1;
    other.execute("INSERT INTO meta VALUES (?1, 'later', 'sha256:x', 0)", [later]).unwrap();
    let error = refusal(&path);
    assert_eq!(error, OpenError::Journal(JournalError::TooNew { found: later, known }));
    assert!(error.hint().contains("newer version"));
    other.execute("DELETE FROM meta WHERE version = ?1", [later]).unwrap();
    other.execute("UPDATE meta SET checksum = 'sha256:x'", []).unwrap();
    assert_eq!(refusal(&path), OpenError::OtherMigration { journal: path.display().to_string(), version: 1 });
}

#[tokio::test]
async fn the_room_of_what_was_removed_is_given_back() {
    let f = Fixture::sqlite();
    let upkeep = f.journal.upkeep();
    let text = "x".repeat(300_000);
    for number in 0..20 {
        let run = f.create(&format!("run-{number}")).await;
        let whole = settling(&run.call(0, 0), Some(artifact("art-1", &text)));
        f.journal.settle(&run, whole, vec![event("run.completed")]).await.unwrap();
    }
    // Nothing is free yet.
    assert_eq!(upkeep.compact().await.unwrap(), None);
    f.clock.pass(Duration::from_hours(1));
    for number in 0..15 {
        let run_id = RunId::new(format!("run-{number}"));
        let prune = Prune { run_id, older_than: Duration::from_mins(1), last_seq: None, dry_run: false };
        assert_eq!(upkeep.prune_run(prune).await.unwrap(), Pruned::Removed);
    }
    let path = f.folder.as_ref().unwrap().path().join("journal.db");
    let compaction = upkeep.compact().await.unwrap().unwrap();
    assert!(compaction.before > 6_000_000 && compaction.after < 2_000_000, "{compaction:?}");
    assert_eq!(fs::metadata(&path).unwrap().len(), compaction.after);
    assert_eq!(upkeep.stats().await.unwrap().size_bytes, Some(compaction.after));
    // And what stayed is there, and goes on.
    let last = RunId::new("run-19");
    assert_eq!(f.journal.artifact(&last, &ArtifactId::new("art-1")).await.unwrap(), Some(text));
    let hold = f.journal.hold(&last).await.unwrap().unwrap();
    f.journal.append(hold.lease(), vec![event("x.a")]).await.unwrap();
}
