//! The statements of each intention. Each function runs inside one savepoint of the writer's transaction: what it wrote
//! before an `Err` is undone.

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::event::{Chain, Event, NewEvent};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Appended, CallerKey, Claim, ClaimRefused, Decision, DecisionRefused, JournalError, Lease, NewRun, Settling,
    StoredArtifact,
};
use lockgate_contract::time::Timestamp;
use rusqlite::{Connection, Params, params};

use super::fault::storage;
use super::read::{self, RunPlace};
use crate::rules::{self, Decided, StatusChange};
use crate::stored;

/// Makes a run with its first event.
pub(super) fn create_run(
    connection: &Connection,
    run: NewRun,
    now: Timestamp,
) -> Result<(Lease, Appended), JournalError> {
    let lease = Lease::first(run.run_id);
    let made = execute(
        connection,
        "INSERT INTO run (run_id, tenant, kind, title, status, next_seq, created_at, updated_at, epoch, head)
         VALUES (?1, ?2, ?3, ?4, NULL, 1, ?5, ?5, ?6, ?7)
         ON CONFLICT (run_id) DO NOTHING",
        params![
            lease.as_str(),
            run.tenant,
            stored::kind_word(run.kind),
            run.title,
            now.as_millis(),
            stored::column(lease.epoch),
            run.chained.then(|| Chain::begin(&lease.run_id).head().to_string()),
        ],
    )?;
    if made == 0 {
        return Err(JournalError::Exists(lease.run_id.to_string()));
    }
    reach(Point::CreateRun);
    let place = RunPlace(connection.last_insert_rowid());
    let appended = add(connection, &lease, place, vec![run.started], now)?;
    Ok((lease, appended))
}

/// Shuts out whoever drove the run before.
pub(super) fn take_lease(connection: &Connection, run: &RunId, now: Timestamp) -> Result<Lease, JournalError> {
    let (place, before) = read::place(connection, run)?;
    let lease = Lease { run_id: run.clone(), epoch: before + 1 };
    execute(connection, "UPDATE run SET epoch = ?2 WHERE place = ?1", params![place, stored::column(lease.epoch)])?;
    reach(Point::HoldLease);
    let step = read::step(connection, place)?;
    add(connection, run, place, vec![rules::lease_taken(lease.epoch, step, rules::holder())], now)?;
    Ok(lease)
}

/// Writes something, and changes nothing.
pub(super) fn touch(connection: &Connection) -> Result<(), JournalError> {
    execute(connection, "UPDATE meta SET name = name WHERE version = 1", [])?;
    Ok(())
}

/// Adds events to a run, for whoever drives it.
pub(super) fn append(
    connection: &Connection,
    lease: &Lease,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, JournalError> {
    let place = require_lease(connection, lease)?;
    add(connection, lease, place, events, now)
}

/// Adds events to a run, for whoever has the right to.
fn add(
    connection: &Connection,
    run: &RunId,
    place: RunPlace,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, JournalError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let (first, head) = take_numbers(connection, place, &events, now)?;
    reach(Point::AppendNumbers);
    let mut appended: Appended =
        (first..).zip(events).map(|(seq, event)| event.numbered(run.clone(), seq, now)).collect();
    if let Some(head) = head {
        let head = rules::tie(head, &mut appended).to_string();
        execute(connection, "UPDATE run SET head = ?2 WHERE place = ?1", params![place, head])?;
    }
    for event in &appended {
        insert_event(connection, place, event)?;
        reach(Point::AppendEvent);
    }
    Ok(appended)
}

/// Writes an event under the number that it has.
pub(super) fn insert_event(connection: &Connection, run: RunPlace, event: &Event) -> Result<(), JournalError> {
    execute(
        connection,
        "INSERT INTO event (run, seq, at, kind, v, step, call_id, data, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            run,
            stored::column(event.seq),
            event.at.as_millis(),
            event.kind.word(),
            event.v,
            event.step,
            event.call_id.as_ref().map(CallId::as_str),
            event.data.text(),
            event.hash.map(|hash| hash.to_string()),
        ],
    )?;
    Ok(())
}

/// Where the run is. Fails for a driver whose run was taken over.
///
/// INVARIANT: asked inside the transaction that writes, which holds the file's only write lock.
fn require_lease(connection: &Connection, lease: &Lease) -> Result<RunPlace, JournalError> {
    let (place, epoch) = read::place(connection, lease)?;
    if epoch == lease.epoch { Ok(place) } else { Err(JournalError::Fenced { run: lease.run_id.clone() }) }
}

/// Raises the run's counter, and answers with the first of the numbers that were taken, and with the hash of the event before
/// it where the run's events are chained.
///
/// INVARIANT: numbers have no gaps and no doubles, whoever writes: this row and the events are written in one
/// transaction, which holds the file's only write lock.
fn take_numbers(
    connection: &Connection,
    run: RunPlace,
    events: &[NewEvent],
    now: Timestamp,
) -> Result<(u64, Option<Digest>), JournalError> {
    let (changes, status) = match StatusChange::of(events) {
        StatusChange::Keep => (false, None),
        StatusChange::Clear => (true, None),
        StatusChange::Set(status) => (true, Some(status.word())),
    };
    let count = stored::column(events.len() as u64);
    let (first, head): (i64, Option<String>) = connection
        .prepare_cached(
            "UPDATE run
             SET next_seq = next_seq + ?2, updated_at = ?3, status = CASE WHEN ?4 THEN ?5 ELSE status END
             WHERE place = ?1
             RETURNING next_seq - ?2, head",
        )
        .map_err(storage)?
        .query_row(params![run, count, now.as_millis(), changes, status], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(storage)?;
    Ok((stored::number(first)?, head.map(|head| stored::digest(&head)).transpose()?))
}

/// Opens a question.
pub(super) fn ask(
    connection: &Connection,
    lease: &Lease,
    approval: Approval,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, JournalError> {
    let place = require_lease(connection, lease)?;
    insert_question(connection, &rules::asked(approval, lease))?;
    reach(Point::AskApproval);
    add(connection, lease, place, events, now)
}

/// Keeps a question that nobody has decided.
fn insert_question(connection: &Connection, approval: &Approval) -> Result<(), JournalError> {
    let question = Document::from_serialize(approval).map_err(JournalError::unavailable)?;
    let asked = execute(
        connection,
        "INSERT INTO approval (approval_id, tenant, run_id, state, requested_at, expires_at, question)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (approval_id) DO NOTHING",
        params![
            approval.approval_id.as_str(),
            approval.tenant,
            approval.run_id.as_str(),
            approval.state.word(),
            approval.requested_at.as_millis(),
            approval.expires_at.as_millis(),
            question.text(),
        ],
    )?;
    if asked == 0 {
        return Err(JournalError::Exists(approval.approval_id.to_string()));
    }
    Ok(())
}

/// Takes the right to start one attempt of a call, and uses its approval and its caller's key.
pub(super) fn claim(
    connection: &Connection,
    lease: &Lease,
    claim: &Claim,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, ClaimRefused> {
    let place = require_lease(connection, lease)?;
    reach(Point::ClaimLease);
    if claim.attempt == 0 {
        return Err(ClaimRefused::AlreadyClaimed);
    }
    // Before the rest: whoever repeats a claim is told that it was made, not that the approval is gone.
    let taken = execute(
        connection,
        "INSERT INTO call (run, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key,
                           approval_id, subject, started_at)
         VALUES (?1, ?2, 'running', ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?10, ?9)
         ON CONFLICT (run, call_id) DO UPDATE
         SET state = 'running', attempt = excluded.attempt, step = excluded.step, tool_name = excluded.tool_name,
             effect = excluded.effect, arguments_digest = excluded.arguments_digest,
             idempotency_key = excluded.idempotency_key, approval_id = NULL, subject = excluded.subject,
             started_at = excluded.started_at
         WHERE state IN ('running', 'open') AND attempt < excluded.attempt",
        params![
            place,
            claim.call_id.as_str(),
            claim.attempt,
            claim.step,
            claim.tool_name,
            claim.effect.word(),
            claim.arguments_digest.to_string(),
            claim.idempotency_key,
            now.as_millis(),
            claim.subject,
        ],
    )?;
    if taken == 0 {
        return Err(ClaimRefused::AlreadyClaimed);
    }
    reach(Point::ClaimCall);
    let admitted = |count| read::admitted(connection, place, &claim.call_id, &claim.subject, count, now);
    for quota in &claim.quotas {
        rules::within_quota(quota, admitted(&quota.count)?)?;
    }
    for seen in &claim.seen {
        rules::still_holds(seen, admitted(&seen.count)?)?;
    }
    if let Some(key) = &claim.caller_key {
        take_key(connection, lease, &claim.call_id, key, now)?;
        reach(Point::ClaimCallerKey);
    }
    if let Some((approval, digest)) = &claim.approval {
        let stored = read::approval(connection, approval)?;
        rules::usable(stored.as_ref(), lease, &claim.call_id, digest, now)?;
        let used = execute(
            connection,
            "UPDATE approval SET state = ?2, consumed_at = ?3 WHERE approval_id = ?1 AND state = ?4",
            params![approval.as_str(), ApprovalState::Consumed.word(), now.as_millis(), ApprovalState::Granted.word()],
        )?;
        if used != 1 {
            return Err(ClaimRefused::Stale);
        }
        reach(Point::ClaimApprovalConsumed);
        execute(
            connection,
            "UPDATE call SET approval_id = ?3 WHERE run = ?1 AND call_id = ?2",
            params![place, claim.call_id.as_str(), approval.as_str()],
        )?;
        reach(Point::ClaimApprovalNoted);
    }
    Ok(add(connection, lease, place, events, now)?)
}

/// Keeps a caller's key for a call, unless another request has it.
fn take_key(
    connection: &Connection,
    run: &RunId,
    call: &CallId,
    key: &CallerKey,
    now: Timestamp,
) -> Result<(), ClaimRefused> {
    rules::key_is_free(read::key_holder(connection, &key.tenant, &key.key)?, run, call, key, now)?;
    execute(
        connection,
        "INSERT INTO caller_key (tenant, key, request, run_id, call_id, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant, key) DO UPDATE
         SET request = excluded.request, run_id = excluded.run_id, call_id = excluded.call_id,
             expires_at = excluded.expires_at",
        params![
            key.tenant,
            key.key,
            key.request.to_string(),
            run.as_str(),
            call.as_str(),
            now.after(key.keep).as_millis(),
        ],
    )?;
    Ok(())
}

/// Writes a result, whether or not the call was ever claimed, and keeps the rest of its output.
pub(super) fn settle(
    connection: &Connection,
    lease: &Lease,
    settling: &Settling,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, JournalError> {
    let (place, epoch) = read::place(connection, lease)?;
    let stored = read::call(connection, place, &settling.call_id)?;
    let settlement = rules::settlement(stored, lease, settling, epoch == lease.epoch, events)?;
    reach(Point::SettleRead);
    if let Some(artifact) = &settling.artifact {
        keep(connection, lease, artifact)?;
        reach(Point::SettleArtifact);
    }
    if let Some(state) = settlement.state {
        execute(
            connection,
            "INSERT INTO call (run, call_id, state, attempt, settled_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (run, call_id) DO UPDATE
             SET state = excluded.state, attempt = max(attempt, excluded.attempt), settled_at = excluded.settled_at",
            params![place, settling.call_id.as_str(), state.word(), settling.attempt, now.as_millis()],
        )?;
        reach(Point::SettleCall);
        // Nobody is asked about a call that has its result: the same as `rules::withdraw_if_open`.
        execute(
            connection,
            "UPDATE approval SET state = 'withdrawn'
             WHERE run_id = ?1 AND question ->> 'call_id' = ?2 AND state IN ('pending', 'granted') AND expires_at > ?3",
            params![lease.as_str(), settling.call_id.as_str(), now.as_millis()],
        )?;
        reach(Point::SettleApprovals);
    }
    add(connection, lease, place, settlement.events, now)
}

/// Writes what was found out about a call.
pub(super) fn reconcile(
    connection: &Connection,
    lease: &Lease,
    call: &CallId,
    events: Vec<NewEvent>,
    now: Timestamp,
) -> Result<Appended, JournalError> {
    let place = require_lease(connection, lease)?;
    let state = rules::reconciled(read::call(connection, place, call)?, call, &events)?;
    execute(
        connection,
        "UPDATE call SET state = ?3 WHERE run = ?1 AND call_id = ?2",
        params![place, call.as_str(), state.word()],
    )?;
    reach(Point::ReconcileCall);
    add(connection, lease, place, events, now)
}

/// Keeps an artifact once. Its id is made from its content, so the same id comes with the same text, or something is wrong.
fn keep(connection: &Connection, run: &RunId, artifact: &StoredArtifact) -> Result<(), JournalError> {
    let kept = execute(
        connection,
        "INSERT INTO artifact (run_id, artifact_id, text) VALUES (?1, ?2, ?3)
         ON CONFLICT (run_id, artifact_id) DO NOTHING",
        params![run.as_str(), artifact.artifact_id.as_str(), artifact.text],
    )?;
    if kept == 0 && read::artifact(connection, run, &artifact.artifact_id)?.as_ref() != Some(&artifact.text) {
        return Err(JournalError::Exists(artifact.artifact_id.to_string()));
    }
    Ok(())
}

/// Decides a question. The outer `Err` writes nothing; the inner one stands beside the event that records the attempt.
pub(super) fn decide(
    connection: &Connection,
    decision: &Decision,
    now: Timestamp,
) -> Result<Result<Approval, DecisionRefused>, DecisionRefused> {
    let stored = read::approval(connection, &decision.approval_id)?
        .ok_or_else(|| DecisionRefused::NotFound(decision.approval_id.clone()))?;
    let verdict = rules::decide(&stored, decision, now)?;
    if let Ok(decided) = &verdict.answer {
        keep_answer(connection, &decided.question)?;
        if let Some(asked) = &decided.in_its_place {
            insert_question(connection, &asked.clone().undecided())?;
            keep_answer(connection, asked)?;
        }
    }
    let (place, _) = read::place(connection, &stored.run_id)?;
    add(connection, &stored.run_id, place, verdict.events, now)?;
    Ok(verdict.answer.map(Decided::into_standing))
}

/// Keeps what was said about a question.
fn keep_answer(connection: &Connection, decided: &Approval) -> Result<(), JournalError> {
    execute(
        connection,
        "UPDATE approval SET state = ?2, decided_by = ?3, decided_at = ?4, reason = ?5, yeses = ?6
         WHERE approval_id = ?1",
        params![
            decided.approval_id.as_str(),
            decided.state.word(),
            decided.decided_by,
            decided.decided_at.map(Timestamp::as_millis),
            decided.reason,
            stored::yeses(&decided.yeses)?,
        ],
    )?;
    Ok(())
}

pub(super) fn execute(connection: &Connection, sql: &str, parameters: impl Params) -> Result<usize, JournalError> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(parameters)).map_err(storage)
}
