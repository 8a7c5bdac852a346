//! What the writer is asked for: some work, what it is for, and who waits for its answer.

use std::fmt;

use lockgate_contract::ports::JournalError;
use lockgate_contract::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::full;

/// What a write is for: that decides what becomes of it on a full disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A run, a question, an intent: what was begun must be able to end.
    Begin,
    /// Anything in between.
    Continue,
    /// A result, a takeover, how a run ended.
    End,
}

/// When what was written has to be on the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    /// Before it is answered.
    Now,
    /// No later than whatever is written after it: a power cut may take it, where nothing else would be missed.
    Next,
}

/// Something that wants to be in a commit.
pub(super) trait Request: Send {
    fn purpose(&self) -> Purpose;

    fn durable(&self) -> Durable;

    /// Works inside its savepoint. Answers whether what it wrote stays.
    fn work(&mut self, connection: &Connection, now: Timestamp) -> bool;

    /// Why what it wrote does not stay.
    fn failure(&self) -> String;

    /// Tells the caller: its own answer when the commit stands, else why it does not.
    fn reply(self: Box<Self>, commit: &Result<(), JournalError>);
}

pub(super) struct Queued<T, E, W> {
    pub(super) purpose: Purpose,
    pub(super) durable: Durable,
    pub(super) work: W,
    pub(super) answer: Option<Result<T, E>>,
    pub(super) reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, W> Request for Queued<T, E, W>
where
    T: Send,
    E: From<JournalError> + fmt::Display + Send,
    W: FnMut(&Connection, Timestamp) -> Result<T, E> + Send,
{
    fn purpose(&self) -> Purpose {
        self.purpose
    }

    fn durable(&self) -> Durable {
        self.durable
    }

    fn work(&mut self, connection: &Connection, now: Timestamp) -> bool {
        let answer = (self.work)(connection, now);
        let stays = answer.is_ok();
        self.answer = Some(answer);
        stays
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

/// Those of one commit.
pub(super) type Group = Vec<Box<dyn Request>>;

/// Work that is done once.
pub(super) fn once<T, E, W>(work: W) -> impl FnMut(&Connection, Timestamp) -> Result<T, E>
where
    E: From<JournalError>,
    W: FnOnce(&Connection, Timestamp) -> Result<T, E>,
{
    let mut work = Some(work);
    move |connection, now| match work.take() {
        Some(work) => work(connection, now),
        None => Err(full().into()),
    }
}

/// Tells a group what became of its commit.
pub(super) fn answer(group: Group, committed: &Result<(), JournalError>) {
    for request in group {
        request.reply(committed);
    }
}
