//! How a journal in PostgreSQL behaves.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::ports::Clock;

use super::transaction::EVERY_TENANT;
use crate::error::OpenError;

/// How a [`PostgresJournal`](crate::PostgresJournal) behaves.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// How many connections it has at most; at least one.
    pub connections: u32,
    /// How long it waits for a connection, for a server that is not there, and for a run into which somebody else writes,
    /// before it answers [`JournalError::Unavailable`](lockgate_contract::ports::JournalError::Unavailable). A commit that
    /// was sent is waited for without end.
    pub wait: Duration,
    /// How long the right to drive a run outlives its driver. It is renewed after a third of that.
    pub lease: Duration,
    /// Whose rows there are: those of this tenant, or everybody's. The database keeps tenants apart, so the role must not be
    /// one that is above its policies.
    pub tenant: Option<String>,
    /// By which clock times are stamped and expiry is judged.
    pub clock: PostgresClock,
    /// Whether the server must promise to keep what it has acknowledged.
    pub durability: PostgresDurability,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections: 10,
            wait: Duration::from_secs(10),
            lease: Duration::from_secs(15),
            tenant: None,
            clock: PostgresClock::Database,
            durability: PostgresDurability::Required,
        }
    }
}

impl PostgresOptions {
    /// A tenant that would not be one.
    pub(super) fn check(&self) -> Result<(), OpenError> {
        match self.tenant.as_deref() {
            Some(tenant @ ("" | EVERY_TENANT)) => Err(OpenError::Tenant(tenant.to_owned())),
            _ => Ok(()),
        }
    }
}

/// By which clock a journal stamps and judges.
#[derive(Clone, Default)]
pub enum PostgresClock {
    /// The server's: one clock for all machines that share the database.
    #[default]
    Database,
    /// This one: for tests that move the time.
    Given(Arc<dyn Clock>),
}

impl fmt::Debug for PostgresClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Database => "Database",
            Self::Given(_) => "Given",
        })
    }
}

/// Whether a server must promise to keep what it has acknowledged. No URL can change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PostgresDurability {
    /// A server with `fsync`, `full_page_writes` or `synchronous_commit` off is refused.
    #[default]
    Required,
    /// Any server will do: for tests on a database that is thrown away.
    Ignored,
}
