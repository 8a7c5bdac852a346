//! Reads: on connections of their own, so that no read waits behind a write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::ports::JournalError;
use rusqlite::Connection;

use super::connection::Place;

/// Idle connections that are kept. More reads at once open more, and close them again.
const KEPT: usize = 4;

/// A few connections that only read. In WAL mode they see the last commit, and hinder no writer.
pub(super) struct Readers {
    place: Place,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(place: Place) -> Self {
        Self { place, idle: Mutex::default() }
    }

    /// Runs a query on tokio's blocking pool, which every flavour of its runtime has.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let readers = Arc::clone(self);
        tokio::task::spawn_blocking(move || readers.run(query)).await.map_err(JournalError::unavailable)?
    }

    /// Closes what is idle. After a failed commit only a file that is opened anew says what is in it.
    pub(super) fn forget(&self) {
        self.idle().clear();
    }

    fn run<T>(&self, query: impl FnOnce(&Connection) -> Result<T, JournalError>) -> Result<T, JournalError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.place.reader()?,
        };
        // A connection on which something failed is not used again: it is closed here.
        let answer = query(&connection)?;
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(connection);
        }
        Ok(answer)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
