//! A journal in front of another one.

use crate::approval::Approval;
use crate::event::{Event, NewEvent};
use crate::ids::{ApprovalId, ArtifactId, CallId, RunId};
use crate::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Count, Decision, DecisionRefused, Journal, JournalError,
    KeyHolder, Lease, NewRun, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};

/// A [`Journal`] in front of another one. Each method is the journal's of the same name. What only reads is handed on unless it
/// is said otherwise; what writes has to be said, so that nothing passes a layer that did not think of it.
#[expect(missing_docs, reason = "each is the journal's of the same name")]
pub trait JournalLayer: Send + Sync {
    /// The journal behind this one.
    fn beneath(&self) -> &dyn Journal;

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>>;

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        self.beneath().hold(run)
    }

    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        self.beneath().ready(limit)
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>>;

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>>;

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>> {
        self.beneath().key_holder(tenant, key)
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        self.beneath().admitted(run, call, subject, counts)
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>>;

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        self.beneath().approval(approval)
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>> {
        self.beneath().approvals(filter)
    }

    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>> {
        self.beneath().run(run)
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        self.beneath().runs(filter)
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.beneath().events(run, after)
    }

    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.beneath().follow(run, after)
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        self.beneath().artifact(run, artifact)
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        self.beneath().describe()
    }

    fn upkeep(&self) -> &dyn Upkeep {
        self.beneath().upkeep()
    }
}

impl<L: JournalLayer> Journal for L {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        JournalLayer::create_run(self, run)
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        JournalLayer::hold(self, run)
    }

    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        JournalLayer::ready(self, limit)
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        JournalLayer::append(self, lease, events)
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        JournalLayer::ask(self, lease, approval, events)
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        JournalLayer::claim(self, lease, claim, events)
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        JournalLayer::settle(self, lease, settling, events)
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        JournalLayer::reconcile(self, lease, call, events)
    }

    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>> {
        JournalLayer::key_holder(self, tenant, key)
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        JournalLayer::admitted(self, run, call, subject, counts)
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        JournalLayer::decide(self, decision)
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        JournalLayer::approval(self, approval)
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>> {
        JournalLayer::approvals(self, filter)
    }

    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>> {
        JournalLayer::run(self, run)
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        JournalLayer::runs(self, filter)
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        JournalLayer::events(self, run, after)
    }

    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        JournalLayer::follow(self, run, after)
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        JournalLayer::artifact(self, run, artifact)
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        JournalLayer::describe(self)
    }

    fn upkeep(&self) -> &dyn Upkeep {
        JournalLayer::upkeep(self)
    }
}
