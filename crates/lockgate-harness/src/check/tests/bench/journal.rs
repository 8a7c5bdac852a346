//! A journal that others use and that can fail.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::digest::Digest;
use lockgate_contract::event::NewEvent;
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Decision, DecisionRefused, Journal, JournalError,
    JournalLayer, Lease, NewRun, RunHold, Settling,
};
use lockgate_journal::MemoryJournal;
use tokio::sync::Notify;

use super::TestClock;
use super::tools::cancel;

/// What happens before a write.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meddling {
    /// Nothing.
    None,
    /// Somebody decides every question there is.
    Decide(ApprovalState),
    /// Somebody decides, and was shown something else.
    Mistake,
    /// So many milliseconds pass.
    Pass(u64),
    /// The run is cancelled.
    Cancel,
    /// The disk is full: the write fails.
    Fail,
    /// The process dies: this write is never made, and no other.
    Kill,
    /// The driver is dropped: this write is never made, and what was dropped may still write.
    Drop,
}

/// The journal in memory, behind all that.
pub(crate) struct MeddledJournal {
    inner: MemoryJournal,
    clock: Arc<TestClock>,
    meddlings: Mutex<VecDeque<Meddling>>,
    stopped: Notify,
    driven: AtomicBool,
    dead: AtomicBool,
}

impl MeddledJournal {
    pub(super) fn new(clock: Arc<TestClock>, meddlings: Vec<Meddling>) -> Self {
        let inner = MemoryJournal::new(clock.clone());
        Self {
            inner,
            clock,
            meddlings: Mutex::new(meddlings.into()),
            stopped: Notify::new(),
            driven: AtomicBool::new(false),
            dead: AtomicBool::new(false),
        }
    }

    /// The journal as the others see it.
    pub(crate) fn inner(&self) -> &MemoryJournal {
        &self.inner
    }

    /// Drives in a process of its own, to its end or until it is stopped.
    pub(super) async fn drive(&self, driver: BoxFuture<'_, ()>) {
        self.dead.store(false, Ordering::SeqCst);
        self.driven.store(true, Ordering::SeqCst);
        tokio::select! {
            biased;
            () = self.stopped.notified() => {}
            () = driver => {}
        }
        self.driven.store(false, Ordering::SeqCst);
        // A call that was dropped writes its last event in a task of its own.
        for _ in 0..32 {
            tokio::task::yield_now().await;
        }
    }

    async fn meddle(&self) -> Result<(), JournalError> {
        self.clock.pass(Duration::from_millis(1));
        if self.dead.load(Ordering::SeqCst) {
            return Err(JournalError::Unavailable("the process is dead".to_owned()));
        }
        let next = self.meddlings.lock().unwrap().pop_front();
        match next.unwrap_or(Meddling::None) {
            Meddling::None => {}
            Meddling::Decide(answer) => self.decide_all(answer, None).await,
            Meddling::Mistake => {
                self.decide_all(ApprovalState::Granted, Some(Digest::of_text("test", "something else"))).await;
            }
            Meddling::Pass(millis) => self.clock.pass(Duration::from_millis(millis)),
            Meddling::Cancel => cancel(),
            Meddling::Fail => return Err(JournalError::Unavailable("the disk is full".to_owned())),
            Meddling::Kill => {
                self.dead.store(true, Ordering::SeqCst);
                return self.stop().await;
            }
            Meddling::Drop => return self.stop().await,
        }
        Ok(())
    }

    /// Stops the driver, who does not come back from here. A dropped call's own task only has its write refused.
    async fn stop(&self) -> Result<(), JournalError> {
        if self.driven.swap(false, Ordering::SeqCst) {
            self.stopped.notify_one();
            std::future::pending::<()>().await;
        }
        Err(JournalError::Unavailable("the driver is gone".to_owned()))
    }

    async fn decide_all(&self, answer: ApprovalState, digest: Option<Digest>) {
        for approval in self.inner.approvals(ApprovalFilter::default()).await.unwrap() {
            let decision = Decision { digest, ..Decision::new(approval.approval_id, answer, "bob") };
            drop(self.inner.decide(decision).await);
        }
    }
}

impl JournalLayer for MeddledJournal {
    fn beneath(&self) -> &dyn Journal {
        &self.inner
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.meddle().await?;
            self.inner.append(lease, events).await
        })
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.meddle().await?;
            self.inner.ask(lease, approval, events).await
        })
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        Box::pin(async move {
            self.meddle().await?;
            self.inner.claim(lease, claim, events).await
        })
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.meddle().await?;
            self.inner.settle(lease, settling, events).await
        })
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.meddle().await?;
            self.inner.reconcile(lease, call, events).await
        })
    }

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        self.inner.create_run(run)
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        self.inner.decide(decision)
    }
}
