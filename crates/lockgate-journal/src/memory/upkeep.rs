//! Whole runs, in memory.

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{
    BoxFuture, CallState, Compaction, JournalError, JournalStats, KeptKey, KeptQuestion, KeptRun, KeyHolder, Prune,
    Pruned, RunRecord, StoredArtifact, Upkeep,
};
use lockgate_contract::time::Timestamp;

use super::{MemoryJournal, Run, State};
use crate::keeping::{self, Standing};

impl State {
    fn export(&mut self, run_id: &RunId) -> Result<KeptRun, JournalError> {
        let mut questions = Vec::new();
        for approval in self.approvals.iter().filter(|approval| approval.run_id == *run_id) {
            questions.push(self.question(approval)?);
        }
        let mut keys: Vec<KeptKey> = self
            .keys
            .iter()
            .filter(|(_, (holder, _))| holder.run_id == *run_id)
            .map(|((tenant, key), (holder, until))| KeptKey {
                tenant: tenant.clone(),
                key: key.clone(),
                request: holder.request,
                call_id: holder.call_id.clone(),
                expires_at_ms: until.as_millis(),
            })
            .collect();
        keys.sort_by(|one, other| (&one.tenant, &one.key).cmp(&(&other.tenant, &other.key)));
        let run = self.run(run_id)?;
        let mut calls: Vec<_> = run.calls.values().cloned().collect();
        calls.sort_by(|one, other| one.call_id.cmp(&other.call_id));
        let mut artifacts: Vec<StoredArtifact> = run
            .artifacts
            .iter()
            .map(|(id, text)| StoredArtifact { artifact_id: id.clone(), text: text.clone() })
            .collect();
        artifacts.sort_by(|one, other| one.artifact_id.cmp(&other.artifact_id));
        let RunRecord { run_id, tenant, kind, title, status, created_at, updated_at, .. } = run.record.clone();
        let (epoch, events) = (run.epoch, run.events.clone());
        Ok(KeptRun {
            run_id,
            tenant,
            kind,
            title,
            status,
            epoch,
            created_at,
            updated_at,
            events,
            questions,
            calls,
            artifacts,
            keys,
        })
    }

    fn question(&self, approval: &Approval) -> Result<KeptQuestion, JournalError> {
        let question = match self.imported.get(&approval.approval_id) {
            Some(question) => question.clone(),
            None => Document::from_serialize(&approval.clone().undecided()).map_err(JournalError::unavailable)?,
        };
        Ok(KeptQuestion {
            question,
            state: approval.state,
            decided_by: approval.decided_by.clone(),
            decided_at: approval.decided_at,
            reason: approval.reason.clone(),
            consumed_at: approval.consumed_at,
        })
    }

    fn import(&mut self, run: KeptRun, now: Timestamp) -> Result<(), JournalError> {
        let asked = keeping::importable(&run)?;
        if self.places.contains_key(&run.run_id) {
            return Err(JournalError::Exists(run.run_id.to_string()));
        }
        let known = |approval: &Approval| self.approvals.iter().any(|known| known.approval_id == approval.approval_id);
        if let Some(approval) = asked.iter().find(|approval| known(approval)) {
            return Err(JournalError::Exists(approval.approval_id.to_string()));
        }
        let mut keys = Vec::new();
        for key in run.keys {
            let place = (key.tenant.clone(), key.key.clone());
            let until = self.keys.get(&place).map(|(_, until)| *until);
            if keeping::key_comes_in(until, &key, now)? {
                let holder = KeyHolder { run_id: run.run_id.clone(), call_id: key.call_id, request: key.request };
                keys.push((place, (holder, Timestamp::from_millis(key.expires_at_ms))));
            }
        }
        self.keys.extend(keys);
        for (approval, question) in asked.iter().zip(run.questions) {
            self.imported.insert(approval.approval_id.clone(), question.question);
        }
        self.approvals.extend(asked);
        self.place(Run {
            record: RunRecord {
                run_id: run.run_id,
                tenant: run.tenant,
                kind: run.kind,
                title: run.title,
                status: run.status,
                last_seq: run.events.len() as u64,
                created_at: run.created_at,
                updated_at: run.updated_at,
                head: run.events.last().and_then(|event| event.hash),
            },
            epoch: run.epoch,
            events: run.events,
            calls: run.calls.into_iter().map(|call| (call.call_id.clone(), call)).collect(),
            artifacts: run.artifacts.into_iter().map(|artifact| (artifact.artifact_id, artifact.text)).collect(),
        });
        Ok(())
    }

    pub(super) fn prune(&mut self, prune: &Prune, is_driven: bool, now: Timestamp) -> Result<Pruned, JournalError> {
        let run_id = &prune.run_id;
        let has_open_question =
            self.approvals.iter().any(|approval| approval.run_id == *run_id && is_open(approval, now));
        let has_live_key = self.keys.values().any(|(holder, until)| holder.run_id == *run_id && now < *until);
        let run = self.run(run_id)?;
        let standing = Standing {
            status: run.record.status,
            last_seq: run.record.last_seq,
            updated_at: run.record.updated_at,
            is_driven,
            has_open_question,
            has_unknown_effect: run
                .calls
                .values()
                .any(|call| matches!(call.state, CallState::Running | CallState::Unknown)),
            has_live_key,
        };
        let pruned = keeping::prunable(&standing, prune, now);
        if pruned == Pruned::Removed && !prune.dry_run {
            self.remove(run_id);
        }
        Ok(pruned)
    }

    fn remove(&mut self, run_id: &RunId) {
        self.keys.retain(|_, (holder, _)| holder.run_id != *run_id);
        let imported = &mut self.imported;
        self.approvals.retain(|approval| {
            let stays = approval.run_id != *run_id;
            if !stays {
                imported.remove(&approval.approval_id);
            }
            stays
        });
        if let Some(gone) = self.places.remove(run_id) {
            self.runs.remove(&gone);
        }
    }

    fn stats(&self, now: Timestamp) -> JournalStats {
        let mut stats = JournalStats { keys: self.keys.len() as u64, ..JournalStats::default() };
        for run in self.runs.values() {
            match stats.runs.iter_mut().find(|(status, _)| *status == run.record.status) {
                Some((_, count)) => *count += 1,
                None => stats.runs.push((run.record.status, 1)),
            }
            stats.events += run.record.last_seq;
            stats.artifacts += run.artifacts.len() as u64;
            stats.artifact_bytes += run.artifacts.values().map(|text| text.len() as u64).sum::<u64>();
            stats.unknown_effects += run.calls.values().filter(|call| call.state == CallState::Unknown).count() as u64;
        }
        stats.runs.sort_by_key(|(status, _)| status.map(lockgate_contract::run::RunStatus::word));
        stats.open_questions = self.approvals.iter().filter(|approval| is_open(approval, now)).count() as u64;
        stats.oldest = self.runs.values().map(|run| run.record.created_at).min();
        stats.newest = self.runs.values().map(|run| run.record.updated_at).max();
        stats
    }
}

fn is_open(approval: &Approval, now: Timestamp) -> bool {
    matches!(approval.state_at(now), ApprovalState::Pending | ApprovalState::Granted)
}

impl Upkeep for MemoryJournal {
    fn export_run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<KeptRun, JournalError>> {
        Box::pin(async move { self.lock().export(run) })
    }

    fn import_run(&self, run: KeptRun) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move { self.commit(|state, now| state.import(run, now)) })
    }

    fn prune_run(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, JournalError>> {
        Box::pin(async move {
            // Held while it is removed, so that nobody begins to drive it.
            let held = self.keep(&prune.run_id);
            self.commit(|state, now| state.prune(&prune, held.is_none(), now))
        })
    }

    fn compact(&self) -> BoxFuture<'_, Result<Option<Compaction>, JournalError>> {
        Box::pin(async move { Ok(None) })
    }

    fn stats(&self) -> BoxFuture<'_, Result<JournalStats, JournalError>> {
        Box::pin(async move { Ok(self.commit(|state, now| state.stats(now))) })
    }
}
