//! One transaction, from BEGIN to COMMIT.
//!
//! ```text
//!   one flight        BEGIN, settings, and the first statements of the work: sent together, answered in order
//!   …                 what the work asks and writes
//!   ROLLBACK          the work refused, or a statement failed: nothing was written
//!   COMMIT            the answer is good        committed
//!                     the answer is an error,   nobody knows: CommitUnknown. The connection is closed, nothing is tried
//!                     does not come, or comes   again; a commit is never cancelled
//!                     with a warning
//! ```
//!
//! The warning is PostgreSQL's way to say that it stopped waiting for a standby: it reports success, and what it reports may
//! be gone after a failover.

use std::sync::OnceLock;

use futures_util::TryFutureExt as _;
use futures_util::future::try_join;
use lockgate_contract::digest::Digest;
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{BoxFuture, JournalError, Lease};
use lockgate_contract::time::Timestamp;
use tokio_postgres::Row;

use super::PostgresClock;
use super::connection::{Connection, Values};
use super::fault::{before, unreadable, within};
use super::pool::Pool;
use super::server::Server;
use super::statements::Statement;
use crate::stored::{digest, number};

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Every statement sees what was there when the first one ran.
    Read,
    /// Every statement sees what others committed before it: what a lock was waited for is read afterwards.
    Write,
}

impl Access {
    /// Said in full, whatever the server takes for usual.
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }
}

/// An open transaction, for the work inside it.
pub(super) struct Transaction<'t> {
    connection: &'t Connection,
    clock: &'t PostgresClock,
    news: OnceLock<RunId>,
}

/// Does `work` in a transaction of its own. An `Err` undoes what it wrote.
pub(super) async fn transact<T, E, W>(pool: &Pool, access: Access, work: W) -> Result<T, E>
where
    E: From<JournalError>,
    W: for<'t> FnOnce(&'t Transaction<'t>) -> BoxFuture<'t, Result<T, E>>,
{
    let lent = pool.lend().await?;
    let (answer, news) = {
        let transaction =
            Transaction { connection: &lent.connection, clock: &pool.options.clock, news: OnceLock::new() };
        // Polled in this order, so BEGIN is sent first; its answer is waited for with the others.
        let answer = try_join(begin(pool, &lent.connection, access).map_err(E::from), work(&transaction)).await;
        (answer, transaction.news.into_inner())
    };
    match answer {
        Ok(((), answer)) => {
            if news.is_some() {
                reach(Point::CommitBefore);
            }
            commit(&lent.connection, access).await?;
            pool.give_back(lent);
            if let Some(run) = news {
                reach(Point::CommitAfter);
                pool.news.add(run);
            }
            Ok(answer)
        }
        Err(error) => {
            // A connection that cannot even undo is closed by being dropped.
            if lent.connection.command("ROLLBACK").await.is_ok() {
                pool.give_back(lent);
            }
            Err(error)
        }
    }
}

async fn begin(pool: &Pool, connection: &Connection, access: Access) -> Result<(), JournalError> {
    let tenant = pool.options.tenant.as_deref().unwrap_or(EVERY_TENANT);
    let patience = format!("{}ms", pool.options.wait.as_millis().max(1));
    let begun = connection.command(access.begin());
    let settings: Values<'_> = &[&tenant, &patience];
    try_join(begun, connection.rows(Statement::Configure, settings)).await.map(drop).map_err(|error| before(&error))
}

/// What an operator's journal names instead of a tenant.
pub(super) const EVERY_TENANT: &str = "*";

async fn commit(connection: &Connection, access: Access) -> Result<(), JournalError> {
    // What it warned of before has nothing to do with the commit.
    connection.take_warning();
    let committed = connection.command("COMMIT").await;
    match (access, committed, connection.take_warning()) {
        (Access::Read, Err(error), _) => Err(before(&error)),
        (Access::Write, Err(error), _) => Err(within(&error)),
        (Access::Write, Ok(()), Some(warning)) => Err(JournalError::CommitUnknown(warning)),
        (Access::Write, Ok(()), None) | (Access::Read, Ok(()), _) => Ok(()),
    }
}

/// A run that no other transaction writes into while this one lasts.
pub(super) struct Locked {
    pub(super) run: RunId,
    pub(super) tenant: String,
    pub(super) epoch: u64,
    pub(super) next_seq: i64,
    pub(super) lease_until: Option<Timestamp>,
    /// The hash of the last event, where they are chained.
    pub(super) head: Option<Digest>,
    /// When it was locked.
    pub(super) now: Timestamp,
}

impl Locked {
    /// Whether nobody has taken the run over since.
    pub(super) fn is_of(&self, lease: &Lease) -> bool {
        self.epoch == lease.epoch
    }

    /// Fails for a driver whose run was taken over.
    pub(super) fn require(&self, lease: &Lease) -> Result<(), JournalError> {
        if self.is_of(lease) { Ok(()) } else { Err(JournalError::Fenced { run: self.run.clone() }) }
    }
}

impl Transaction<'_> {
    /// Locks a run, and reads what decides about it.
    pub(super) async fn lock(&self, run: &RunId) -> Result<Locked, JournalError> {
        // The clock is read after the lock is had, however long that was waited for.
        let lock: Values<'_> = &[&run.as_str()];
        let locking = self.row(Statement::Lock, lock);
        let (row, now) = match self.clock {
            PostgresClock::Database => try_join(locking, self.now()).await?,
            PostgresClock::Given(_) => (locking.await?, self.now().await?),
        };
        let row = row.ok_or_else(|| JournalError::NoSuchRun(run.clone()))?;
        Ok(Locked {
            run: run.clone(),
            tenant: get(&row, 0)?,
            epoch: number(get(&row, 1)?)?,
            next_seq: get(&row, 2)?,
            lease_until: get::<Option<i64>>(&row, 3)?.map(Timestamp::from_millis),
            head: get::<Option<&str>>(&row, 4)?.map(digest).transpose()?,
            now,
        })
    }

    /// The time by which this journal judges.
    pub(super) async fn now(&self) -> Result<Timestamp, JournalError> {
        match self.clock {
            PostgresClock::Database => Ok(Timestamp::from_millis(get(&self.one(Statement::Now, &[]).await?, 0)?)),
            PostgresClock::Given(clock) => Ok(clock.now()),
        }
    }

    /// How many rows a statement changed. Statements that are polled together are sent together, and run in the order in
    /// which they were first polled.
    pub(super) async fn execute(&self, statement: Statement, values: Values<'_>) -> Result<u64, JournalError> {
        self.connection.execute(statement, values).await.map_err(|error| before(&error))
    }

    /// The same, up to a point.
    pub(super) async fn execute_to(
        &self,
        point: Point,
        statement: Statement,
        values: Values<'_>,
    ) -> Result<u64, JournalError> {
        let changed = self.execute(statement, values).await?;
        reach(point);
        Ok(changed)
    }

    /// The one row of a statement, if there is one.
    pub(super) async fn row(&self, statement: Statement, values: Values<'_>) -> Result<Option<Row>, JournalError> {
        Ok(self.rows(statement, values).await?.pop())
    }

    /// The one row of a statement that always has one.
    pub(super) async fn one(&self, statement: Statement, values: Values<'_>) -> Result<Row, JournalError> {
        let row = self.row(statement, values).await?;
        row.ok_or_else(|| JournalError::Corrupt(format!("`{statement:?}` has no row")))
    }

    /// The rows of a statement.
    pub(super) async fn rows(&self, statement: Statement, values: Values<'_>) -> Result<Vec<Row>, JournalError> {
        self.connection.rows(statement, values).await.map_err(|error| before(&error))
    }

    /// Whoever watches this run is told, once this is committed.
    pub(super) fn has_news_of(&self, run: RunId) {
        // A transaction writes into one run.
        let _ = self.news.set(run);
    }

    /// What the server promised when the connection was made.
    pub(super) fn server(&self) -> &Server {
        &self.connection.server
    }
}

/// A column's value.
pub(super) fn get<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, at: usize) -> Result<T, JournalError> {
    row.try_get(at).map_err(|error| unreadable(&error))
}
