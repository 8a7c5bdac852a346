//! URLs, servers and databases that are right, and those that are not.

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{Journal, JournalError};
use lockgate_journal::{OpenError, PostgresJournal, PostgresOptions, open};

use crate::support::database::{Database, options};
use crate::support::{Fixture, ManualClock, decision, new_run};

fn refusal(url: &str) -> OpenError {
    PostgresJournal::open_with(url, options(ManualClock::new())).map(drop).unwrap_err()
}

#[tokio::test]
async fn it_says_what_it_is_set_to() {
    let f = Fixture::postgres();
    f.create("run-a").await;
    f.create("run-b").await;
    let facts = f.journal.describe().await.unwrap();
    let fact = |name: &str| facts.iter().find(|(known, _)| known == name).map(|(_, fact)| fact.as_str()).unwrap();
    let database = f.database.as_ref().unwrap();
    assert_eq!(fact("kind"), "postgres");
    assert_eq!(fact("url"), database.url().replace("lockgate_test_owner:lockgate_test_owner@", "lockgate_test_owner@"));
    assert_eq!(fact("database"), database.name());
    assert_eq!((fact("role"), fact("row_security")), ("lockgate_test_owner", "obeyed"));
    assert_eq!(fact("schema_version"), "2");
    let shown = database.administrator().await.query_one("SHOW server_version", &[]).await.unwrap();
    assert_eq!(fact("server_version"), shown.get::<_, &str>(0));
    assert!(["on", "off"].contains(&fact("fsync")));
    assert_eq!((fact("full_page_writes"), fact("synchronous_commit")), ("on", "local"));
    assert_eq!((fact("connections"), fact("lease_ms"), fact("tenant")), ("5", "15000", "every"));
    assert_eq!((fact("clock"), fact("durability"), fact("encrypted")), ("given", "ignored", "no"));
    assert!(fact("size_bytes").parse::<u64>().unwrap() >= 1 << 20);
    assert_eq!(fact("runs"), "2");
}

#[test]
fn urls_say_which_database() {
    for (url, message, hint) in [
        ("postgres://user:secret@host:1:2/db", "cannot be read", "postgres://USER"),
        ("postgres://user:secret@host/db?sslmode=verify-full", "`sslmode`", "postgres://USER"),
        ("postgres://user:secret@host/db?sslmode=require", "encrypted connection", "not encrypted"),
        ("postgresql://user:secret@host/db?nonsense=1", "nonsense", "postgres://USER"),
    ] {
        let error = open(url, ManualClock::new()).map(drop).unwrap_err();
        assert!(error.to_string().contains(message), "{url}: {error}");
        assert!(error.hint().contains(hint), "{url}: {}", error.hint());
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let unknown = open("oracle://host", ManualClock::new()).map(drop).unwrap_err().to_string();
    assert!(unknown.contains("`postgres://HOST/DATABASE`"), "{unknown}");
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    // Nothing listens on port 1, and nothing there may be started by anybody else.
    let error = refusal("postgres://user:secret@127.0.0.1:1/db");
    assert!(
        matches!(&error, OpenError::Connect { journal, .. } if journal == "postgres://user@127.0.0.1:1/db"),
        "{error}"
    );
    assert!(error.to_string().contains("refused"), "{error}");
    let database = Database::empty();
    let error = refusal(&database.url_for("nobody_of_this_name"));
    assert!(matches!(error, OpenError::Connect { .. }), "{error}");
}

#[test]
fn a_server_that_forgets_what_it_acknowledged_is_refused() {
    let database = Database::new();
    // Whatever the server is set to, this session is not durable.
    let url = format!("{}?options=-c%20synchronous_commit%3Doff", database.url());
    let error = open(&url, ManualClock::new()).map(drop).unwrap_err();
    let OpenError::Server { setting, found, wanted, .. } = &error else { panic!("{error}") };
    assert!(["fsync", "synchronous_commit"].contains(setting), "{error}");
    assert_eq!((found.as_str(), *wanted), ("off", "on"));
    assert!(error.hint().contains("setting"), "{}", error.hint());
    // No part of a URL says that this does not matter.
    let error = refusal(&format!("{}?durability=ignored", database.url()));
    assert!(matches!(error, OpenError::Url { .. }), "{error}");
}

#[tokio::test]
async fn a_database_is_made_a_journal_by_whoever_comes_first() {
    let database = Database::empty();
    let opened: Vec<_> = (0..4)
        .map(|_| {
            let url = database.url();
            std::thread::spawn(move || PostgresJournal::open_with(&url, options(ManualClock::new())).unwrap())
        })
        .collect();
    let journals: Vec<_> = opened.into_iter().map(|thread| thread.join().unwrap()).collect();
    journals[0].create_run(new_run("run-a")).await.unwrap();
    for journal in &journals {
        assert_eq!(journal.run(&RunId::new("run-a")).await.unwrap().unwrap().title, "title of run-a");
    }
}

#[tokio::test]
async fn a_role_that_may_not_make_tables_is_told() {
    let database = Database::empty();
    let error = refusal(&database.url_for(crate::support::database::USER));
    assert!(
        matches!(&error, OpenError::Journal(JournalError::Unavailable(text)) if text.contains("permission denied")),
        "{error}"
    );
}

#[tokio::test]
async fn tables_of_another_program_are_refused_and_left_alone() {
    let database = Database::empty();
    let administrator = database.administrator().await;
    administrator.batch_execute("CREATE SCHEMA lockgate; CREATE TABLE lockgate.run (mine text)").await.unwrap();
    let sql = format!("GRANT ALL ON SCHEMA lockgate TO {}", "lockgate_test_owner");
    administrator.batch_execute(&sql).await.unwrap();
    let error = refusal(&database.url());
    assert!(matches!(error, OpenError::NotAJournal { .. }), "{error}");
    administrator.query("SELECT mine FROM lockgate.run", &[]).await.unwrap();
}

#[tokio::test]
async fn a_schema_that_an_administrator_made_is_used() {
    let database = Database::empty();
    let administrator = database.administrator().await;
    let sql = format!(
        "REVOKE CREATE ON DATABASE {} FROM PUBLIC; CREATE SCHEMA lockgate AUTHORIZATION {}",
        database.name(),
        crate::support::database::USER
    );
    administrator.batch_execute(&sql).await.unwrap();
    let url = database.url_for(crate::support::database::USER);
    let journal = PostgresJournal::open_with(&url, options(ManualClock::new())).unwrap();
    journal.create_run(new_run("run-a")).await.unwrap();
}

#[tokio::test]
async fn a_newer_or_other_schema_is_refused() {
    let f = Fixture::postgres();
    let database = f.database.as_ref().unwrap();
    let administrator = database.administrator().await;
    administrator.batch_execute("INSERT INTO lockgate.meta VALUES (999, 'later', 'sha256:x', 0)").await.unwrap();
    let error = refusal(&database.url());
    assert_eq!(error, OpenError::Journal(JournalError::TooNew { found: 999, known: 2 }));
    assert!(error.hint().contains("newer version"));
    // A journal that is open notices it with its next connection.
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";
    administrator.query(kill, &[&database.name()]).await.unwrap();
    let mut told = f.journal.create_run(new_run("run-a")).await.map(drop);
    if matches!(told, Err(JournalError::Unavailable(_))) {
        told = f.journal.create_run(new_run("run-a")).await.map(drop);
    }
    assert_eq!(told, Err(JournalError::TooNew { found: 999, known: 2 }));
    administrator
        .batch_execute("DELETE FROM lockgate.meta WHERE version = 999; UPDATE lockgate.meta SET checksum = 'sha256:x'")
        .await
        .unwrap();
    assert!(matches!(refusal(&database.url()), OpenError::OtherMigration { version: 1, .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_schema_1_goes_on() {
    let f = Fixture::postgres();
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let database = f.database.as_ref().unwrap();
    // What migration 2 made is taken out again.
    let before = "ALTER TABLE lockgate.approval DROP COLUMN yeses; ALTER TABLE lockgate.call DROP COLUMN subject;
                  DROP INDEX lockgate.call_started; DELETE FROM lockgate.meta WHERE version = 2";
    database.administrator().await.batch_execute(before).await.unwrap();
    let journal = database.journal(f.clock.clone());
    let asked = journal.approval(&ApprovalId::new("apr-1")).await.unwrap().unwrap();
    assert_eq!((asked.state, asked.yeses.len()), (ApprovalState::Pending, 0));
    let granted = journal.decide(decision("apr-1", ApprovalState::Granted)).await.unwrap();
    assert_eq!((granted.state, granted.yeses.len()), (ApprovalState::Granted, 1));
}

#[test]
fn a_tenant_needs_a_name_that_is_one() {
    for tenant in ["", "*"] {
        let options = PostgresOptions { tenant: Some(tenant.to_owned()), ..options(ManualClock::new()) };
        let error = PostgresJournal::open_with("postgres://127.0.0.1:1/db", options).map(drop).unwrap_err();
        assert_eq!(error, OpenError::Tenant(tenant.to_owned()));
    }
}
