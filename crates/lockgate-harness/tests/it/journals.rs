//! Journals that misbehave: machines that lose their power, disks that fail, replies that are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lockgate_contract::approval::Approval;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::event::{Event, EventType, NewEvent};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Appended, BoxFuture, Claim, ClaimRefused, Decision, DecisionRefused, Journal, JournalError, JournalLayer, Lease,
    NewRun, RunHold, Settling,
};

/// What happens to a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// From commit number `.0` on nothing is taken and nothing answers: the machine has lost its power.
    Dead(usize),
    /// Commit number `.0` is taken and everything is over before its reply: as [`Fault::Dead`], one step later.
    DeadAfter(usize),
    /// Commit number `.0` alone is refused.
    Fails(usize),
    /// Somebody else opens each question first.
    AskedBefore,
    /// Somebody else writes before each result, and the first reading back of it fails.
    Unread,
    /// The power fails while somebody decides: before that stands, or, where `.0` says so, right behind it.
    DiesDeciding(bool),
    /// Nothing, but every commit takes a turn of the scheduler.
    Slow,
}

/// A journal with a fault. Commits are counted from 1.
pub(crate) struct Faulty {
    inner: Arc<dyn Journal>,
    fault: Fault,
    commits: AtomicUsize,
    unread: AtomicBool,
}

impl Faulty {
    pub(crate) fn new(inner: &Arc<dyn Journal>, fault: Fault) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), fault, commits: AtomicUsize::new(0), unread: AtomicBool::new(false) })
    }

    /// How many commits were tried.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    async fn commit<T, E: From<JournalError>>(&self, commit: BoxFuture<'_, Result<T, E>>) -> Result<T, E> {
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        match self.fault {
            Fault::Dead(from) if number >= from => std::future::pending().await,
            Fault::DeadAfter(last) if number > last => std::future::pending().await,
            Fault::DeadAfter(last) if number == last => {
                commit.await?;
                std::future::pending().await
            }
            Fault::Fails(one) if number == one => Err(JournalError::unavailable("the disk is full").into()),
            Fault::Slow => {
                tokio::task::yield_now().await;
                commit.await
            }
            Fault::Dead(_)
            | Fault::DeadAfter(_)
            | Fault::Fails(_)
            | Fault::AskedBefore
            | Fault::Unread
            | Fault::DiesDeciding(_) => commit.await,
        }
    }
}

impl JournalLayer for Faulty {
    fn beneath(&self) -> &dyn Journal {
        &*self.inner
    }

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        Box::pin(self.commit(self.inner.create_run(run)))
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.commit(self.inner.append(lease, events)))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            if self.fault == Fault::AskedBefore {
                self.inner.ask(lease, approval.clone(), events.clone()).await?;
            }
            self.commit(self.inner.ask(lease, approval, events)).await
        })
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        Box::pin(self.commit(self.inner.claim(lease, claim, events)))
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            if self.fault == Fault::Unread {
                let kind = EventType::Other("note.added".to_owned());
                let data = Document::parse("{}", Limits::OWN).expect("an object").into();
                self.inner.append(lease, vec![NewEvent { kind, step: 0, call_id: None, data }]).await?;
                self.unread.store(true, Ordering::SeqCst);
            }
            self.commit(self.inner.settle(lease, settling, events)).await
        })
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.commit(self.inner.reconcile(lease, call, events)))
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        let Fault::DiesDeciding(stands) = self.fault else { return self.inner.decide(decision) };
        Box::pin(async move {
            if stands {
                self.inner.decide(decision).await?;
            }
            std::future::pending().await
        })
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        if self.unread.swap(false, Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(JournalError::unavailable("the disk is busy"))));
        }
        self.inner.events(run, after)
    }
}
