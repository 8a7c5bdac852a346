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

mod connection;
mod fault;
mod file;
mod hold;
mod read;
mod readers;
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
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Clock, Decision, DecisionRefused, Journal, JournalError,
    Lease, NewRun, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};

use self::connection::Place;
use self::readers::Readers;
use self::writer::Writer;
use crate::error::OpenError;

/// Keeps everything in one file. What it has answered for is on the disk (`synchronous=FULL`).
///
/// A write whose future is dropped is not taken back: it is written all the same. Dropping the journal waits until what
/// was asked for is written. Reads need a tokio runtime of any flavour around them; writes need none.
pub struct SqliteJournal {
    clock: Arc<dyn Clock>,
    writer: Writer,
    readers: Arc<Readers>,
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
        Ok(Self { clock, writer, readers, place })
    }
}

impl Journal for SqliteJournal {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        Box::pin(async move {
            // Before the run can be seen: a run that nobody holds is one whose driver died.
            let lock = hold::take(&self.place.path, &run.run_id)?
                .ok_or_else(|| JournalError::Exists(run.run_id.to_string()))?;
            let created = self.writer.commit(move |connection, now| write::create_run(connection, run, now));
            let (lease, appended) = created.await?;
            Ok((RunHold::new(lease, lock), appended))
        })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        Box::pin(async move {
            let Some(lock) = hold::take(&self.place.path, run)? else { return Ok(None) };
            let run = run.clone();
            let lease = self.writer.commit(move |connection, now| write::take_lease(connection, &run, now)).await?;
            Ok(Some(RunHold::new(lease, lock)))
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        let events = written(events);
        Box::pin(self.writer.commit(move |connection, now| write::append(connection, &lease, events, now)))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        let events = written(events);
        Box::pin(self.writer.commit(move |connection, now| write::ask(connection, &lease, approval, events, now)))
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        let lease = lease.clone();
        let events = written(events);
        Box::pin(self.writer.commit(move |connection, now| write::claim(connection, &lease, &claim, events, now)))
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        let events = written(events);
        Box::pin(self.writer.commit(move |connection, now| write::settle(connection, &lease, &settling, events, now)))
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (lease, call) = (lease.clone(), call.clone());
        let events = written(events);
        Box::pin(self.writer.commit(move |connection, now| write::reconcile(connection, &lease, &call, events, now)))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        let committed = self.writer.commit(move |connection, now| write::decide(connection, &decision, now));
        // The outer answer is about the commit, the inner one is what was committed: a refused attempt is recorded too.
        Box::pin(async move { committed.await? })
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
