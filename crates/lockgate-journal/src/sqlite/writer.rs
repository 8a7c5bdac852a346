//! The one thread that writes, and how it makes one commit serve many callers.
//!
//! ```text
//!   caller 1 ─┐                 ┌──────────────────────── one transaction ─────────────────────────┐
//!   caller 2 ─┼─► channel ─────►│ BEGIN IMMEDIATE                                                  │
//!   caller 3 ─┘   take one, or  │   SAVEPOINT request   work 1      RELEASE                        │
//!                 what is       │   SAVEPOINT request   work 2 ✗    ROLLBACK TO, RELEASE           │
//!                 queued, ≤ 512 │   SAVEPOINT request   work 3      RELEASE                        │
//!                               │ COMMIT ──► fsync                                                 │
//!                               └──────────────────────────────────────────────────────────────────┘
//!                 then the replies: 1 its answer, 2 its refusal, 3 its answer
//!
//!   before COMMIT      a failure of one request    that request alone: its refusal, or Unavailable
//!                      the transaction is lost     all: Unavailable; nothing was written
//!   COMMIT fails       nobody knows                all: CommitUnknown; the file is closed, and opened again before the
//!                                                  next request. A later fsync that succeeds proves nothing about the
//!                                                  failed one, so nothing is tried a second time.
//! ```
//!
//! There is no artificial delay: while one group is being synced the next one gathers in the channel. A reply is sent
//! after COMMIT only, also to a refused request, because its refusal may rest on what an earlier request of the same group
//! had written.

use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ports::{Clock, JournalError};
use lockgate_contract::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::Place;
use super::fault::storage;
use super::readers::Readers;
use crate::error::OpenError;

/// The most requests of one commit.
const LARGEST_GROUP: usize = 512;

/// The handle to the thread. Dropping it lets the thread write what is queued, and waits for its end.
pub(super) struct Writer {
    requests: Option<mpsc::Sender<Box<dyn Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Opens the connection that writes, and starts the thread.
    pub(super) fn start(place: Place, clock: Arc<dyn Clock>, readers: Arc<Readers>) -> Result<Self, OpenError> {
        let connection = Some(place.writer(clock.now())?);
        let (requests, queue) = mpsc::channel();
        let mut desk = Desk { place, clock, readers, connection };
        let thread = thread::Builder::new()
            .name("lockgate-journal".to_owned())
            .spawn(move || desk.serve(&queue))
            .map_err(JournalError::unavailable)?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
    }

    /// Does `work` inside the next commit, and answers when that is on the disk. An `Err` undoes what `work` wrote.
    ///
    /// `work` is told the time at which it runs.
    pub(super) async fn commit<T, E, W>(&self, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnOnce(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let request = Box::new(Queued { work: Some(work), answer: None, reply });
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        if !sent {
            return Err(JournalError::unavailable("its writer has stopped").into());
        }
        answer.await.unwrap_or_else(|_| Err(JournalError::CommitUnknown("the writer stopped midway".to_owned()).into()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was told to whoever waited for it.
            let _ = thread.join();
        }
    }
}

/// Something that wants to be in a commit.
trait Request: Send {
    /// Works inside its savepoint. Answers whether what it wrote stays.
    fn work(&mut self, connection: &Connection, now: Timestamp) -> bool;

    /// Why what it wrote does not stay.
    fn failure(&self) -> String;

    /// Tells the caller: its own answer when the commit stands, else why it does not.
    fn reply(self: Box<Self>, commit: &Result<(), JournalError>);
}

struct Queued<T, E, W> {
    work: Option<W>,
    answer: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, W> Request for Queued<T, E, W>
where
    T: Send,
    E: From<JournalError> + fmt::Display + Send,
    W: FnOnce(&Connection, Timestamp) -> Result<T, E> + Send,
{
    fn work(&mut self, connection: &Connection, now: Timestamp) -> bool {
        self.answer = self.work.take().map(|work| work(connection, now));
        matches!(self.answer, Some(Ok(_)))
    }

    fn failure(&self) -> String {
        match &self.answer {
            Some(Err(error)) => error.to_string(),
            _ => String::new(),
        }
    }

    fn reply(self: Box<Self>, commit: &Result<(), JournalError>) {
        let answer = match commit {
            Ok(()) => self.answer,
            Err(error) => Some(Err(error.clone().into())),
        };
        if let Some(answer) = answer {
            // Whoever does not wait any more is not owed an answer; the write stands.
            let _ = self.reply.send(answer);
        }
    }
}

/// What the thread owns.
struct Desk {
    place: Place,
    clock: Arc<dyn Clock>,
    readers: Arc<Readers>,
    /// `None` after a failure: the next group opens the file anew.
    connection: Option<Connection>,
}

/// How a group ended that did not commit.
enum Failed {
    /// Before the commit: nothing was written.
    Before(JournalError),
    /// In the commit: nobody knows.
    Within(rusqlite::Error),
}

impl Desk {
    /// Serves until every sender is gone and the queue is empty.
    fn serve(&mut self, queue: &mpsc::Receiver<Box<dyn Request>>) {
        while let Ok(first) = queue.recv() {
            let mut group = vec![first];
            group.extend(queue.try_iter().take(LARGEST_GROUP - 1));
            let commit = self.commit(&mut group);
            for request in group {
                request.reply(&commit);
            }
        }
    }

    fn commit(&mut self, group: &mut [Box<dyn Request>]) -> Result<(), JournalError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.place.writer(self.clock.now()).map_err(JournalError::unavailable)?,
        };
        match self.transact(&connection, group) {
            Ok(()) => {
                self.connection = Some(connection);
                Ok(())
            }
            // Closing it rolls back what is left of the transaction.
            Err(Failed::Before(error)) => Err(error),
            Err(Failed::Within(error)) => {
                drop(connection);
                self.readers.forget();
                Err(JournalError::CommitUnknown(error.to_string()))
            }
        }
    }

    fn transact(&self, connection: &Connection, group: &mut [Box<dyn Request>]) -> Result<(), Failed> {
        // IMMEDIATE takes the write lock now: a transaction that began as a read could fail midway instead of waiting.
        execute(connection, "BEGIN IMMEDIATE").map_err(before)?;
        for request in group {
            self.attempt(connection, &mut **request)?;
        }
        reach(Point::CommitBefore);
        execute(connection, "COMMIT").map_err(Failed::Within)?;
        reach(Point::CommitAfter);
        Ok(())
    }

    /// One request in its savepoint: a bad one fails alone.
    fn attempt(&self, connection: &Connection, request: &mut dyn Request) -> Result<(), Failed> {
        execute(connection, "SAVEPOINT request").map_err(before)?;
        if !request.work(connection, self.clock.now()) {
            if connection.is_autocommit() {
                // SQLite gave the whole transaction up, as it does when the disk is full or broken.
                return Err(Failed::Before(JournalError::Unavailable(request.failure())));
            }
            execute(connection, "ROLLBACK TO request").map_err(before)?;
        }
        execute(connection, "RELEASE request").map_err(before)
    }
}

fn before(error: rusqlite::Error) -> Failed {
    Failed::Before(storage(error))
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests;
