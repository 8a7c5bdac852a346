//! The journal in one SQLite file: the default.
//!
//! ```text
//!  callers ── request ──► writer thread ── one connection ──► file      every change, in groups (see `writer`)
//!  callers ── query ────► blocking pool ── few connections ─► file      every read
//! ```
//!
//! Several local processes may share the file. Each of them writes in `BEGIN IMMEDIATE` transactions and waits for the
//! others up to a busy time-out; a sequence number is taken from the run's own row in the same transaction as the events
//! are written, so that no number is given twice and none is left out.

mod checkpoint;
mod connection;
mod fault;
mod file;
mod hold;
#[cfg(test)]
mod plans;
mod read;
mod readers;
mod request;
mod reserve;
mod schema;
mod upkeep;
mod write;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::Approval;
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Clock, Count, Decision, DecisionRefused, Journal,
    JournalError, KeyHolder, Lease, NewRun, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};

use self::connection::Place;
use self::readers::Readers;
use self::request::Durable;
use self::writer::Writer;
use crate::error::OpenError;
use crate::followers::Followers;
use crate::rules::{self, StatusChange};

/// Keeps everything in one file. What it has answered for is on the disk (`synchronous=FULL`), but for the beginning of a
/// direct call's run, and its end where that did not come with the result: those are with whatever is written next, and nothing
/// that a power cut takes of them is missed.
///
/// A file beside it (`.reserve`, 4 MiB) keeps room for the results of calls that were started: on a full disk nothing new
/// begins, and what was begun still ends. A journal that cannot be written (a full disk, a medium that is read only) opens
/// all the same, and is read; each write answers
/// [`JournalError::Unavailable`](lockgate_contract::ports::JournalError::Unavailable).
///
/// A write whose future is dropped is not taken back: it is written all the same. Dropping the journal waits until what
/// was asked for is written. Reads need a tokio runtime of any flavour around them; writes need none.
pub struct SqliteJournal {
    clock: Arc<dyn Clock>,
    writer: Writer,
    readers: Arc<Readers>,
    followers: Followers,
    place: Place,
}

/// How a [`SqliteJournal`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long it waits for another process that writes, before it answers
    /// [`JournalError::Unavailable`](lockgate_contract::ports::JournalError::Unavailable).
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10) }
    }
}

impl SqliteJournal {
    /// Opens the file, makes it when there is none, and brings its schema up to date.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Self::open_with(path, clock, SqliteOptions::default())
    }

    /// Like [`SqliteJournal::open`], with other options.
    pub fn open_with(path: &Path, clock: Arc<dyn Clock>, options: SqliteOptions) -> Result<Self, OpenError> {
        let place = Place { path: file::prepare(path)?, busy_timeout: options.busy_timeout };
        let readers = Arc::new(Readers::new(place.clone()));
        let writer = Writer::start(place.clone(), Arc::clone(&clock), Arc::clone(&readers))?;
        Ok(Self { clock, writer, readers, followers: Followers::new(None), place })
    }
}

impl SqliteJournal {
    /// A commit that writes into this run: whoever follows it hears of it.
    async fn told<T, E>(&self, run: &RunId, commit: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let answer = commit.await;
        self.followers.wake(run);
        answer
    }
}

impl Journal for SqliteJournal {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        Box::pin(async move {
            // Before the run can be seen: a run that nobody holds is one whose driver died.
            let lock = hold::take(&self.place.path, &run.run_id)?
                .ok_or_else(|| JournalError::Exists(run.run_id.to_string()))?;
            let durable = if rules::begins_nothing(run.kind) { Durable::Next } else { Durable::Now };
            let created =
                self.writer.begin_within(durable, move |connection, now| write::create_run(connection, run, now));
            let (lease, appended) = created.await?;
            Ok((RunHold::new(lease, lock), appended))
        })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        Box::pin(async move {
            let Some(lock) = hold::take(&self.place.path, run)? else { return Ok(None) };
            let held = run.clone();
            let taken = self.writer.end(move |connection, now| write::take_lease(connection, &held, now));
            Ok(Some(RunHold::new(self.told(run, taken).await?, lock)))
        })
    }

    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        let clock = Arc::clone(&self.clock);
        Box::pin(async move {
            // Whoever asks for work shows first that there is room for it: on a full disk nothing new begins.
            self.writer.begin(|connection, _now| write::touch(connection)).await?;
            self.readers.read(move |connection| read::ready(connection, limit, clock.now())).await
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (held, events) = (lease.clone(), written(events));
        Box::pin(self.told(lease, async move {
            // How a run ends or stops is what its recovery begins with.
            if matches!(StatusChange::of(&events), StatusChange::Set(_)) {
                let durable = if rules::is_told_by_its_result(&events) { Durable::Next } else { Durable::Now };
                let append = move |connection: &_, now| write::append(connection, &held, events.clone(), now);
                self.writer.end_within(durable, append).await
            } else {
                self.writer.commit(move |connection, now| write::append(connection, &held, events, now)).await
            }
        }))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (held, events) = (lease.clone(), written(events));
        let asked = self.writer.begin(move |connection, now| write::ask(connection, &held, approval, events, now));
        Box::pin(self.told(lease, asked))
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        let (held, events) = (lease.clone(), written(events));
        let claimed = self.writer.begin(move |connection, now| write::claim(connection, &held, &claim, events, now));
        Box::pin(self.told(lease, claimed))
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (held, events) = (lease.clone(), written(events));
        let settled =
            self.writer.end(move |connection, now| write::settle(connection, &held, &settling, events.clone(), now));
        Box::pin(self.told(lease, settled))
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (held, call, events) = (lease.clone(), call.clone(), written(events));
        let reconciled =
            self.writer.end(move |connection, now| write::reconcile(connection, &held, &call, events.clone(), now));
        Box::pin(self.told(lease, reconciled))
    }

    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>> {
        let (tenant, key, clock) = (tenant.to_owned(), key.to_owned(), Arc::clone(&self.clock));
        Box::pin(
            self.readers.read(move |connection| {
                Ok(rules::key_holder(read::key_holder(connection, &tenant, &key)?, clock.now()))
            }),
        )
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        let (run, call, subject, counts) = (run.clone(), call.clone(), subject.to_owned(), counts.to_vec());
        let clock = Arc::clone(&self.clock);
        Box::pin(self.readers.read(move |connection| {
            let (place, _) = read::place(connection, &run)?;
            let now = clock.now();
            counts.iter().map(|count| read::admitted(connection, place, &call, &subject, count, now)).collect()
        }))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        let committed = self.writer.commit(move |connection, now| write::decide(connection, &decision, now));
        Box::pin(async move {
            // The outer answer is about the commit, the inner one is what was committed: a refused attempt is recorded too.
            let approval = committed.await??;
            self.followers.wake(&approval.run_id);
            Ok(approval)
        })
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        let (id, clock) = (approval.clone(), Arc::clone(&self.clock));
        Box::pin(self.readers.read(move |connection| read::approval_as_of(connection, &id, clock.now())))
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>> {
        let clock = Arc::clone(&self.clock);
        Box::pin(self.readers.read(move |connection| read::approvals(connection, &filter, clock.now())))
    }

    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>> {
        let run = run.clone();
        Box::pin(self.readers.read(move |connection| read::run(connection, &run)))
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        Box::pin(self.readers.read(move |connection| read::runs(connection, &filter)))
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        let run = run.clone();
        Box::pin(self.readers.read(move |connection| read::events(connection, &run, after)))
    }

    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(self.followers.follow(self, run, after))
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        let (run, artifact) = (run.clone(), artifact.clone());
        Box::pin(self.readers.read(move |connection| read::artifact(connection, &run, &artifact)))
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        // Asked of the writer's connection: what that one is set to is what counts, and it shows that one can write.
        Box::pin(self.writer.commit(|connection, _now| read::describe(connection)))
    }

    fn upkeep(&self) -> &dyn Upkeep {
        self
    }
}

/// The same events with their texts made: by each caller, so that the one thread that writes need not.
fn written(events: Vec<NewEvent>) -> Vec<NewEvent> {
    for event in &events {
        let _ = event.data.text();
    }
    events
}
