//! The journal that is gone with the process: for tests, dry runs, and as the model that the other backends are compared with.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, Claim, ClaimRefused, Clock, Decision, DecisionRefused, Journal, JournalError,
    NewRun, RunFilter, RunHold, RunRecord, StoredArtifact,
};
use lockgate_contract::time::Timestamp;

use crate::rules::{self, StatusChange};

/// Keeps everything in memory. One lock is one commit; whoever needs several checks makes all of them before the first
/// change, so that a refusal writes nothing.
pub struct MemoryJournal {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    held: Arc<Mutex<HashSet<RunId>>>,
}

#[derive(Default)]
struct State {
    /// In the order in which they were made.
    runs: Vec<Run>,
    places: HashMap<RunId, usize>,
    /// In the order in which they were asked.
    approvals: Vec<Approval>,
}

struct Run {
    record: RunRecord,
    events: Vec<Event>,
    calls: HashMap<CallId, Call>,
    artifacts: HashMap<ArtifactId, String>,
}

#[derive(Default)]
struct Call {
    /// The last attempt that was started; 0 when none was.
    attempt: u32,
    settled: bool,
}

impl MemoryJournal {
    /// An empty journal that stamps and judges by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), held: Arc::default() }
    }

    fn commit<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let mut state = self.lock();
        let now = self.clock.now();
        change(&mut state, now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave half a change behind: every change makes its checks first.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn run(&mut self, run: &RunId) -> Result<&mut Run, JournalError> {
        self.places
            .get(run)
            .and_then(|place| self.runs.get_mut(*place))
            .ok_or_else(|| JournalError::NoSuchRun(run.clone()))
    }

    fn create_run(&mut self, run: NewRun, now: Timestamp) -> Result<Appended, JournalError> {
        if self.places.contains_key(&run.run_id) {
            return Err(JournalError::Exists(run.run_id.to_string()));
        }
        self.places.insert(run.run_id.clone(), self.runs.len());
        let mut stored = Run {
            record: RunRecord {
                run_id: run.run_id,
                tenant: run.tenant,
                kind: run.kind,
                title: run.title,
                status: None,
                last_seq: 0,
                created_at: now,
                updated_at: now,
            },
            events: Vec::new(),
            calls: HashMap::new(),
            artifacts: HashMap::new(),
        };
        let appended = stored.append(vec![run.started], now);
        self.runs.push(stored);
        Ok(appended)
    }

    fn ask(&mut self, approval: Approval, events: Vec<NewEvent>, now: Timestamp) -> Result<Appended, JournalError> {
        let known = self.approvals.iter().any(|known| known.approval_id == approval.approval_id);
        let run = self.run(&approval.run_id)?;
        if known {
            return Err(JournalError::Exists(approval.approval_id.to_string()));
        }
        let appended = run.append(events, now);
        self.approvals.push(rules::asked(approval));
        Ok(appended)
    }

    fn claim(
        &mut self,
        run: &RunId,
        claim: Claim,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, ClaimRefused> {
        let taken =
            self.run(run)?.calls.get(&claim.call_id).is_some_and(|call| call.settled || claim.attempt <= call.attempt);
        if taken || claim.attempt == 0 {
            return Err(ClaimRefused::AlreadyClaimed);
        }
        if let Some((approval, digest)) = &claim.approval {
            let mut approval = self.approvals.iter_mut().find(|known| known.approval_id == *approval);
            rules::usable(approval.as_deref(), run, &claim.call_id, digest, now)?;
            if let Some(approval) = &mut approval {
                approval.state = ApprovalState::Consumed;
                approval.consumed_at = Some(now);
            }
        }
        let run = self.run(run)?;
        run.calls.entry(claim.call_id).or_default().attempt = claim.attempt;
        Ok(run.append(events, now))
    }

    fn settle(
        &mut self,
        run: &RunId,
        call: &CallId,
        artifact: Option<StoredArtifact>,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, JournalError> {
        let run = self.run(run)?;
        // A call that is not known is one that was never started: an entry for it says nothing yet.
        let known = run.calls.entry(call.clone()).or_default();
        if known.settled {
            return Err(JournalError::AlreadySettled(call.clone()));
        }
        if let Some(artifact) = artifact {
            match run.artifacts.get(&artifact.artifact_id) {
                Some(text) if *text == artifact.text => {}
                Some(_) => return Err(JournalError::Exists(artifact.artifact_id.to_string())),
                None => {
                    run.artifacts.insert(artifact.artifact_id, artifact.text);
                }
            }
        }
        known.settled = true;
        let appended = run.append(events, now);
        for approval in self.approvals.iter_mut().filter(|approval| approval.call_id == *call) {
            rules::withdraw_if_open(approval, now);
        }
        Ok(appended)
    }

    fn decide(&mut self, decision: &Decision, now: Timestamp) -> Result<Approval, DecisionRefused> {
        let place = self
            .approvals
            .iter()
            .position(|approval| approval.approval_id == decision.approval_id)
            .ok_or_else(|| DecisionRefused::NotFound(decision.approval_id.clone()))?;
        let verdict = rules::decide(&self.approvals[place], decision, now)?;
        let run = self.approvals[place].run_id.clone();
        self.run(&run)?.append(vec![verdict.event], now);
        let decided = verdict.answer?;
        self.approvals[place] = decided.clone();
        Ok(decided)
    }

    fn approvals(&self, filter: &ApprovalFilter, now: Timestamp) -> Vec<Approval> {
        let mut found: Vec<Approval> = self
            .approvals
            .iter()
            .map(|approval| as_of(approval, now))
            .filter(|approval| filter.run_id.as_ref().is_none_or(|run| approval.run_id == *run))
            .filter(|approval| filter.state.is_none_or(|state| approval.state == state))
            .collect();
        found.sort_by_key(|approval| approval.requested_at);
        found
    }

    fn runs(&self, filter: &RunFilter) -> Vec<RunRecord> {
        let mut found: Vec<RunRecord> = self
            .runs
            .iter()
            .rev()
            .map(|run| run.record.clone())
            .filter(|run| filter.status.is_none_or(|status| run.status == Some(status)))
            .collect();
        found.sort_by_key(|run| std::cmp::Reverse(run.created_at));
        found.truncate(usize::try_from(filter.limit).unwrap_or(usize::MAX));
        found
    }
}

impl Run {
    fn append(&mut self, events: Vec<NewEvent>, now: Timestamp) -> Appended {
        if events.is_empty() {
            return Vec::new();
        }
        match StatusChange::of(&events) {
            StatusChange::Keep => {}
            StatusChange::Clear => self.record.status = None,
            StatusChange::Set(status) => self.record.status = Some(status),
        }
        self.record.updated_at = now;
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            self.record.last_seq += 1;
            appended.push(event.numbered(self.record.run_id.clone(), self.record.last_seq, now));
        }
        self.events.extend(appended.iter().cloned());
        appended
    }
}

fn as_of(approval: &Approval, now: Timestamp) -> Approval {
    Approval { state: approval.state_at(now), ..approval.clone() }
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

impl Journal for MemoryJournal {
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<Appended, JournalError>> {
        Box::pin(async move { self.commit(|state, now| state.create_run(run, now)) })
    }

    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>> {
        let taken = self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        let held = taken.then(|| RunHold::new(Held { run: run.clone(), all: Arc::clone(&self.held) }));
        Box::pin(std::future::ready(Ok(held)))
    }

    fn append<'a>(&'a self, run: &'a RunId, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move { self.commit(|state, now| Ok(state.run(run)?.append(events, now))) })
    }

    fn ask(&self, approval: Approval, events: Vec<NewEvent>) -> BoxFuture<'_, Result<Appended, JournalError>> {
        Box::pin(async move { self.commit(|state, now| state.ask(approval, events, now)) })
    }

    fn claim<'a>(
        &'a self,
        run: &'a RunId,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>> {
        Box::pin(async move { self.commit(|state, now| state.claim(run, claim, events, now)) })
    }

    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        artifact: Option<StoredArtifact>,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>> {
        Box::pin(async move { self.commit(|state, now| state.settle(run, call, artifact, events, now)) })
    }

    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>> {
        Box::pin(async move { self.commit(|state, now| state.decide(&decision, now)) })
    }

    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>> {
        Box::pin(async move {
            self.commit(|state, now| {
                Ok(state.approvals.iter().find(|known| known.approval_id == *approval).map(|found| as_of(found, now)))
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
}
