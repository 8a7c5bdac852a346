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
//!                 a request that is alone needs no savepoint: its refusal is ROLLBACK
//!
//!   before COMMIT      a failure of one request    that request alone: its refusal, or Unavailable
//!                      the transaction is lost     all: Unavailable; nothing was written
//!   the disk is full   also in COMMIT: SQLite has  all: Unavailable; but what ends something that was begun is tried
//!                      rolled back, and says so    again alone, at last with the room of the reserve (see `reserve`)
//!   COMMIT fails       nobody knows                all: CommitUnknown; the file is closed, opened again, and the log is
//!                                                  moved into it before anything else is written or read. A later fsync
//!                                                  that succeeds proves nothing about the failed one, so nothing is tried
//!                                                  a second time.
//! ```
//!
//! Why a full disk is not "nobody knows": SQLite syncs after the last frame of a transaction, the one that commits it, was
//! written, and an fsync that finds no room is an I/O error. What is "full" was the write of a frame, so that one is not
//! whole, and no recovery takes a transaction without it.
//!
//! A group of which a power cut may take everything ([`Durable::Next`]) is committed without the fsync: the log is synced as a whole,
//! and so with the next group that needs it.
//!
//! There is no artificial delay: while one group is being synced the next one gathers in the channel. A reply is sent
//! after COMMIT only, also to a refused request, because its refusal may rest on what an earlier request of the same group
//! had written.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ports::{Clock, JournalError};
use lockgate_contract::time::Timestamp;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::checkpoint::Log;
use super::connection::Place;
use super::fault::{full, is_broken, is_full, storage};
use super::readers::Readers;
use super::request::{Durable, Group, Purpose, Queued, Request, answer, once};
use super::reserve::Reserve;
use crate::error::OpenError;

/// The most requests of one commit.
const LARGEST_GROUP: usize = 512;

/// After how long without a request the log is moved into the file, or a file that failed is opened again.
const IDLE: Duration = Duration::from_millis(500);

/// How often what ends something waits for the file, `busy_timeout` each time: ten minutes, unless that is changed.
const TRIES_OF_AN_END: u32 = 60;

/// The handle to the thread. Dropping it lets the thread write what is queued, and waits for its end.
pub(super) struct Writer {
    requests: Option<mpsc::Sender<Box<dyn Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Opens the connection that writes, and starts the thread. Without a connection, where the journal can only be read:
    /// then each write tries to open one, and says why it could not.
    pub(super) fn start(place: Place, clock: Arc<dyn Clock>, readers: Arc<Readers>) -> Result<Self, OpenError> {
        let mut log = Log::new();
        let connection = match place.writer(clock.now(), &mut log) {
            Ok(connection) => Some(connection),
            Err(OpenError::Access { .. } | OpenError::Journal(JournalError::Unavailable(_))) if place.is_readable() => {
                None
            }
            Err(error) => return Err(error),
        };
        let reserve = Reserve::of(&place.path);
        let (requests, queue) = mpsc::channel();
        let mut desk = Desk { place, clock, readers, reserve, log, connection, durable: Durable::Now, in_doubt: false };
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
        self.send(Purpose::Continue, Durable::Now, once(work)).await
    }

    /// Like [`Writer::commit`], for what begins something whose end will need room. Refused while there is no reserve.
    pub(super) async fn begin<T, E, W>(&self, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnOnce(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        self.begin_within(Durable::Now, work).await
    }

    /// The same, on the disk by then.
    pub(super) async fn begin_within<T, E, W>(&self, durable: Durable, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnOnce(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        self.send(Purpose::Begin, durable, once(work)).await
    }

    /// Like [`Writer::commit`], for what ends something that was begun: on a full disk it uses the reserve. `work` is done
    /// again there, after what it wrote before was undone.
    pub(super) async fn end<T, E, W>(&self, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnMut(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        self.end_within(Durable::Now, work).await
    }

    /// The same, on the disk by then.
    pub(super) async fn end_within<T, E, W>(&self, durable: Durable, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnMut(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        self.send(Purpose::End, durable, work).await
    }

    async fn send<T, E, W>(&self, purpose: Purpose, durable: Durable, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: FnMut(&Connection, Timestamp) -> Result<T, E> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let request = Box::new(Queued { purpose, durable, work, answer: None, reply });
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

/// What the thread owns.
struct Desk {
    place: Place,
    clock: Arc<dyn Clock>,
    readers: Arc<Readers>,
    reserve: Reserve,
    log: Log,
    /// `None` after a failure: the next group opens the file anew.
    connection: Option<Connection>,
    /// What a commit of that connection waits for.
    durable: Durable,
    /// Whether a commit failed, and the log was not moved into the file since.
    in_doubt: bool,
}

/// How a group ended that did not commit.
enum Failed {
    /// Before the commit: nothing was written.
    Before(JournalError),
    /// There was no room: nothing was written.
    Full,
    /// In the commit: nobody knows.
    Within(rusqlite::Error),
}

impl Failed {
    /// What those are told who asked for it.
    fn told(self) -> JournalError {
        match self {
            Self::Before(error) => error,
            Self::Full => full(),
            Self::Within(error) => JournalError::CommitUnknown(error.to_string()),
        }
    }
}

impl Desk {
    /// Serves until every sender is gone and the queue is empty.
    fn serve(&mut self, queue: &mpsc::Receiver<Box<dyn Request>>) {
        loop {
            let first = if self.in_doubt || (self.connection.is_some() && self.log.is_in_use()) {
                match queue.recv_timeout(IDLE) {
                    Err(RecvTimeoutError::Timeout) => {
                        self.rest();
                        continue;
                    }
                    first => first.ok(),
                }
            } else {
                queue.recv().ok()
            };
            let Some(first) = first else { return };
            let mut group = vec![first];
            group.extend(queue.try_iter().take(LARGEST_GROUP - 1));
            self.group(group);
            // Those who waited have their answers; the next ones gather meanwhile.
            self.bound_log();
        }
    }

    /// Commits a group and answers everybody in it.
    fn group(&mut self, group: Group) {
        let mut group = self.with_room(group);
        let mut committed = self.commit(&mut group);
        if matches!(committed, Err(Failed::Full)) {
            let (ends, others) = group.into_iter().partition(|request| request.purpose() == Purpose::End);
            answer(others, &Err(full()));
            group = ends;
            committed = self.commit(&mut group);
            if matches!(committed, Err(Failed::Full)) && self.reserve.give_up() {
                committed = self.commit(&mut group);
            }
        }
        answer(group, &committed.map_err(Failed::told));
    }

    /// Refuses what wants to begin while there is no reserve for its end.
    fn with_room(&self, group: Group) -> Group {
        if group.iter().all(|request| request.purpose() != Purpose::Begin) {
            return group;
        }
        let Err(cause) = self.reserve.make() else { return group };
        let (begins, others) = group.into_iter().partition(|request| request.purpose() == Purpose::Begin);
        let told = format!("no room can be kept for the results of calls: {cause}");
        answer(begins, &Err(JournalError::Unavailable(told)));
        others
    }

    fn commit(&mut self, group: &mut Group) -> Result<(), Failed> {
        if group.is_empty() {
            return Ok(());
        }
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        match self.transact(&connection, group) {
            Ok(()) => {
                self.connection = Some(connection);
                Ok(())
            }
            Err(Failed::Full) => {
                // On a full disk it might not be possible to open it again.
                if is_rolled_back(&connection) {
                    self.connection = Some(connection);
                }
                Err(Failed::Full)
            }
            // Closing it rolls back what is left of the transaction.
            Err(Failed::Before(error)) => Err(Failed::Before(error)),
            Err(Failed::Within(error)) => {
                self.doubt(connection);
                Err(Failed::Within(error))
            }
        }
    }

    /// The connection after a failure.
    fn open(&mut self) -> Result<Connection, Failed> {
        let opened = match self.place.writer(self.clock.now(), &mut self.log) {
            Err(OpenError::Journal(error)) if error == full() => Err(Failed::Full),
            opened => opened.map_err(|error| Failed::Before(JournalError::unavailable(error))),
        };
        let connection = opened?;
        self.durable = Durable::Now;
        if self.in_doubt {
            // Whatever the log shows is written into the file now, and what it does not show is cut off: so that it does
            // not matter any more what of the log is on the disk.
            match self.log.empty(&connection) {
                Ok(true) => {}
                Ok(false) => {
                    let told = "another process reads the log, in which a commit failed";
                    return Err(Failed::Before(JournalError::unavailable(told)));
                }
                Err(error) => return Err(before(error)),
            }
            self.in_doubt = false;
            self.readers.trust();
        }
        Ok(connection)
    }

    /// After a commit of which nobody knows: closes everything and opens the file anew, now if that can be.
    fn doubt(&mut self, connection: Connection) {
        self.in_doubt = true;
        self.readers.doubt();
        drop(connection);
        self.connection = self.open().ok();
    }

    fn bound_log(&mut self) {
        self.keep_log(Log::bound);
    }

    /// Nothing was asked for since a while.
    fn rest(&mut self) {
        if self.in_doubt {
            self.connection = self.open().ok();
            return;
        }
        self.keep_log(|log, connection, wait| {
            connection.busy_timeout(Duration::ZERO)?;
            let done = log.empty(connection);
            connection.busy_timeout(wait)?;
            done.map(drop)
        });
    }

    /// Does something about the log. That it cannot be done now is no failure of a write, but a broken disk is.
    fn keep_log(&mut self, work: impl FnOnce(&mut Log, &Connection, Duration) -> rusqlite::Result<()>) {
        let Some(connection) = self.connection.take() else { return };
        match work(&mut self.log, &connection, self.place.busy_timeout) {
            Err(error) if is_broken(&error) => self.doubt(connection),
            _ => self.connection = Some(connection),
        }
    }

    /// Says what the next commit waits for.
    fn wait_for(&mut self, durable: Durable, connection: &Connection) -> Result<(), Failed> {
        if self.durable != durable {
            let level = match durable {
                Durable::Now => "FULL",
                Durable::Next => "NORMAL",
            };
            connection.pragma_update(None, "synchronous", level).map_err(before)?;
            self.durable = durable;
        }
        Ok(())
    }

    fn transact(&mut self, connection: &Connection, group: &mut Group) -> Result<(), Failed> {
        let may_wait = group.iter().all(|request| request.durable() == Durable::Next);
        self.wait_for(if may_wait { Durable::Next } else { Durable::Now }, connection)?;
        take_the_file(connection, group)?;
        if let [alone] = &mut group[..] {
            if !self.attempt(connection, &mut **alone)? {
                return execute(connection, "ROLLBACK").map_err(before);
            }
        } else {
            for request in group {
                self.attempt_among_others(connection, &mut **request)?;
            }
        }
        reach(Point::CommitBefore);
        match execute(connection, "COMMIT") {
            // Only SQLite's own "full", and only with its word that it rolled back.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) && connection.is_autocommit() => {
                return Err(Failed::Full);
            }
            committed => committed.map_err(Failed::Within)?,
        }
        reach(Point::CommitAfter);
        Ok(())
    }

    /// One request in its savepoint: a bad one fails alone.
    fn attempt_among_others(&self, connection: &Connection, request: &mut dyn Request) -> Result<(), Failed> {
        execute(connection, "SAVEPOINT request").map_err(before)?;
        if !self.attempt(connection, request)? {
            execute(connection, "ROLLBACK TO request").map_err(before)?;
        }
        execute(connection, "RELEASE request").map_err(before)
    }

    /// Does what is asked for. Answers whether what it wrote stays, which is the caller's to undo otherwise.
    fn attempt(&self, connection: &Connection, request: &mut dyn Request) -> Result<bool, Failed> {
        if request.work(connection, self.clock.now()) {
            return Ok(true);
        }
        let is_full = request.failure() == full().to_string();
        if is_full && (connection.is_autocommit() || request.purpose() == Purpose::End) {
            return Err(Failed::Full);
        }
        if connection.is_autocommit() {
            // SQLite gave the whole transaction up, as it does when the disk is broken.
            return Err(Failed::Before(JournalError::Unavailable(request.failure())));
        }
        Ok(false)
    }
}

/// Begins the transaction. IMMEDIATE takes the write lock now: one that began as a read could fail midway instead of
/// waiting. Whoever ends something waits longer, also while another process writes the whole file anew: an effect whose
/// result is not kept is one that nobody knows.
fn take_the_file(connection: &Connection, group: &Group) -> Result<(), Failed> {
    let ends = group.iter().any(|request| request.purpose() == Purpose::End);
    let mut tries = if ends { TRIES_OF_AN_END } else { 1 };
    loop {
        tries -= 1;
        match execute(connection, "BEGIN IMMEDIATE") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries > 0 => {}
            begun => return begun.map_err(before),
        }
    }
}

/// Ends a transaction that may have ended by itself. Answers whether none is left.
fn is_rolled_back(connection: &Connection) -> bool {
    connection.is_autocommit() || (execute(connection, "ROLLBACK").is_ok() && connection.is_autocommit())
}

/// What an error means that came before the commit.
fn before(error: rusqlite::Error) -> Failed {
    if is_full(&error) { Failed::Full } else { Failed::Before(storage(error)) }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests;
