//! A journal in which somebody changed the stored events of runs.

use lockgate::contract::approval::Approval;
use lockgate::contract::document::Limits;
use lockgate::contract::event::{Event, NewEvent};
use lockgate::contract::ids::{CallId, RunId};
use lockgate::contract::ports::{
    Appended, BoxFuture, Claim, ClaimRefused, Decision, DecisionRefused, JournalError, JournalLayer, Lease, NewRun,
    RunHold, Settling,
};
use lockgate::prelude::*;

/// Shows the events of another journal with one text in place of another; everything else is that journal's.
pub(super) struct Tampered {
    journal: Arc<dyn Journal>,
    change: (&'static str, &'static str),
}

impl Tampered {
    pub(super) fn new(journal: Arc<dyn Journal>, change: (&'static str, &'static str)) -> Self {
        Self { journal, change }
    }
}

impl JournalLayer for Tampered {
    fn beneath(&self) -> &dyn Journal {
        &*self.journal
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(async move {
            let mut events = self.journal.events(run, after).await?;
            let mut changed = 0;
            for event in &mut events {
                let text = event.data.text().replace(self.change.0, self.change.1);
                changed += usize::from(text != event.data.text());
                event.data = Document::parse(text, Limits::OWN).unwrap().into();
            }
            assert!(after > 0 || changed > 0, "there was nothing to change");
            Ok(events)
        })
    }

    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        self.journal.create_run(run)
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.journal.append(lease, events)
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.journal.ask(lease, approval, events)
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        self.journal.claim(lease, claim, events)
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.journal.settle(lease, settling, events)
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        self.journal.reconcile(lease, call, events)
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        self.journal.decide(decision)
    }
}
