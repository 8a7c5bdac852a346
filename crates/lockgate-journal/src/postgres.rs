//! The journal in PostgreSQL, 15 or newer: when users outgrow one machine.
//!
//! ```text
//!  process 1 ── transactions ─┐
//!  process 2 ── transactions ─┼─► PostgreSQL, schema `lockgate`
//!  process 3 ── transactions ─┘
//! ```
//!
//! Every write locks the row of its run first: so the writers of a run stand in a row, its sequence numbers have no gaps, and
//! the lease is looked at in the transaction that writes. What a claim or a decision needs is asked of `rules`, which the
//! other backends ask as well; SQL only finds and keeps.

mod address;
mod append;
mod connection;
mod describe;
mod engine;
mod fault;
mod hold;
mod listener;
mod news;
mod options;
mod pool;
mod read;
mod schema;
mod server;
mod statements;
mod transaction;
mod upkeep;
mod write;

use std::sync::Arc;

use lockgate_contract::approval::Approval;
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Count, Decision, DecisionRefused, Journal, JournalError,
    KeyHolder, Lease, NewRun, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};

pub use self::options::{PostgresClock, PostgresDurability, PostgresOptions};

use self::address::Address;
use self::engine::Engine;
use self::transaction::Access::{Read, Write};
use crate::error::OpenError;
use crate::rules;

/// Keeps everything in the schema `lockgate` of a database that several machines may share.
///
/// A write whose future is dropped is not taken back: it is written all the same. Dropping the journal waits until what was
/// asked for has ended. It needs no runtime around it, and no runtime of a certain kind.
///
/// Connections are not encrypted: use it over a Unix socket, the loopback, or a network that is.
pub struct PostgresJournal {
    engine: Arc<Engine>,
}

impl PostgresJournal {
    /// Connects to the database that a URL names (`postgres://USER:PASSWORD@HOST/DATABASE`), and brings its schema up to
    /// date. Blocks until the database has answered.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, PostgresOptions::default())
    }

    /// Like [`PostgresJournal::open`], with other options.
    pub fn open_with(url: &str, options: PostgresOptions) -> Result<Self, OpenError> {
        options.check()?;
        let address = Address::parse(url, options.wait)?;
        Ok(Self { engine: Arc::new(Engine::start(address, options)?) })
    }
}

impl Journal for PostgresJournal {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        let ttl = self.engine.pool.options.lease;
        Box::pin(async move {
            let created = self.engine.transact(Write, move |t| Box::pin(write::create_run(t, run, ttl)));
            let (lease, appended) = created.await?;
            Ok((hold::keep(&self.engine, lease), appended))
        })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        let ttl = self.engine.pool.options.lease;
        Box::pin(async move {
            self.engine.until_free(|releasing| releasing == run).await;
            let run = run.clone();
            let taken = self.engine.transact(Write, move |t| Box::pin(async move { hold::take(t, &run, ttl).await }));
            Ok(taken.await?.map(|lease| hold::keep(&self.engine, lease)))
        })
    }

    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        Box::pin(async move {
            self.engine.until_free(|_| true).await;
            self.engine.transact(Write, move |t| Box::pin(async move { read::ready(t, limit).await })).await
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        Box::pin(self.engine.transact(Write, move |t| Box::pin(async move { write::append(t, &lease, events).await })))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        Box::pin(
            self.engine
                .transact(Write, move |t| Box::pin(async move { write::ask(t, &lease, approval, events).await })),
        )
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        let lease = lease.clone();
        Box::pin(
            self.engine
                .transact(Write, move |t| Box::pin(async move { write::claim(t, &lease, &claim, events).await })),
        )
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let lease = lease.clone();
        Box::pin(
            self.engine
                .transact(Write, move |t| Box::pin(async move { write::settle(t, &lease, &settling, events).await })),
        )
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        let (lease, call) = (lease.clone(), call.clone());
        Box::pin(
            self.engine
                .transact(Write, move |t| Box::pin(async move { write::reconcile(t, &lease, &call, events).await })),
        )
    }

    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>> {
        let (tenant, key) = (tenant.to_owned(), key.to_owned());
        // It waits for a claim that takes the key at this moment.
        Box::pin(self.engine.transact(Write, move |t| {
            Box::pin(async move {
                let stored = read::key_holder(t, &tenant, &key).await?;
                Ok(rules::key_holder(stored, t.now().await?))
            })
        }))
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        let (run, call, subject, counts) = (run.clone(), call.clone(), subject.to_owned(), counts.to_vec());
        Box::pin(self.engine.transact(Read, move |t| {
            Box::pin(async move {
                let record = read::run(t, &run).await?.ok_or_else(|| JournalError::NoSuchRun(run.clone()))?;
                let now = t.now().await?;
                let mut admitted = Vec::with_capacity(counts.len());
                for count in &counts {
                    admitted.push(read::admitted(t, (&record.tenant, &run, &call, &subject), count, now).await?);
                }
                Ok(admitted)
            })
        }))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        let committed =
            self.engine.transact(Write, move |t| Box::pin(async move { write::decide(t, &decision).await }));
        // The outer answer is about the commit, the inner one is what was committed: a refused attempt is recorded too.
        Box::pin(async move { committed.await? })
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        let id = approval.clone();
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::approval_as_of_now(t, &id).await })))
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>> {
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::approvals(t, &filter).await })))
    }

    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>> {
        let run = run.clone();
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::run(t, &run).await })))
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::runs(t, &filter).await })))
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        let run = run.clone();
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::events(t, &run, after).await })))
    }

    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.engine.listener.start();
        Box::pin(self.engine.listener.followers.follow(self, run, after))
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        let (run, artifact) = (run.clone(), artifact.clone());
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { read::artifact(t, &run, &artifact).await })))
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        Box::pin(async move {
            let mut facts = describe::of_program(&self.engine.pool);
            facts.extend(self.engine.transact(Read, |t| Box::pin(describe::of_database(t))).await?);
            Ok(facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect())
        })
    }

    fn upkeep(&self) -> &dyn Upkeep {
        self
    }
}
