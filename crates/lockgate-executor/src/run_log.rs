//! One run's way into the journal.
//!
//! Gate and driver write through the same log, and what the journal accepted is handed to the observer once, in order:
//!
//! ```text
//! gate ──┐            ┌─► journal (numbers it)
//!        ├─► RunLog ──┤
//! driver ┘            └─► observer: 1, 2, 3 … (what others wrote in between is read back first)
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use lockgate_contract::approval::Approval;
use lockgate_contract::event::{Body, Event, NewEvent, Settled};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::{ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ArtifactError, ArtifactStore, BoxFuture, Claim, ClaimRefused, Count, Journal, JournalError, KeyHolder,
    Lease, Settling,
};
use tokio::sync::Mutex;

use crate::trail::panic_text;

/// Sees every accepted event of a run, in order, once.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// The events of one run, seen as one stream by whoever drives it.
pub struct RunLog {
    lease: Lease,
    journal: Arc<dyn Journal>,
    observer: Observer,
    /// The number of the last event that the observer saw. Held over each write, so that order is kept.
    last_seen: Mutex<u64>,
}

impl RunLog {
    /// A log of whoever has this lease. Its observer has seen everything up to `last_seen`.
    pub fn new(lease: Lease, journal: Arc<dyn Journal>, last_seen: u64, observer: Observer) -> Self {
        Self { lease, journal, observer, last_seen: Mutex::new(last_seen) }
    }

    /// The run.
    pub fn run_id(&self) -> &RunId {
        &self.lease.run_id
    }

    /// Adds events.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<(), JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let appended = written(async { self.journal.append(&self.lease, events).await }).await?;
        self.deliver(&mut last_seen, appended).await
    }

    /// Reads what others wrote since.
    pub async fn catch_up(&self) -> Result<(), JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let events = self.events(*last_seen).await?;
        self.deliver(&mut last_seen, events).await
    }

    pub(crate) async fn ask(&self, approval: Approval, events: Vec<NewEvent>) -> Result<(), JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let appended = written(async { self.journal.ask(&self.lease, approval, events).await }).await?;
        // The question stands from here on, also when a reading back of others' events fails.
        let _ = self.deliver(&mut last_seen, appended).await;
        Ok(())
    }

    pub(crate) async fn claim(&self, claim: Claim, events: Vec<NewEvent>) -> Result<(), ClaimRefused> {
        let mut last_seen = self.last_seen.lock().await;
        let appended = written(async { self.journal.claim(&self.lease, claim, events).await }).await?;
        // The claim stands from here on: the handler must run, also when a reading back of others' events fails.
        let _ = self.deliver(&mut last_seen, appended).await;
        Ok(())
    }

    pub(crate) async fn settle(&self, settling: Settling, events: Vec<NewEvent>) -> Result<(), JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let appended = written(async { self.journal.settle(&self.lease, settling, events).await }).await?;
        // The result stands from here on, also when a reading back of others' events fails.
        let _ = self.deliver(&mut last_seen, appended).await;
        Ok(())
    }

    /// Writes what was found out about a call with an unknown effect.
    pub async fn reconcile(&self, call: &CallId, events: Vec<NewEvent>) -> Result<(), JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let appended = written(async { self.journal.reconcile(&self.lease, call, events).await }).await?;
        let _ = self.deliver(&mut last_seen, appended).await;
        Ok(())
    }

    /// The one result of a call that was settled before.
    pub(crate) async fn settled(&self, call: &CallId) -> Result<Option<Arc<Settled>>, JournalError> {
        Ok(result_of(&self.of_call(call).await?))
    }

    /// The result of a call of any run, as soon as it has one.
    pub(crate) async fn result_elsewhere(&self, run: &RunId, call: &CallId) -> Result<Arc<Settled>, JournalError> {
        let mut seen = 0;
        loop {
            let news = async { self.journal.follow(run, seen).await };
            let events = contained(JournalError::Unavailable, news).await?;
            if let Some(settled) = result_of(events.iter().filter(|event| event.call_id.as_ref() == Some(call))) {
                return Ok(settled);
            }
            seen = events.last().map_or(seen, |event| event.seq);
        }
    }

    /// Who has a caller's key.
    pub(crate) async fn key_holder(&self, tenant: &str, key: &str) -> Result<Option<KeyHolder>, JournalError> {
        contained(JournalError::Unavailable, async { self.journal.key_holder(tenant, key).await }).await
    }

    /// How many calls were admitted, but for this one.
    pub(crate) async fn admitted(
        &self,
        call: &CallId,
        subject: &str,
        counts: &[Count],
    ) -> Result<Vec<u64>, JournalError> {
        let asked = async { self.journal.admitted(self.run_id(), call, subject, counts).await };
        contained(JournalError::Unavailable, asked).await
    }

    /// The events of a call that stand in the journal.
    pub(crate) async fn of_call(&self, call: &CallId) -> Result<Vec<Event>, JournalError> {
        let mut last_seen = self.last_seen.lock().await;
        let events = self.events(0).await?;
        let of_call = |event: &&Event| event.call_id.as_ref() == Some(call);
        let found = events.iter().filter(of_call).cloned().collect();
        self.deliver(&mut last_seen, events).await?;
        Ok(found)
    }

    async fn events(&self, after: u64) -> Result<Vec<Event>, JournalError> {
        contained(JournalError::Unavailable, async { self.journal.events(self.run_id(), after).await }).await
    }

    /// Hands events to the observer, after those that somebody else wrote before them.
    async fn deliver(&self, last_seen: &mut u64, events: Appended) -> Result<(), JournalError> {
        let Some(first) = events.first() else { return Ok(()) };
        let missed = if first.seq > *last_seen + 1 { self.events(*last_seen).await? } else { Vec::new() };
        for event in missed.iter().chain(&events) {
            if event.seq == *last_seen + 1 {
                *last_seen = event.seq;
                show(&self.observer, event);
            }
        }
        Ok(())
    }
}

/// The result that a call has by now: what was found out later counts.
fn result_of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Option<Arc<Settled>> {
    events.into_iter().fold(None, |result, event| match event.body() {
        Ok(Body::Settled(settled)) => Some(settled),
        Ok(Body::CallReconciled(found)) if found.reopens() => None,
        Ok(Body::CallReconciled(found)) => found.settled.or(result),
        _ => result,
    })
}

/// Shows an observer an event. Whoever watches changes nothing: what the journal accepted stands, also for an observer that
/// panics.
pub fn show(observer: &Observer, event: &Event) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| observer(event))) {
        tracing::error!(panic = panic_text(panic), "an observer panicked");
    }
}

/// A journal that panics has not said whether it wrote: nobody knows.
async fn written<T, E: From<JournalError>>(asked: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    reach(Point::WriteBefore);
    let answer = contained(JournalError::CommitUnknown, asked).await;
    reach(Point::WriteAfter);
    answer
}

async fn contained<T, E: From<JournalError>>(
    failure: fn(String) -> JournalError,
    asked: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let failed = |panic| E::from(failure(format!("it panicked: {}", panic_text(panic))));
    AssertUnwindSafe(asked).catch_unwind().await.unwrap_or_else(|panic| Err(failed(panic)))
}

/// A run's own artifacts, and nobody else's.
impl ArtifactStore for RunLog {
    fn read<'a>(&'a self, artifact: &'a ArtifactId) -> BoxFuture<'a, Result<String, ArtifactError>> {
        Box::pin(async move {
            let read =
                contained(JournalError::Unavailable, async { self.journal.artifact(self.run_id(), artifact).await });
            match read.await {
                Ok(Some(text)) => Ok(text),
                Ok(None) => Err(ArtifactError::NotFound(artifact.clone())),
                Err(error) => Err(ArtifactError::Unavailable(error.to_string())),
            }
        })
    }
}
