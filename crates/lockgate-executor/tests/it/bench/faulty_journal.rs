//! A journal that fails where the test says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lockgate_contract::approval::Approval;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, BoxFuture, Claim, ClaimRefused, Count, Decision, DecisionRefused, Journal, JournalError, JournalLayer,
    Lease, NewRun, RunHold, Settling,
};
use lockgate_journal::MemoryJournal;
use tokio::sync::Notify;

use super::create_run;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Append,
    Ask,
    Claim,
    Settle,
    Approval,
    Events,
    Artifact,
    Admitted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is written.
    Unavailable,
    /// It says that nobody knows, and nothing is written.
    UnknownNotWritten,
    /// It says that nobody knows, and it is written.
    UnknownWritten,
    /// It panics.
    Panic,
    /// It never answers, and nothing is written.
    Hangs,
}

/// Every method goes to a memory journal, except where a fault is planned for its nth call.
pub(crate) struct FaultyJournal {
    inner: MemoryJournal,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: HashMap<Method, usize>,
    faults: Vec<(Method, usize, Fault)>,
    /// Where the next call of a method says that it came, and waits until it may go on.
    holds: HashMap<Method, (Arc<Notify>, Arc<Notify>)>,
    /// How often another call is admitted right before a claim, and how many were.
    rivals: (u32, u32),
}

impl FaultyJournal {
    pub(crate) fn over(inner: MemoryJournal) -> Self {
        Self { inner, state: Mutex::default() }
    }

    /// Past every fault.
    pub(crate) fn inner(&self) -> &MemoryJournal {
        &self.inner
    }

    /// The `nth` call of a method from now on fails; 0 is the next.
    pub(crate) fn fail(&self, method: Method, nth: usize, fault: Fault) {
        let mut state = self.state.lock().unwrap();
        let so_far = state.calls.get(&method).copied().unwrap_or_default();
        state.faults.push((method, so_far + nth, fault));
    }

    /// The next call of a method says so, and waits for `go`.
    pub(crate) fn hold(&self, method: Method, entered: Arc<Notify>, go: Arc<Notify>) {
        self.state.lock().unwrap().holds.insert(method, (entered, go));
    }

    /// Before each of the next claims, so many of them, another run's call is admitted.
    pub(crate) fn rivals(&self, claims: u32) {
        self.state.lock().unwrap().rivals.0 = claims;
    }

    async fn rival(&self) {
        let nth = {
            let (left, so_far) = &mut self.state.lock().unwrap().rivals;
            if *left == 0 {
                return;
            }
            *left -= 1;
            *so_far += 1;
            *so_far
        };
        let run = RunId::new(format!("run-rival-{nth}"));
        create_run(&self.inner, &run).await;
        let claim = Claim {
            call_id: run.call(0, 0),
            step: 0,
            attempt: 1,
            tool_name: "rival".to_owned(),
            effect: Effect::External,
            arguments_digest: Digest::of_text("test", "rival"),
            idempotency_key: String::new(),
            approval: None,
            caller_key: None,
            subject: String::new(),
            quotas: Vec::new(),
            seen: Vec::new(),
        };
        self.inner.claim(&Lease::first(run), claim, Vec::new()).await.unwrap();
    }

    /// How often a method was called.
    pub(crate) fn calls(&self, method: Method) -> usize {
        self.state.lock().unwrap().calls.get(&method).copied().unwrap_or_default()
    }

    fn enter(&self, method: Method) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let calls = state.calls.entry(method).or_default();
        let index = *calls;
        *calls += 1;
        state.faults.iter().find(|(of, nth, _)| *of == method && *nth == index).map(|(.., fault)| *fault)
    }

    async fn through<T, E: From<JournalError>>(
        &self,
        method: Method,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let unknown = || E::from(JournalError::CommitUnknown("the disk went away at /srv/journal.db".to_owned()));
        let fault = self.enter(method);
        let held = self.state.lock().unwrap().holds.remove(&method);
        if let Some((entered, go)) = held {
            entered.notify_one();
            go.notified().await;
        }
        match fault {
            None => work.await,
            Some(Fault::Unavailable) => {
                Err(JournalError::Unavailable("disk full at /srv/journal.db".to_owned()).into())
            }
            Some(Fault::UnknownNotWritten) => Err(unknown()),
            Some(Fault::UnknownWritten) => {
                work.await?;
                Err(unknown())
            }
            Some(Fault::Panic) => panic!("the journal broke"),
            Some(Fault::Hangs) => std::future::pending().await,
        }
    }
}

/// Waits until a held method was called; a test whose gate never calls it fails instead of waiting for ever.
pub(crate) async fn reached(entered: &Notify) {
    let limit = std::time::Duration::from_mins(1);
    tokio::time::timeout(limit, entered.notified()).await.unwrap();
}

impl JournalLayer for FaultyJournal {
    fn beneath(&self) -> &dyn Journal {
        &self.inner
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.through(Method::Append, self.inner.append(lease, events)))
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.through(Method::Ask, self.inner.ask(lease, approval, events)))
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        Box::pin(async move {
            self.rival().await;
            self.through(Method::Claim, self.inner.claim(lease, claim, events)).await
        })
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.through(Method::Settle, self.inner.settle(lease, settling, events)))
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(self.through(Method::Append, self.inner.reconcile(lease, call, events)))
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        Box::pin(self.through(Method::Approval, self.inner.approval(approval)))
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(self.through(Method::Events, self.inner.events(run, after)))
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        Box::pin(self.through(Method::Admitted, self.inner.admitted(run, call, subject, counts)))
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        Box::pin(self.through(Method::Artifact, self.inner.artifact(run, artifact)))
    }

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        self.inner.create_run(run)
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        self.inner.decide(decision)
    }
}
