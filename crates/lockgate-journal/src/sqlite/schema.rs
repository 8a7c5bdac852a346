//! The schema: which migrations there are, and which of them a file has.

use std::path::Path;

use lockgate_contract::time::Timestamp;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};

use super::fault::{is_full, storage};
use crate::error::OpenError;
use crate::migration::{self, Migration, Unfit};

/// Every step, oldest first.
const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "journal", sql: include_str!("migrations/0001_journal.sql") },
    Migration { version: 2, name: "leases", sql: include_str!("migrations/0002_leases.sql") },
    Migration { version: 3, name: "ready", sql: include_str!("migrations/0003_ready.sql") },
    Migration { version: 4, name: "keeping", sql: include_str!("migrations/0004_keeping.sql") },
    Migration {
        version: 5,
        name: "approvers_and_quotas",
        sql: include_str!("migrations/0005_approvers_and_quotas.sql"),
    },
    Migration { version: 6, name: "run_numbers", sql: include_str!("migrations/0006_run_numbers.sql") },
];

/// Marks a file as a Lockgate journal (`LKGT`), in the place that SQLite's file format keeps for that.
const APPLICATION_ID: i32 = 0x4c4b_4754;

const META: &str = "
    CREATE TABLE IF NOT EXISTS meta (
        version    INTEGER PRIMARY KEY,
        name       TEXT NOT NULL,
        checksum   TEXT NOT NULL,
        applied_at INTEGER NOT NULL
    ) STRICT";

/// Whether the file has every table that this program reads.
pub(super) fn is_newest(connection: &Connection, path: &Path) -> bool {
    check(connection, path).is_ok_and(|version| version == migration::newest(MIGRATIONS))
}

/// Whether the file is a journal that this program may use, or an empty file that may become one. Changes nothing, and
/// answers with the version of its schema, 0 for an empty file.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<u32, OpenError> {
    // One snapshot for all questions: another process may be making the tables at this moment.
    let transaction = connection.unchecked_transaction().map_err(|error| refusal(path, error))?;
    examine(&transaction, path)
}

/// [`check`] inside a transaction.
fn examine(connection: &Connection, path: &Path) -> Result<u32, OpenError> {
    let fault = |error| refusal(path, error);
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(fault)?;
    if application != APPLICATION_ID {
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(fault)?;
        if application == 0 && tables == 0 {
            return Ok(0);
        }
        let cause = "it is a database of another program".to_owned();
        return Err(OpenError::NotAJournal { journal: path.display().to_string(), cause });
    }
    let applied = applied(connection).map_err(fault)?;
    migration::examine(MIGRATIONS, &applied).map_err(|unfit| match unfit {
        Unfit::TooNew(error) => error.into(),
        Unfit::Other { version } => OpenError::OtherMigration { journal: path.display().to_string(), version },
    })
}

/// Applies what is missing, in one transaction that only one process can hold.
pub(super) fn migrate(connection: &mut Connection, path: &Path, now: Timestamp) -> Result<(), OpenError> {
    // Most files are up to date: those are opened without the lock, also while another process writes.
    if check(connection, path)? == migration::newest(MIGRATIONS) {
        return Ok(());
    }
    let fault = |error| refusal(path, error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(fault)?;
    // Asked again: another process may have been faster.
    let found = examine(&transaction, path)?;
    transaction.execute(META, []).map_err(fault)?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        transaction.execute_batch(migration.sql).map_err(fault)?;
        transaction
            .execute(
                "INSERT INTO meta (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                params![migration.version, migration.name, migration.checksum(), now.as_millis()],
            )
            .map_err(fault)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fault)?;
    transaction.commit().map_err(fault)
}

/// The version of the file's schema, as the file says.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("SELECT coalesce(max(version), 0) FROM meta", [], |row| row.get(0))
}

/// What an error means while a file is being opened.
pub(super) fn refusal(path: &Path, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    if is_full(&error) {
        return OpenError::Journal(storage(error));
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotAJournal {
            journal: path.display().to_string(),
            cause: "it is not an SQLite database".to_owned(),
        },
        Some(
            ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure,
        ) => OpenError::Access { action: "open the journal", path, cause: error.to_string() },
        _ => OpenError::Journal(storage(error)),
    }
}

fn applied(connection: &Connection) -> rusqlite::Result<Vec<(u32, String)>> {
    connection
        .prepare("SELECT version, checksum FROM meta ORDER BY version")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

#[cfg(test)]
mod tests;
