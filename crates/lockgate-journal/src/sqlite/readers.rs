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
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
    idle: Vec<Connection>,
    /// Whether a commit failed and the file was not opened anew since.
    in_doubt: bool,
    /// How often that happened. What was opened before is not used after it.
    doubts: u64,
}

impl Readers {
    pub(super) fn new(place: Place) -> Self {
        Self { place, desk: Mutex::default() }
    }

    /// Runs a query on tokio's blocking pool, which every flavour of its runtime has.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let readers = Arc::clone(self);
        tokio::task::spawn_blocking(move || readers.run(query)).await.map_err(JournalError::unavailable)?
    }

    /// Closes what is idle, and reads nothing until [`Readers::trust`]: after a failed commit the file may show what a power
    /// cut would take away, or hide what one would bring back.
    pub(super) fn doubt(&self) {
        let mut desk = self.desk();
        desk.in_doubt = true;
        desk.doubts += 1;
        desk.idle.clear();
    }

    /// Reads again: what the file shows is what is in it.
    pub(super) fn trust(&self) {
        self.desk().in_doubt = false;
    }

    fn run<T>(&self, query: impl FnOnce(&Connection) -> Result<T, JournalError>) -> Result<T, JournalError> {
        let (idle, doubts) = {
            let mut desk = self.desk();
            if desk.in_doubt {
                return Err(JournalError::unavailable("a commit failed, and the file could not be opened anew yet"));
            }
            (desk.idle.pop(), desk.doubts)
        };
        let (connection, keep) = match idle {
            Some(connection) => (connection, true),
            None => self.place.reader()?,
        };
        // A connection on which something failed is not used again: it is closed here.
        let answer = query(&connection)?;
        let mut desk = self.desk();
        if keep && desk.doubts == doubts && desk.idle.len() < KEPT {
            desk.idle.push(connection);
        }
        Ok(answer)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
