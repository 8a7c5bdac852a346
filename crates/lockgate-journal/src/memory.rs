//! The journal that is gone with the process: for tests, dry runs, and as the model that the other backends are compared with.

mod state;
mod upkeep;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockgate_contract::approval::Approval;
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Clock, Count, Decision, DecisionRefused, Journal,
    JournalError, KeyHolder, Lease, NewRun, Prune, Pruned, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;

use self::state::{Run, State};
use crate::followers::Followers;
use crate::rules::{self, StatusChange};
use crate::stored::as_of;

/// Keeps everything in memory. One lock is one commit; whoever needs several checks makes all of them before the first
/// change, so that a refusal writes nothing.
pub struct MemoryJournal {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    held: Arc<Mutex<HashSet<RunId>>>,
    followers: Followers,
    keeps: Option<Keeps>,
}

/// How many runs that ended are kept, and those that ended, the first one first.
struct Keeps {
    most: usize,
    ended: Mutex<VecDeque<RunId>>,
}

impl MemoryJournal {
    /// An empty journal that stamps and judges by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), held: Arc::default(), followers: Followers::new(None), keeps: None }
    }

    /// The same, which forgets runs that ended, the first one first, once more than so many of them are kept. What `journal prune`
    /// would keep is kept: an unknown effect, an open question, a caller's key. Calls that are forgotten no longer count for
    /// quotas.
    #[must_use]
    pub fn keeping(self, most: usize) -> Self {
        Self { keeps: Some(Keeps { most, ended: Mutex::default() }), ..self }
    }

    /// Remembers that a run ended, and forgets others for it.
    fn ended(&self, run: &RunId) {
        /// How many are looked at for each that ended: those that have to be kept do not hold everybody up.
        const LOOKS: usize = 2;
        let Some(keeps) = &self.keeps else { return };
        let mut ended = keeps.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push_back(run.clone());
        for _ in 0..LOOKS {
            if ended.len() <= keeps.most {
                return;
            }
            let Some(run_id) = ended.pop_front() else { return };
            let prune = Prune { run_id, older_than: Duration::ZERO, last_seq: None, dry_run: false };
            let is_driven = self.held.lock().unwrap_or_else(PoisonError::into_inner).contains(&prune.run_id);
            let pruned = self.commit(|state, now| state.prune(&prune, is_driven, now));
            if let Ok(Pruned::Kept(_)) = pruned {
                ended.push_back(prune.run_id);
            }
        }
    }

    fn commit<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let mut state = self.lock();
        let now = self.clock.now();
        change(&mut state, now)
    }

    /// A commit that writes into this run.
    fn write<T>(&self, run: &RunId, change: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let answer = self.commit(change);
        self.followers.wake(run);
        answer
    }

    /// A commit whose events may end the run: others are forgotten for it then.
    fn write_perhaps_last(
        &self,
        run: &RunId,
        events: Vec<NewEvent>,
        change: impl FnOnce(&mut State, Vec<NewEvent>, Timestamp) -> Result<Appended, JournalError>,
    ) -> Result<Appended, JournalError> {
        let ends = is_end(&events);
        let appended = self.write(run, |state, now| change(state, events, now));
        if ends && appended.is_ok() {
            self.ended(run);
        }
        appended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave half a change behind: every change makes its checks first.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a run is over with these events, and nothing is left to find out about it.
fn is_end(events: &[NewEvent]) -> bool {
    matches!(StatusChange::of(events), StatusChange::Set(status)
        if !matches!(status, RunStatus::WaitingForApproval | RunStatus::NeedsReconciliation))
}

/// A run that somebody drives.
struct Held {
    run: RunId,
    all: Arc<Mutex<HashSet<RunId>>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

impl MemoryJournal {
    /// Takes the right to drive a run in this process.
    fn keep(&self, run: &RunId) -> Option<Held> {
        let taken = self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        taken.then(|| Held { run: run.clone(), all: Arc::clone(&self.held) })
    }
}

impl Journal for MemoryJournal {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>> {
        Box::pin(async move {
            let held = self.keep(&run.run_id).ok_or_else(|| JournalError::Exists(run.run_id.to_string()))?;
            let (lease, appended) = self.commit(|state, now| state.create_run(run, now))?;
            Ok((RunHold::new(lease, held), appended))
        })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        Box::pin(async move {
            let Some(held) = self.keep(run) else { return Ok(None) };
            let lease = self.write(run, |state, now| state.take_lease(run, now))?;
            Ok(Some(RunHold::new(lease, held)))
        })
    }

    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        Box::pin(async move {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Ok(self.commit(|state, now| state.ready(&held, limit, now)))
        })
    }

    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.write_perhaps_last(lease, events, |state, events, now| Ok(state.leased(lease)?.append(events, now)))
        })
    }

    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move { self.write(lease, |state, now| state.ask(lease, approval, events, now)) })
    }

    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        Box::pin(async move { self.write(lease, |state, now| state.claim(lease, claim, events, now)) })
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move {
            self.write_perhaps_last(lease, events, |state, events, now| state.settle(lease, settling, events, now))
        })
    }

    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move { self.write(lease, |state, now| state.reconcile(lease, call, events, now)) })
    }

    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>> {
        Box::pin(async move {
            let of = (tenant.to_owned(), key.to_owned());
            Ok(self.commit(|state, now| rules::key_holder(state.keys.get(&of).cloned(), now)))
        })
    }

    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        Box::pin(async move {
            self.commit(|state, now| {
                state.run(run)?;
                Ok(counts.iter().map(|count| state.admitted(run, call, subject, count, now)).collect())
            })
        })
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        Box::pin(async move {
            let decided = self.commit(|state, now| state.decide(&decision, now));
            if let Ok(approval) = &decided {
                self.followers.wake(&approval.run_id);
            }
            decided
        })
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        Box::pin(async move {
            self.commit(|state, now| {
                Ok(state
                    .approvals
                    .iter()
                    .find(|known| known.approval_id == *approval)
                    .map(|found| as_of(found.clone(), now)))
            })
        })
    }

    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>> {
        Box::pin(async move { Ok(self.commit(|state, now| state.approvals(&filter, now))) })
    }

    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>> {
        Box::pin(async move { Ok(self.lock().run(run).ok().map(|run| run.record.clone())) })
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>> {
        Box::pin(async move { Ok(self.lock().runs(&filter)) })
    }

    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(async move {
            let mut state = self.lock();
            let events = &state.run(run)?.events;
            // Event number n stands at place n - 1.
            let from = usize::try_from(after).unwrap_or(usize::MAX).min(events.len());
            Ok(events[from..].to_vec())
        })
    }

    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        Box::pin(self.followers.follow(self, run, after))
    }

    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>> {
        Box::pin(async move { Ok(self.lock().run(run).ok().and_then(|run| run.artifacts.get(artifact).cloned())) })
    }

    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>> {
        Box::pin(async move {
            let runs = self.lock().runs.len();
            let facts = [("kind", "memory".to_owned()), ("durable", "no".to_owned()), ("runs", runs.to_string())];
            Ok(facts.map(|(name, fact)| (name.to_owned(), fact)).to_vec())
        })
    }
    fn upkeep(&self) -> &dyn Upkeep {
        self
    }
}
