//! The few connections that a journal shares among its callers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::ports::JournalError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::PostgresOptions;
use super::address::Address;
use super::connection::{Connection, NoConnection};
use super::fault::{may_pass, words};
use super::news::News;
use crate::error::OpenError;

/// How long to pause between attempts to reach a server that is not there: doubled each time, up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Connections, idle and lent.
pub(super) struct Pool {
    address: Address,
    pub(super) options: PostgresOptions,
    free: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    pub(super) news: News,
}

/// A connection that is lent. Dropped instead of given back, it is closed, and the server undoes what was not committed.
pub(super) struct Lent {
    pub(super) connection: Connection,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    /// Connects for the first time, and brings the schema up to date.
    pub(super) async fn open(address: Address, options: PostgresOptions) -> Result<Self, OpenError> {
        let free = Arc::new(Semaphore::new(usize::try_from(options.connections.max(1)).unwrap_or(usize::MAX)));
        let pool = Self { address, options, free, idle: Mutex::default(), news: News::default() };
        let first = pool.connect(true).await.map_err(|none| match none {
            NoConnection::Server(error) => {
                OpenError::Connect { journal: pool.address.shown.clone(), cause: words(&error) }
            }
            NoConnection::Refused(error) => error,
        })?;
        pool.idle().push(first);
        Ok(pool)
    }

    /// The URL without the password.
    pub(super) fn shown(&self) -> &str {
        &self.address.shown
    }

    /// Lends a connection: an idle one, or a new one. Waits as long as the options say for one that is free and for a server
    /// that is there.
    pub(super) async fn lend(&self) -> Result<Lent, JournalError> {
        let mut last = None;
        match timeout(self.options.wait, self.try_lend(&mut last)).await {
            Ok(lent) => lent,
            Err(_) => Err(last.unwrap_or_else(|| {
                JournalError::unavailable(format_args!("no connection became free within {:?}", self.options.wait))
            })),
        }
    }

    /// Takes a connection back that is outside of any transaction.
    pub(super) fn give_back(&self, lent: Lent) {
        let Lent { connection, _place } = lent;
        if !connection.is_closed() {
            self.idle().push(connection);
        }
    }

    async fn try_lend(&self, last: &mut Option<JournalError>) -> Result<Lent, JournalError> {
        let place = Arc::clone(&self.free).acquire_owned().await.map_err(JournalError::unavailable)?;
        let (mut pause, longest) = PAUSES;
        loop {
            if let Some(connection) = self.take_idle() {
                return Ok(Lent { connection, _place: place });
            }
            match self.connect(false).await {
                Ok(connection) => return Ok(Lent { connection, _place: place }),
                Err(NoConnection::Server(error)) if may_pass(&error) => {
                    *last = Some(JournalError::unavailable(words(&error)));
                }
                Err(none) => return Err(none.into()),
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle();
        // A server that stopped closed them all.
        idle.retain(|connection| !connection.is_closed());
        idle.pop()
    }

    async fn connect(&self, migrate: bool) -> Result<Connection, NoConnection> {
        Connection::open(&self.address, self.options.durability, self.options.tenant.as_deref(), migrate).await
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
