//! What a journal in memory holds, and what each intention makes of it. Every change makes its checks first.

use std::collections::{BTreeMap, HashMap, HashSet};

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::event::{Chain, Event, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    Appended, ApprovalFilter, CallState, Claim, ClaimRefused, Count, Decision, DecisionRefused, JournalError, KeptCall,
    KeyHolder, Lease, NewRun, Per, RunFilter, RunRecord, Settling,
};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_contract::time::Timestamp;

use crate::rules::{self, StatusChange, StoredCall};
use crate::stored::as_of;

#[derive(Default)]
pub(super) struct State {
    /// In the order in which they were made.
    pub(super) runs: BTreeMap<u64, Run>,
    pub(super) places: HashMap<RunId, u64>,
    /// In the order in which they were asked.
    pub(super) approvals: Vec<Approval>,
    /// What was asked, of those that came from another journal: they may say more than an `Approval` can.
    pub(super) imported: HashMap<ApprovalId, Document>,
    /// By tenant and key: who has it, and until when.
    pub(super) keys: HashMap<(String, String), (KeyHolder, Timestamp)>,
}

pub(super) struct Run {
    pub(super) record: RunRecord,
    pub(super) epoch: u64,
    pub(super) events: Vec<Event>,
    pub(super) calls: HashMap<CallId, KeptCall>,
    pub(super) artifacts: HashMap<ArtifactId, String>,
}

impl State {
    pub(super) fn run(&mut self, run: &RunId) -> Result<&mut Run, JournalError> {
        self.places
            .get(run)
            .and_then(|place| self.runs.get_mut(place))
            .ok_or_else(|| JournalError::NoSuchRun(run.clone()))
    }

    /// The run of a lease that nobody else has taken since.
    pub(super) fn leased(&mut self, lease: &Lease) -> Result<&mut Run, JournalError> {
        let run = self.run(lease)?;
        if run.epoch == lease.epoch { Ok(run) } else { Err(JournalError::Fenced { run: lease.run_id.clone() }) }
    }

    /// Puts a run behind all others.
    pub(super) fn place(&mut self, run: Run) {
        let place = self.runs.last_key_value().map_or(0, |(last, _)| last + 1);
        self.places.insert(run.record.run_id.clone(), place);
        self.runs.insert(place, run);
    }

    pub(super) fn create_run(&mut self, run: NewRun, now: Timestamp) -> Result<(Lease, Appended), JournalError> {
        if self.places.contains_key(&run.run_id) {
            return Err(JournalError::Exists(run.run_id.to_string()));
        }
        let lease = Lease::first(run.run_id.clone());
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
        self.place(stored);
        Ok((lease, appended))
    }

    pub(super) fn take_lease(&mut self, run_id: &RunId, now: Timestamp) -> Result<Lease, JournalError> {
        let run = self.run(run_id)?;
        run.epoch += 1;
        let step = run.events.iter().map(|event| event.step).max().unwrap_or(0);
        run.append(vec![rules::lease_taken(run.epoch, step, "this process".to_owned())], now);
        Ok(Lease { run_id: run_id.clone(), epoch: run.epoch })
    }

    pub(super) fn ask(
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

    pub(super) fn claim(
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
        let admitted = |count: &Count| self.admitted(lease, &claim.call_id, &claim.subject, count, now);
        for quota in &claim.quotas {
            rules::within_quota(quota, admitted(&quota.count))?;
        }
        for seen in &claim.seen {
            rules::still_holds(seen, admitted(&seen.count))?;
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
            subject: Some(claim.subject),
            started_at: Some(now),
            settled_at,
        };
        run.calls.insert(claim.call_id, started);
        Ok(run.append(events, now))
    }

    /// How many calls count, but for this one.
    pub(super) fn admitted(&self, run: &RunId, call: &CallId, subject: &str, count: &Count, now: Timestamp) -> u64 {
        let asking = self.places.get(run).and_then(|place| self.runs.get(place));
        let tenant = asking.map(|run| &run.record.tenant);
        let counted = self.runs.values().map(|run| (&run.record, &run.calls)).filter(|(record, _)| match count.per {
            Per::Run => record.run_id == *run,
            Per::Subject | Per::Tenant => Some(&record.tenant) == tenant,
        });
        let calls = counted.flat_map(|(record, calls)| calls.values().map(move |call| (&record.run_id, call)));
        let counts = calls.filter(|(id, other)| {
            (*id != run || other.call_id != *call)
                && other.started_at.is_some_and(|at| at > count.since(now))
                && count.tool.as_ref().is_none_or(|tool| other.tool_name.as_ref() == Some(tool))
                && count.effect.is_none_or(|effect| other.effect.as_deref() == Some(effect.word()))
                && (count.per != Per::Subject || other.subject.as_deref() == Some(subject))
        });
        counts.count() as u64
    }

    pub(super) fn settle(
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

    pub(super) fn reconcile(
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

    pub(super) fn decide(&mut self, decision: &Decision, now: Timestamp) -> Result<Approval, DecisionRefused> {
        let place = self
            .approvals
            .iter()
            .position(|approval| approval.approval_id == decision.approval_id)
            .ok_or_else(|| DecisionRefused::NotFound(decision.approval_id.clone()))?;
        let verdict = rules::decide(&self.approvals[place], decision, now)?;
        let in_its_place = verdict.answer.iter().find_map(|decided| decided.in_its_place.as_ref());
        if let Some(asked) = in_its_place
            && self.approvals.iter().any(|known| known.approval_id == asked.approval_id)
        {
            return Err(JournalError::Exists(asked.approval_id.to_string()).into());
        }
        let run = self.approvals[place].run_id.clone();
        self.run(&run)?.append(verdict.events, now);
        let decided = verdict.answer?;
        self.approvals[place] = decided.question.clone();
        self.approvals.extend(decided.in_its_place.clone());
        Ok(decided.into_standing())
    }

    pub(super) fn approvals(&self, filter: &ApprovalFilter, now: Timestamp) -> Vec<Approval> {
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

    pub(super) fn ready(&self, held: &HashSet<RunId>, limit: u32, now: Timestamp) -> Vec<RunRecord> {
        let is_free = |run: &&Run| !held.contains(&run.record.run_id);
        let mut found: Vec<RunRecord> = self
            .runs
            .values()
            .filter(is_free)
            .filter(|run| self.can_go_on(run, now))
            .map(|run| run.record.clone())
            .collect();
        found.sort_by_key(|run| run.updated_at);
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        found
    }

    pub(super) fn can_go_on(&self, run: &Run, now: Timestamp) -> bool {
        let state = |call: &CallId| run.calls.get(call).map(|call| call.state);
        match run.record.status {
            None => true,
            Some(RunStatus::WaitingForApproval) if run.record.kind == RunKind::Agent => {
                let own = || self.approvals.iter().filter(|approval| approval.run_id == run.record.run_id);
                own().any(|approval| {
                    rules::is_answered(approval, now)
                        && !state(&approval.call_id).is_some_and(rules::has_result)
                        && !own().any(|other| other.call_id == approval.call_id && rules::is_pending(other, now))
                })
            }
            Some(RunStatus::NeedsReconciliation) => run.calls.values().all(|call| call.state != CallState::Unknown),
            Some(_) => false,
        }
    }

    pub(super) fn runs(&self, filter: &RunFilter) -> Vec<RunRecord> {
        let mut found: Vec<RunRecord> = self
            .runs
            .values()
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
    pub(super) fn call(&self, call: &CallId) -> Option<StoredCall> {
        self.calls.get(call).map(|call| StoredCall { state: call.state, attempt: call.attempt })
    }

    pub(super) fn append(&mut self, events: Vec<NewEvent>, now: Timestamp) -> Appended {
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
        subject: None,
        started_at: None,
        settled_at: None,
    }
}
