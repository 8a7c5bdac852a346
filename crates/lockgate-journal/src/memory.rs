//! The journal that is gone with the process: for tests, dry runs, and as the model that the other backends are compared with.

mod upkeep;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::event::{Chain, Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, BoxFuture, CallState, Claim, ClaimRefused, Clock, Decision, DecisionRefused, Journal,
    JournalError, KeptCall, KeyHolder, Lease, NewRun, RunFilter, RunHold, RunRecord, Settling, Upkeep,
};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_contract::time::Timestamp;

use crate::followers::Followers;
use crate::rules::{self, StatusChange, StoredCall};
use crate::stored::as_of;

/// Keeps everything in memory. One lock is one commit; whoever needs several checks makes all of them before the first
/// change, so that a refusal writes nothing.
pub struct MemoryJournal {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    held: Arc<Mutex<HashSet<RunId>>>,
    followers: Followers,
}

#[derive(Default)]
struct State {
    /// In the order in which they were made.
    runs: Vec<Run>,
    places: HashMap<RunId, usize>,
    /// In the order in which they were asked.
    approvals: Vec<Approval>,
    /// What was asked, of those that came from another journal: they may say more than an `Approval` can.
    imported: HashMap<ApprovalId, Document>,
    /// By tenant and key: who has it, and until when.
    keys: HashMap<(String, String), (KeyHolder, Timestamp)>,
}

struct Run {
    record: RunRecord,
    epoch: u64,
    events: Vec<Event>,
    calls: HashMap<CallId, KeptCall>,
    artifacts: HashMap<ArtifactId, String>,
}

impl MemoryJournal {
    /// An empty journal that stamps and judges by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), held: Arc::default(), followers: Followers::new(None) }
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

    /// The run of a lease that nobody else has taken since.
    fn leased(&mut self, lease: &Lease) -> Result<&mut Run, JournalError> {
        let run = self.run(lease)?;
        if run.epoch == lease.epoch { Ok(run) } else { Err(JournalError::Fenced { run: lease.run_id.clone() }) }
    }

    fn create_run(&mut self, run: NewRun, now: Timestamp) -> Result<(Lease, Appended), JournalError> {
        if self.places.contains_key(&run.run_id) {
            return Err(JournalError::Exists(run.run_id.to_string()));
        }
        let lease = Lease::first(run.run_id.clone());
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
                head: run.chained.then(|| Chain::begin(&lease.run_id).head()),
            },
            epoch: lease.epoch,
            events: Vec::new(),
            calls: HashMap::new(),
            artifacts: HashMap::new(),
        };
        let appended = stored.append(vec![run.started], now);
        self.runs.push(stored);
        Ok((lease, appended))
    }

    fn take_lease(&mut self, run_id: &RunId, now: Timestamp) -> Result<Lease, JournalError> {
        let run = self.run(run_id)?;
        run.epoch += 1;
        let step = run.events.iter().map(|event| event.step).max().unwrap_or(0);
        run.append(vec![rules::lease_taken(run.epoch, step, "this process".to_owned())], now);
        Ok(Lease { run_id: run_id.clone(), epoch: run.epoch })
    }

    fn ask(
        &mut self,
        lease: &Lease,
        approval: Approval,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, JournalError> {
        let known = self.approvals.iter().any(|known| known.approval_id == approval.approval_id);
        let run = self.leased(lease)?;
        if known {
            return Err(JournalError::Exists(approval.approval_id.to_string()));
        }
        let appended = run.append(events, now);
        self.approvals.push(rules::asked(approval, lease));
        Ok(appended)
    }

    fn claim(
        &mut self,
        lease: &Lease,
        claim: Claim,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, ClaimRefused> {
        let call = self.leased(lease)?.call(&claim.call_id);
        if !rules::may_start(call, claim.attempt) {
            return Err(ClaimRefused::AlreadyClaimed);
        }
        if let Some(key) = &claim.caller_key {
            let stored = self.keys.get(&(key.tenant.clone(), key.key.clone())).cloned();
            rules::key_is_free(stored, lease, &claim.call_id, key, now)?;
        }
        if let Some((approval, digest)) = &claim.approval {
            let mut approval = self.approvals.iter_mut().find(|known| known.approval_id == *approval);
            rules::usable(approval.as_deref(), lease, &claim.call_id, digest, now)?;
            if let Some(approval) = &mut approval {
                approval.state = ApprovalState::Consumed;
                approval.consumed_at = Some(now);
            }
        }
        if let Some(key) = claim.caller_key {
            let holder =
                KeyHolder { run_id: lease.run_id.clone(), call_id: claim.call_id.clone(), request: key.request };
            self.keys.insert((key.tenant, key.key), (holder, now.after(key.keep)));
        }
        let run = self.run(lease)?;
        let settled_at = run.calls.get(&claim.call_id).and_then(|call| call.settled_at);
        let started = KeptCall {
            call_id: claim.call_id.clone(),
            state: CallState::Running,
            attempt: claim.attempt,
            step: Some(claim.step),
            tool_name: Some(claim.tool_name),
            effect: Some(claim.effect.word().to_owned()),
            arguments_digest: Some(claim.arguments_digest.to_string()),
            idempotency_key: Some(claim.idempotency_key),
            approval_id: claim.approval.map(|(approval, _)| approval),
            started_at: Some(now),
            settled_at,
        };
        run.calls.insert(claim.call_id, started);
        Ok(run.append(events, now))
    }

    fn settle(
        &mut self,
        lease: &Lease,
        settling: Settling,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, JournalError> {
        let run = self.run(lease)?;
        let stored = run.call(&settling.call_id);
        let settlement = rules::settlement(stored, lease, &settling, run.epoch == lease.epoch, events)?;
        if let Some(artifact) = settling.artifact {
            match run.artifacts.get(&artifact.artifact_id) {
                Some(text) if *text == artifact.text => {}
                Some(_) => return Err(JournalError::Exists(artifact.artifact_id.to_string())),
                None => {
                    run.artifacts.insert(artifact.artifact_id, artifact.text);
                }
            }
        }
        let appended = run.append(settlement.events, now);
        let Some(state) = settlement.state else { return Ok(appended) };
        let attempt = settling.attempt.max(stored.map_or(0, |stored| stored.attempt));
        let call = run.calls.entry(settling.call_id.clone()).or_insert_with(|| never_started(&settling.call_id));
        (call.state, call.attempt, call.settled_at) = (state, attempt, Some(now));
        for approval in self.approvals.iter_mut().filter(|approval| approval.call_id == settling.call_id) {
            rules::withdraw_if_open(approval, now);
        }
        Ok(appended)
    }

    fn reconcile(
        &mut self,
        lease: &Lease,
        call: &CallId,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, JournalError> {
        let run = self.leased(lease)?;
        let state = rules::reconciled(run.call(call), call, &events)?;
        if let Some(stored) = run.calls.get_mut(call) {
            stored.state = state;
        }
        Ok(run.append(events, now))
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
            .map(|approval| as_of(approval.clone(), now))
            .filter(|approval| filter.run_id.as_ref().is_none_or(|run| approval.run_id == *run))
            .filter(|approval| filter.state.is_none_or(|state| approval.state == state))
            .collect();
        found.sort_by_key(|approval| approval.requested_at);
        found
    }

    fn ready(&self, held: &HashSet<RunId>, limit: u32, now: Timestamp) -> Vec<RunRecord> {
        let is_free = |run: &&Run| !held.contains(&run.record.run_id);
        let mut found: Vec<RunRecord> = self
            .runs
            .iter()
            .filter(is_free)
            .filter(|run| self.can_go_on(run, now))
            .map(|run| run.record.clone())
            .collect();
        found.sort_by_key(|run| run.updated_at);
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        found
    }

    fn can_go_on(&self, run: &Run, now: Timestamp) -> bool {
        let state = |call: &CallId| run.calls.get(call).map(|call| call.state);
        match run.record.status {
            None => true,
            Some(RunStatus::WaitingForApproval) if run.record.kind == RunKind::Agent => {
                self.approvals.iter().any(|approval| {
                    approval.run_id == run.record.run_id
                        && rules::is_answered(approval, now)
                        && !state(&approval.call_id).is_some_and(rules::has_result)
                })
            }
            Some(RunStatus::NeedsReconciliation) => run.calls.values().all(|call| call.state != CallState::Unknown),
            Some(_) => false,
        }
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
    fn call(&self, call: &CallId) -> Option<StoredCall> {
        self.calls.get(call).map(|call| StoredCall { state: call.state, attempt: call.attempt })
    }

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
        if let Some(head) = &mut self.record.head {
            *head = rules::tie(*head, &mut appended);
        }
        self.events.extend(appended.iter().cloned());
        appended
    }
}

/// A call that settles without an attempt.
fn never_started(call: &CallId) -> KeptCall {
    KeptCall {
        call_id: call.clone(),
        state: CallState::Settled,
        attempt: 0,
        step: None,
        tool_name: None,
        effect: None,
        arguments_digest: None,
        idempotency_key: None,
        approval_id: None,
        started_at: None,
        settled_at: None,
    }
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
        Box::pin(async move { self.write(lease, |state, now| Ok(state.leased(lease)?.append(events, now))) })
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
        Box::pin(async move { self.write(lease, |state, now| state.settle(lease, settling, events, now)) })
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
