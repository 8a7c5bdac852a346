//! The schema `lockgate`: which migrations there are, and which of them a database has.

use lockgate_contract::ports::JournalError;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::fault::{before, within};
use crate::error::OpenError;
use crate::migration::{self, Migration, Unfit};
use crate::stored::number;

/// Every step, oldest first.
const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "journal", sql: include_str!("migrations/0001_journal.sql") },
    Migration {
        version: 2,
        name: "approvers_and_quotas",
        sql: include_str!("migrations/0002_approvers_and_quotas.sql"),
    },
];

const META: &str = "
    CREATE TABLE IF NOT EXISTS lockgate.meta (
        version    bigint PRIMARY KEY,
        name       text NOT NULL,
        checksum   text NOT NULL,
        applied_at bigint NOT NULL
    )";

/// The lock of whoever changes the schema (`LKGT`).
const MIGRATING: i64 = 0x4c4b_4754;

/// Whether the schema is one that this program may use, or is not there yet. Changes nothing, and answers with its version,
/// 0 where there is none.
pub(super) async fn check(client: &Client, journal: &str) -> Result<u32, OpenError> {
    let tables = "SELECT coalesce(bool_or(relname = 'meta'), false), count(*)
                  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                  WHERE nspname = 'lockgate' AND relkind IN ('r', 'p', 'v', 'm', 'f')";
    let row = client.query_typed_one(tables, &[]).await.map_err(|error| refusal(&error))?;
    let (has_meta, tables): (bool, i64) = (row.get(0), row.get(1));
    if !has_meta {
        if tables == 0 {
            return Ok(0);
        }
        let cause = "its schema `lockgate` holds the tables of another program".to_owned();
        return Err(OpenError::NotAJournal { journal: journal.to_owned(), cause });
    }
    let applied = "SELECT version, checksum FROM lockgate.meta ORDER BY version";
    let rows = client.query_typed(applied, &[]).await.map_err(|error| refusal(&error))?;
    let mut applied = Vec::with_capacity(rows.len());
    for row in rows {
        applied.push((number(row.get(0))?, row.get(1)));
    }
    migration::examine(MIGRATIONS, &applied).map_err(|unfit| match unfit {
        Unfit::TooNew(error) => error.into(),
        Unfit::Other { version } => OpenError::OtherMigration { journal: journal.to_owned(), version },
    })
}

/// Applies what is missing, in one transaction that only one program can hold.
pub(super) async fn migrate(client: &Client, journal: &str) -> Result<(), OpenError> {
    // Most databases are up to date: those are opened without the lock, and by roles that may not change the schema.
    if check(client, journal).await? == migration::newest(MIGRATIONS) {
        return Ok(());
    }
    client.batch_execute("BEGIN").await.map_err(|error| refusal(&error))?;
    // On any failure the caller closes the connection, which undoes all of it.
    client
        .query_typed("SELECT pg_advisory_xact_lock($1)", &[(&MIGRATING, Type::INT8)])
        .await
        .map_err(|error| refusal(&error))?;
    // Asked again: another program may have been faster.
    let found = check(client, journal).await?;
    // An administrator may have made the schema, for a role that may not make one.
    let exists = client
        .query_typed("SELECT 1 FROM pg_namespace WHERE nspname = 'lockgate'", &[])
        .await
        .map_err(|error| refusal(&error))?;
    if exists.is_empty() {
        client.batch_execute("CREATE SCHEMA lockgate").await.map_err(|error| refusal(&error))?;
    }
    client.batch_execute(META).await.map_err(|error| refusal(&error))?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        client.batch_execute(migration.sql).await.map_err(|error| refusal(&error))?;
        let applied = "INSERT INTO lockgate.meta (version, name, checksum, applied_at)
                       VALUES ($1, $2, $3, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
        let version = i64::from(migration.version);
        client
            .execute_typed(
                applied,
                &[(&version, Type::INT8), (&migration.name, Type::TEXT), (&migration.checksum(), Type::TEXT)],
            )
            .await
            .map_err(|error| refusal(&error))?;
    }
    client.batch_execute("COMMIT").await.map_err(|error| OpenError::Journal(within(&error)))
}

/// What an error means while a database is being opened.
fn refusal(error: &tokio_postgres::Error) -> OpenError {
    OpenError::Journal(before(error))
}

/// What a database means that turned unfit while the journal was open: somebody migrated it.
pub(super) fn unfit(error: OpenError) -> JournalError {
    match error {
        OpenError::Journal(error) => error,
        other => JournalError::unavailable(other),
    }
}
