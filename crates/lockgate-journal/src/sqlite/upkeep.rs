//! Whole runs, in the file.

use std::sync::Arc;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    BoxFuture, Compaction, JournalError, JournalStats, KeptCall, KeptKey, KeptQuestion, KeptRun, Prune, Pruned,
    StoredArtifact, Upkeep,
};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;
use rusqlite::{Connection, Row, ToSql, params};

use super::checkpoint::Log;
use super::connection::Place;
use super::fault::storage;
use super::read::RunPlace;
use super::read::{all, get, one};
use super::write::execute;
use super::{SqliteJournal, hold, read, schema};
use crate::keeping::{self, Standing};
use crate::rules::call_state;
use crate::stored::{self, Answered, column, number};

/// What is free must be so much, and a quarter of the file, before the file is written anew without it.
const WORTHWHILE: u64 = 1 << 20;

impl Upkeep for SqliteJournal {
    fn export_run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<KeptRun, JournalError>> {
        let run = run.clone();
        Box::pin(self.readers.read(move |connection| {
            // One snapshot for all of it: somebody may be driving the run.
            let snapshot = connection.unchecked_transaction().map_err(storage)?;
            export(&snapshot, &run)
        }))
    }

    fn import_run(&self, run: KeptRun) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(self.writer.commit(move |connection, now| import(connection, &run, now)))
    }

    fn prune_run(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, JournalError>> {
        Box::pin(async move {
            let (asked, clock) = (prune.clone(), Arc::clone(&self.clock));
            let is_gone = move |connection: &Connection| {
                let snapshot = connection.unchecked_transaction().map_err(storage)?;
                examine(&snapshot, &asked, false, clock.now())
            };
            let first = self.readers.read(is_gone).await?;
            if first != Pruned::Removed {
                return Ok(first);
            }
            // Held while it is removed, so that nobody begins to drive it; and asked for at the end only, so that nobody who
            // wants to drive a run that stays is in its way.
            let held = hold::take(&self.place.path, &prune.run_id)?;
            self.writer.commit(move |connection, now| remove(connection, &prune, held.is_none(), now)).await
        })
    }

    fn compact(&self) -> BoxFuture<'_, Result<Option<Compaction>, JournalError>> {
        let (place, now) = (self.place.clone(), self.clock.now());
        Box::pin(async move {
            tokio::task::spawn_blocking(move || compact(&place, now)).await.map_err(JournalError::unavailable)?
        })
    }

    fn stats(&self) -> BoxFuture<'_, Result<JournalStats, JournalError>> {
        let clock = Arc::clone(&self.clock);
        Box::pin(self.readers.read(move |connection| {
            let snapshot = connection.unchecked_transaction().map_err(storage)?;
            stats(&snapshot, clock.now())
        }))
    }
}

fn export(connection: &Connection, run: &RunId) -> Result<KeptRun, JournalError> {
    let unknown = || JournalError::NoSuchRun(run.clone());
    let record = read::run(connection, run)?.ok_or_else(unknown)?;
    let (place, epoch) = read::place(connection, run)?;
    let id = [run.as_str()];
    Ok(KeptRun {
        run_id: record.run_id,
        tenant: record.tenant,
        kind: record.kind,
        title: record.title,
        status: record.status,
        epoch,
        created_at: record.created_at,
        updated_at: record.updated_at,
        events: read::events(connection, run, 0)?,
        questions: all(
            connection,
            "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM approval WHERE run_id = ?1
             ORDER BY place",
            id,
            question_row,
        )?,
        calls: all(
            connection,
            "SELECT call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id,
                    started_at, settled_at, subject
             FROM call WHERE run = ?1 ORDER BY call_id",
            [place],
            call_row,
        )?,
        artifacts: all(
            connection,
            "SELECT artifact_id, text FROM artifact WHERE run_id = ?1 ORDER BY artifact_id",
            id,
            |row| Ok(StoredArtifact { artifact_id: ArtifactId::new(get::<String>(row, 0)?), text: get(row, 1)? }),
        )?,
        keys: all(
            connection,
            "SELECT tenant, key, request, call_id, expires_at FROM caller_key WHERE run_id = ?1 ORDER BY tenant, key",
            id,
            key_row,
        )?,
    })
}

fn question_row(row: &Row<'_>) -> Result<KeptQuestion, JournalError> {
    let answered = Answered {
        state: get(row, 1)?,
        yeses: get(row, 6)?,
        decided_by: get(row, 2)?,
        decided_at: get(row, 3)?,
        reason: get(row, 4)?,
        consumed_at: get(row, 5)?,
    };
    stored::question(get(row, 0)?, answered)
}

fn call_row(row: &Row<'_>) -> Result<KeptCall, JournalError> {
    Ok(KeptCall {
        call_id: CallId::new(get::<String>(row, 0)?),
        state: call_state(&get::<String>(row, 1)?)?,
        attempt: get(row, 2)?,
        step: get(row, 3)?,
        tool_name: get(row, 4)?,
        effect: get(row, 5)?,
        arguments_digest: get(row, 6)?,
        idempotency_key: get(row, 7)?,
        approval_id: get::<Option<String>>(row, 8)?.map(ApprovalId::new),
        started_at: get::<Option<i64>>(row, 9)?.map(Timestamp::from_millis),
        settled_at: get::<Option<i64>>(row, 10)?.map(Timestamp::from_millis),
        subject: get(row, 11)?,
    })
}

fn key_row(row: &Row<'_>) -> Result<KeptKey, JournalError> {
    Ok(KeptKey {
        tenant: get(row, 0)?,
        key: get(row, 1)?,
        request: stored::digest(&get::<String>(row, 2)?)?,
        call_id: CallId::new(get::<String>(row, 3)?),
        expires_at_ms: get(row, 4)?,
    })
}

fn import(connection: &Connection, run: &KeptRun, now: Timestamp) -> Result<(), JournalError> {
    let asked = keeping::importable(run)?;
    let made = execute(
        connection,
        "INSERT INTO run (run_id, tenant, kind, title, status, next_seq, created_at, updated_at, epoch, head)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (run_id) DO NOTHING",
        params![
            run.run_id.as_str(),
            run.tenant,
            stored::kind_word(run.kind),
            run.title,
            run.status.map(RunStatus::word),
            column(run.events.len() as u64 + 1),
            run.created_at.as_millis(),
            run.updated_at.as_millis(),
            column(run.epoch),
            run.events.last().and_then(|event| event.hash).map(|hash| hash.to_string()),
        ],
    )?;
    if made == 0 {
        return Err(JournalError::Exists(run.run_id.to_string()));
    }
    let place = RunPlace(connection.last_insert_rowid());
    for event in &run.events {
        super::write::insert_event(connection, place, event)?;
    }
    for (question, approval) in run.questions.iter().zip(&asked) {
        import_question(connection, question, approval)?;
    }
    for call in &run.calls {
        import_call(connection, place, call)?;
    }
    for artifact in &run.artifacts {
        execute(
            connection,
            "INSERT INTO artifact (run_id, artifact_id, text) VALUES (?1, ?2, ?3)",
            params![run.run_id.as_str(), artifact.artifact_id.as_str(), artifact.text],
        )?;
    }
    for key in &run.keys {
        import_key(connection, &run.run_id, key, now)?;
    }
    Ok(())
}

fn import_question(connection: &Connection, kept: &KeptQuestion, approval: &Approval) -> Result<(), JournalError> {
    let asked = execute(
        connection,
        "INSERT INTO approval (approval_id, tenant, run_id, state, requested_at, expires_at, question, decided_by,
                               decided_at, reason, consumed_at, yeses)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (approval_id) DO NOTHING",
        params![
            approval.approval_id.as_str(),
            approval.tenant,
            approval.run_id.as_str(),
            approval.state.word(),
            approval.requested_at.as_millis(),
            approval.expires_at.as_millis(),
            kept.question.text(),
            approval.decided_by,
            approval.decided_at.map(Timestamp::as_millis),
            approval.reason,
            approval.consumed_at.map(Timestamp::as_millis),
            stored::yeses(&approval.yeses)?,
        ],
    )?;
    if asked == 0 { Err(JournalError::Exists(approval.approval_id.to_string())) } else { Ok(()) }
}

fn import_call(connection: &Connection, run: RunPlace, call: &KeptCall) -> Result<(), JournalError> {
    execute(
        connection,
        "INSERT INTO call (run, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key,
                           approval_id, started_at, settled_at, subject)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            run,
            call.call_id.as_str(),
            call.state.word(),
            call.attempt,
            call.step,
            call.tool_name,
            call.effect,
            call.arguments_digest,
            call.idempotency_key,
            call.approval_id.as_ref().map(ApprovalId::as_str),
            call.started_at.map(Timestamp::as_millis),
            call.settled_at.map(Timestamp::as_millis),
            call.subject,
        ],
    )?;
    Ok(())
}

fn import_key(connection: &Connection, run: &RunId, key: &KeptKey, now: Timestamp) -> Result<(), JournalError> {
    let there = "SELECT expires_at FROM caller_key WHERE tenant = ?1 AND key = ?2";
    let until = one(connection, there, [&key.tenant, &key.key], |row| get(row, 0))?.map(Timestamp::from_millis);
    if !keeping::key_comes_in(until, key, now)? {
        return Ok(());
    }
    execute(
        connection,
        "INSERT OR REPLACE INTO caller_key (tenant, key, request, run_id, call_id, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![key.tenant, key.key, key.request.to_string(), run.as_str(), key.call_id.as_str(), key.expires_at_ms],
    )?;
    Ok(())
}

/// Whether a run may go.
fn examine(connection: &Connection, prune: &Prune, is_driven: bool, now: Timestamp) -> Result<Pruned, JournalError> {
    let run = &prune.run_id;
    let record = read::run(connection, run)?.ok_or_else(|| JournalError::NoSuchRun(run.clone()))?;
    let there = |sql: &str, parameters: &[&dyn ToSql]| {
        one(connection, sql, parameters, |row| get::<bool>(row, 0)).map(Option::unwrap_or_default)
    };
    let (place, _) = read::place(connection, run)?;
    let (id, at) = (run.as_str(), now.as_millis());
    let standing = Standing {
        status: record.status,
        last_seq: record.last_seq,
        updated_at: record.updated_at,
        is_driven,
        has_open_question: there(
            "SELECT EXISTS (SELECT 1 FROM approval
                            WHERE run_id = ?1 AND state IN ('pending', 'granted') AND expires_at > ?2)",
            &[&id, &at],
        )?,
        has_unknown_effect: there(
            "SELECT EXISTS (SELECT 1 FROM call WHERE run = ?1 AND state IN ('running', 'unknown'))",
            &[&place],
        )?,
        has_live_key: there(
            "SELECT EXISTS (SELECT 1 FROM caller_key WHERE run_id = ?1 AND expires_at > ?2)",
            &[&id, &at],
        )?,
    };
    Ok(keeping::prunable(&standing, prune, now))
}

fn remove(connection: &Connection, prune: &Prune, is_driven: bool, now: Timestamp) -> Result<Pruned, JournalError> {
    let pruned = examine(connection, prune, is_driven, now)?;
    if pruned == Pruned::Removed && !prune.dry_run {
        let (place, _) = read::place(connection, &prune.run_id)?;
        for (table, run) in [
            ("caller_key", "run_id"),
            ("call", "run"),
            ("approval", "run_id"),
            ("artifact", "run_id"),
            ("event", "run"),
            ("run", "place"),
        ] {
            let named: &dyn ToSql = if run == "run_id" { &prune.run_id.as_str() } else { &place };
            execute(connection, &format!("DELETE FROM {table} WHERE {run} = ?1"), [named])?;
        }
    }
    Ok(pruned)
}

/// Writes the file anew without what is free in it, on a connection of its own: nothing else may be open on that one.
fn compact(place: &Place, now: Timestamp) -> Result<Option<Compaction>, JournalError> {
    let connection = place.writer(now, &mut Log::new()).map_err(JournalError::unavailable)?;
    let (before, free) = (pages(&connection, "page_count")?, pages(&connection, "freelist_count")?);
    if free < WORTHWHILE || free < before / 4 {
        return Ok(None);
    }
    // Through the write-ahead log, like every other change; the checkpoint is what makes the file shorter.
    connection.execute_batch("VACUUM").map_err(storage)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(storage)?;
    Ok(Some(Compaction { before, after: pages(&connection, "page_count")? }))
}

/// So many pages, in bytes.
fn pages(connection: &Connection, count: &str) -> Result<u64, JournalError> {
    let sql = format!("SELECT (SELECT {count} FROM pragma_{count}) * (SELECT page_size FROM pragma_page_size)");
    number(one(connection, &sql, [], |row| get(row, 0))?.unwrap_or_default())
}

fn stats(connection: &Connection, now: Timestamp) -> Result<JournalStats, JournalError> {
    let count = |sql: &str, parameters: &[&dyn ToSql]| -> Result<u64, JournalError> {
        number(one(connection, sql, parameters, |row| get::<i64>(row, 0))?.unwrap_or_default())
    };
    let by_status = "SELECT status, count(*) FROM run GROUP BY status ORDER BY status";
    let time = |sql| -> Result<Option<Timestamp>, JournalError> {
        Ok(one(connection, sql, [], |row| get::<Option<i64>>(row, 0))?.flatten().map(Timestamp::from_millis))
    };
    Ok(JournalStats {
        runs: all(connection, by_status, [], |row| {
            let status: Option<String> = get(row, 0)?;
            let status = status.map(|word| stored::run_status("", &word)).transpose()?;
            Ok((status, number(get(row, 1)?)?))
        })?,
        // Each run counts its own.
        events: count("SELECT coalesce(sum(next_seq - 1), 0) FROM run", &[])?,
        artifacts: count("SELECT count(*) FROM artifact", &[])?,
        artifact_bytes: count("SELECT coalesce(sum(octet_length(text)), 0) FROM artifact", &[])?,
        open_questions: count(
            "SELECT count(*) FROM approval WHERE state IN (?1, ?2) AND expires_at > ?3",
            &[&ApprovalState::Pending.word(), &ApprovalState::Granted.word(), &now.as_millis()],
        )?,
        // The condition of the index `call_unknown`, word by word: so it is used.
        unknown_effects: count("SELECT count(*) FROM call WHERE state = 'unknown'", &[])?,
        keys: count("SELECT count(*) FROM caller_key", &[])?,
        oldest: time("SELECT min(created_at) FROM run")?,
        newest: time("SELECT max(updated_at) FROM run")?,
        size_bytes: Some(pages(connection, "page_count")?),
        schema_version: Some(schema::version(connection).map_err(storage)?),
    })
}
