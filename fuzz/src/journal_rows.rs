//! Rows of a journal's database that Lockgate did not write: a run, a question, and any number of events.

use std::cell::LazyCell;
use std::path::Path;
use std::sync::Arc;

use lockgate::contract::document::{Document, Limits};
use lockgate::contract::ids::RunId;
use lockgate::harness::check::Export;
use lockgate::prelude::*;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A journal, and a way past it into its file.
struct Store {
    runtime: Runtime,
    journal: Arc<dyn Journal>,
    connection: Connection,
    _folder: TempDir,
}

thread_local! {
    /// Opened once: opening is the slowest part.
    static STORE: LazyCell<Store> = LazyCell::new(Store::open);
}

impl Store {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = open_journal(&format!("sqlite:{}", path.display()), Arc::new(SystemClock)).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { runtime, journal, connection, _folder: folder }
    }

    /// Replaces what the file holds. SQLite itself refuses what its columns cannot hold.
    fn put(&self, records: &[Vec<&[u8]>]) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN; DELETE FROM run; DELETE FROM event; DELETE FROM approval")?;
        let rows = [
            "INSERT INTO run (place, run_id, tenant, kind, title, status, next_seq, created_at, updated_at)
             VALUES (1, 'r', 'demo', ?1, ?2, ?3, ?4, ?5, ?6)",
            "INSERT INTO approval (approval_id, tenant, run_id, question, state, requested_at, expires_at, decided_by,
             decided_at) VALUES ('a', 'demo', 'r', ?1, ?2, ?3, ?4, ?5, ?6)",
        ];
        let event =
            "INSERT INTO event (run, seq, at, kind, v, step, call_id, data) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for (index, fields) in records.iter().enumerate() {
            let sql = rows.get(index).copied().unwrap_or(event);
            let mut statement = self.connection.prepare_cached(sql)?;
            for place in 1..=statement.parameter_count() {
                let field = fields.get(place - 1).copied().unwrap_or_default();
                let value = if field.is_empty() { ValueRef::Null } else { ValueRef::Text(field) };
                statement.raw_bind_parameter(place, rusqlite::types::ToSqlOutput::Borrowed(value))?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// Stores the records and reads them through the journal, as `lockgate runs show` and `lockgate journal check` do.
pub fn run(bytes: &[u8]) {
    STORE.with(|store| {
        let stored = store.put(&super::fields::split(bytes));
        store.connection.execute_batch(if stored.is_ok() { "COMMIT" } else { "ROLLBACK" }).unwrap();
        store.runtime.block_on(read(&*store.journal));
    });
}

async fn read(journal: &dyn Journal) {
    let run = RunId::new("r");
    let faults = [
        journal.run(&run).await.err(),
        journal.runs(RunFilter::default()).await.err(),
        journal.approvals(ApprovalFilter::default()).await.err(),
    ];
    for fault in faults.into_iter().flatten() {
        assert!(!fault.to_string().is_empty());
    }
    match journal.events(&run, 0).await {
        Ok(events) => super::journal_export::judge(&events),
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
}

/// The good journals of the checker's own corpus, as rows.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let files = super::files(&root.join("testdata/journals/good"), ".jsonl");
    files.iter().map(|path| rows(&super::text(path))).collect()
}

fn rows(export: &str) -> Vec<u8> {
    let words = |words: [&str; 6]| words.map(str::to_owned).to_vec();
    let mut records = vec![words(["agent", "Do it.", "completed", "5", "1800000000000", "1800000000001"])];
    let question = export.lines().find(|line| line.contains(r#""approval.requested""#)).map(|line| {
        let event = Document::parse(line, Limits::OWN).unwrap();
        event.root().get("data").unwrap().raw().to_owned()
    });
    let question = question.as_deref().unwrap_or("{}");
    records.push(words([question, "granted", "1800000000000", "1800000600000", "alice", "1800000000500"]));
    for event in &Export::read(export.as_bytes()).runs[0].events {
        records.push(vec![
            event.seq.to_string(),
            event.at.as_millis().to_string(),
            event.kind.word().to_owned(),
            event.v.to_string(),
            event.step.to_string(),
            event.call_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            event.data.text().to_owned(),
        ]);
    }
    super::fields::join(&records)
}
