//! What a database says about itself.

use lockgate_contract::ports::JournalError;

use super::pool::Pool;
use super::statements::Statement;
use super::transaction::{Transaction, get};
use super::{PostgresClock, PostgresDurability, PostgresOptions};

/// The facts that the database knows.
pub(super) async fn of_database(transaction: &Transaction<'_>) -> Result<Vec<(&'static str, String)>, JournalError> {
    let row = transaction.one(Statement::Describe, &[]).await?;
    let server = transaction.server();
    let obeyed = if server.bypasses_row_security { "bypassed" } else { "obeyed" };
    Ok(vec![
        ("database", get(&row, 0)?),
        ("role", server.role.clone()),
        ("schema_version", get::<i64>(&row, 3)?.to_string()),
        ("server_version", server.version.clone()),
        ("fsync", server.fsync.clone()),
        ("full_page_writes", server.full_page_writes.clone()),
        ("synchronous_commit", server.synchronous_commit.clone()),
        ("synchronous_standby_names", server.synchronous_standby_names.clone()),
        ("row_security", obeyed.to_owned()),
        ("size_bytes", get::<i64>(&row, 2)?.to_string()),
        ("runs", get::<i64>(&row, 1)?.to_string()),
    ])
}

/// The facts that this program decides.
pub(super) fn of_program(pool: &Pool) -> Vec<(&'static str, String)> {
    let PostgresOptions { connections, lease, tenant, clock, durability, .. } = &pool.options;
    vec![
        ("kind", "postgres".to_owned()),
        ("url", pool.shown().to_owned()),
        ("encrypted", "no".to_owned()),
        ("connections", connections.to_string()),
        ("lease_ms", lease.as_millis().to_string()),
        ("tenant", tenant.clone().unwrap_or_else(|| "every".to_owned())),
        (
            "clock",
            match clock {
                PostgresClock::Database => "of the database".to_owned(),
                PostgresClock::Given(_) => "given".to_owned(),
            },
        ),
        (
            "durability",
            match durability {
                PostgresDurability::Required => "required".to_owned(),
                PostgresDurability::Ignored => "ignored".to_owned(),
            },
        ),
    ]
}
