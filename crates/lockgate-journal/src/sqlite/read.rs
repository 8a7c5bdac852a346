//! Queries.

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Event, EventType};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{ApprovalFilter, Count, JournalError, KeyHolder, Per, RunFilter, RunRecord};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, ToSql, params};

use super::connection::settings;
use super::fault::storage;
use super::schema;
use crate::rules::{StoredCall, call_state};
use crate::stored::{self, Answered, as_of, column, document, number};

const RUN: &str = "SELECT run_id, tenant, kind, title, status, next_seq, created_at, updated_at, head FROM run";
const APPROVAL: &str = "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM approval";

/// One run.
pub(super) fn run(connection: &Connection, run: &RunId) -> Result<Option<RunRecord>, JournalError> {
    one(connection, &format!("{RUN} WHERE run_id = ?1"), [run.as_str()], run_row)
}

/// A run's row, as its events and calls name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunPlace(pub(super) i64);

impl ToSql for RunPlace {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

/// Where a run is, and how often the right to drive it was taken.
pub(super) fn place(connection: &Connection, run: &RunId) -> Result<(RunPlace, u64), JournalError> {
    let sql = "SELECT place, epoch FROM run WHERE run_id = ?1";
    one(connection, sql, [run.as_str()], |row| Ok((RunPlace(get(row, 0)?), number(get(row, 1)?)?)))?
        .ok_or_else(|| JournalError::NoSuchRun(run.clone()))
}

/// The step that a run is in.
pub(super) fn step(connection: &Connection, run: RunPlace) -> Result<u32, JournalError> {
    let sql = "SELECT coalesce(max(step), 0) FROM event WHERE run = ?1";
    Ok(one(connection, sql, [run], |row| get(row, 0))?.unwrap_or(0))
}

/// Where a call stands.
pub(super) fn call(connection: &Connection, run: RunPlace, call: &CallId) -> Result<Option<StoredCall>, JournalError> {
    let sql = "SELECT state, attempt FROM call WHERE run = ?1 AND call_id = ?2";
    one(connection, sql, params![run, call.as_str()], |row| {
        let state: String = get(row, 0)?;
        Ok(StoredCall { state: call_state(&state)?, attempt: get(row, 1)? })
    })
}

/// Who has a caller's key, and until when.
pub(super) fn key_holder(
    connection: &Connection,
    tenant: &str,
    key: &str,
) -> Result<Option<(KeyHolder, Timestamp)>, JournalError> {
    let sql = "SELECT run_id, call_id, request, expires_at FROM caller_key WHERE tenant = ?1 AND key = ?2";
    one(connection, sql, [tenant, key], |row| {
        let request: String = get(row, 2)?;
        let holder = KeyHolder {
            run_id: RunId::new(get::<String>(row, 0)?),
            call_id: CallId::new(get::<String>(row, 1)?),
            request: stored::digest(&request)?,
        };
        Ok((holder, Timestamp::from_millis(get(row, 3)?)))
    })
}

/// How many calls count, but for this one.
pub(super) fn admitted(
    connection: &Connection,
    run: RunPlace,
    call: &CallId,
    subject: &str,
    count: &Count,
    now: Timestamp,
) -> Result<u64, JournalError> {
    let sql = match count.per {
        Per::Run => ADMITTED_OF_RUN,
        Per::Subject | Per::Tenant => ADMITTED,
    };
    let parameters = params![
        run,
        call.as_str(),
        count.since(now).as_millis(),
        count.tool,
        count.effect.map(Effect::word),
        (count.per == Per::Subject).then_some(subject),
    ];
    let counted: i64 =
        connection.prepare_cached(sql).map_err(storage)?.query_row(parameters, |row| row.get(0)).map_err(storage)?;
    number(counted)
}

/// Calls of the tenant of run `?1`, but for call `?2` of that run.
pub(super) const ADMITTED: &str = "
    SELECT count(*) FROM call
    WHERE started_at IS NOT NULL AND started_at > ?3 AND (run <> ?1 OR call_id <> ?2)
      AND (?4 IS NULL OR tool_name = ?4) AND (?5 IS NULL OR effect = ?5) AND (?6 IS NULL OR subject = ?6)
      AND (SELECT tenant FROM run WHERE place = call.run) = (SELECT tenant FROM run WHERE place = ?1)";

/// The same for the run alone.
pub(super) const ADMITTED_OF_RUN: &str = "
    SELECT count(*) FROM call
    WHERE run = ?1 AND call_id <> ?2 AND started_at > ?3
      AND (?4 IS NULL OR tool_name = ?4) AND (?5 IS NULL OR effect = ?5) AND (?6 IS NULL OR subject = ?6)";

/// Runs, newest first.
pub(super) fn runs(connection: &Connection, filter: &RunFilter) -> Result<Vec<RunRecord>, JournalError> {
    let sql = format!("{RUN} WHERE ?1 IS NULL OR status = ?1 ORDER BY created_at DESC, place DESC LIMIT ?2");
    all(connection, &sql, params![filter.status.map(RunStatus::word), filter.limit], run_row)
}

/// Runs that could be driven on at `now`, longest unchanged first.
pub(super) fn ready(connection: &Connection, limit: u32, now: Timestamp) -> Result<Vec<RunRecord>, JournalError> {
    // The first line is the condition of the index `run_open`, word by word: so it is used.
    let sql = format!(
        "{RUN}
         WHERE (status IS NULL OR status IN ('waiting_for_approval', 'needs_reconciliation'))
           AND CASE
               WHEN status IS NULL THEN TRUE
               WHEN status = 'needs_reconciliation' THEN NOT EXISTS (
                   SELECT 1 FROM call WHERE call.run = run.place AND call.state = 'unknown')
               ELSE kind = 'agent' AND EXISTS (
                   SELECT 1 FROM approval
                   WHERE approval.run_id = run.run_id
                     AND (state IN ('granted', 'denied', 'withdrawn') OR state = 'pending' AND expires_at <= ?2)
                     AND NOT EXISTS (
                         SELECT 1 FROM call
                         WHERE call.run = run.place AND call.call_id = question ->> 'call_id'
                           AND call.state IN ('unknown', 'settled'))
                     AND NOT EXISTS (
                         SELECT 1 FROM approval AS other
                         WHERE other.run_id = run.run_id AND other.question ->> 'call_id' = approval.question ->> 'call_id'
                           AND other.state = 'pending' AND other.expires_at > ?2))
               END
         ORDER BY updated_at, place LIMIT ?1"
    );
    all(connection, &sql, params![limit, now.as_millis()], run_row)
}

/// The events of a run after `after`.
pub(super) fn events(connection: &Connection, run: &RunId, after: u64) -> Result<Vec<Event>, JournalError> {
    let (place, _) = self::place(connection, run)?;
    let sql = "SELECT seq, at, kind, v, step, call_id, data, hash FROM event WHERE run = ?1 AND seq > ?2 ORDER BY seq";
    all(connection, sql, params![place, column(after)], |row| {
        let seq = number(get(row, 0)?)?;
        let kind: String = get(row, 2)?;
        let call: Option<String> = get(row, 5)?;
        Ok(Event {
            v: get(row, 3)?,
            run_id: run.clone(),
            seq,
            at: Timestamp::from_millis(get(row, 1)?),
            kind: EventType::from_word(&kind),
            step: get(row, 4)?,
            call_id: call.map(CallId::new),
            data: document(get(row, 6)?, || format!("event {seq} of run `{run}`"))?.into(),
            hash: get::<Option<String>>(row, 7)?.map(|hash| stored::digest(&hash)).transpose()?,
        })
    })
}

/// One question as it is stored.
pub(super) fn approval(connection: &Connection, approval: &ApprovalId) -> Result<Option<Approval>, JournalError> {
    one(connection, &format!("{APPROVAL} WHERE approval_id = ?1"), [approval.as_str()], approval_row)
}

/// One question, with its state at `now`.
pub(super) fn approval_as_of(
    connection: &Connection,
    id: &ApprovalId,
    now: Timestamp,
) -> Result<Option<Approval>, JournalError> {
    Ok(approval(connection, id)?.map(|approval| as_of(approval, now)))
}

/// Questions, oldest first, with their states at `now`.
pub(super) fn approvals(
    connection: &Connection,
    filter: &ApprovalFilter,
    now: Timestamp,
) -> Result<Vec<Approval>, JournalError> {
    // Two statements, so that the questions of one run are found by its index.
    let whose = if filter.run_id.is_some() { "run_id = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "{APPROVAL}
         WHERE {whose}
           AND (?2 IS NULL
                OR ?2 = CASE WHEN state IN ('pending', 'granted') AND expires_at <= ?3 THEN 'expired' ELSE state END)
         ORDER BY requested_at, place"
    );
    let run = filter.run_id.as_ref().map(RunId::as_str);
    let found =
        all(connection, &sql, params![run, filter.state.map(ApprovalState::word), now.as_millis()], approval_row)?;
    Ok(found.into_iter().map(|approval| as_of(approval, now)).collect())
}

/// The text of an artifact of a run.
pub(super) fn artifact(
    connection: &Connection,
    run: &RunId,
    artifact: &ArtifactId,
) -> Result<Option<String>, JournalError> {
    let sql = "SELECT text FROM artifact WHERE run_id = ?1 AND artifact_id = ?2";
    one(connection, sql, [run.as_str(), artifact.as_str()], |row| get(row, 0))
}

/// What the database says about itself.
pub(super) fn describe(connection: &Connection) -> Result<Vec<(String, String)>, JournalError> {
    let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(storage);
    let path = text("SELECT file FROM pragma_database_list WHERE name = 'main'")?;
    let settings = settings(connection).map_err(storage)?;
    let facts = [
        ("kind", "sqlite".to_owned()),
        ("url", format!("sqlite:{path}")),
        ("path", path),
        ("schema_version", schema::version(connection).map_err(storage)?.to_string()),
        ("sqlite_version", text("SELECT sqlite_version()")?),
        ("journal_mode", settings.journal_mode),
        ("synchronous", settings.synchronous),
        ("foreign_keys", settings.foreign_keys),
        ("size_bytes", text("SELECT CAST(page_count * page_size AS TEXT) FROM pragma_page_count, pragma_page_size")?),
        ("runs", text("SELECT CAST(count(*) AS TEXT) FROM run")?),
    ];
    Ok(facts.map(|(name, fact)| (name.to_owned(), fact)).to_vec())
}

fn run_row(row: &Row<'_>) -> Result<RunRecord, JournalError> {
    let run_id: String = get(row, 0)?;
    let kind: String = get(row, 2)?;
    let status: Option<String> = get(row, 4)?;
    Ok(RunRecord {
        kind: stored::run_kind(&run_id, &kind)?,
        status: status.map(|word| stored::run_status(&run_id, &word)).transpose()?,
        run_id: RunId::new(run_id),
        tenant: get(row, 1)?,
        title: get(row, 3)?,
        // The column holds the number of the next event.
        last_seq: number(get::<i64>(row, 5)?.saturating_sub(1))?,
        created_at: Timestamp::from_millis(get(row, 6)?),
        updated_at: Timestamp::from_millis(get(row, 7)?),
        head: get::<Option<String>>(row, 8)?.map(|hash| stored::digest(&hash)).transpose()?,
    })
}

fn approval_row(row: &Row<'_>) -> Result<Approval, JournalError> {
    let answered = Answered {
        state: get(row, 1)?,
        yeses: get(row, 6)?,
        decided_by: get(row, 2)?,
        decided_at: get(row, 3)?,
        reason: get(row, 4)?,
        consumed_at: get(row, 5)?,
    };
    stored::approval(get(row, 0)?, answered)
}

pub(super) fn get<T: rusqlite::types::FromSql>(row: &Row<'_>, at: usize) -> Result<T, JournalError> {
    row.get(at).map_err(storage)
}

pub(super) fn one<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    decode: impl FnOnce(&Row<'_>) -> Result<T, JournalError>,
) -> Result<Option<T>, JournalError> {
    let mut statement = connection.prepare_cached(sql).map_err(storage)?;
    let found = statement.query_row(parameters, |row| Ok(decode(row))).optional().map_err(storage)?;
    found.transpose()
}

pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    decode: impl Fn(&Row<'_>) -> Result<T, JournalError>,
) -> Result<Vec<T>, JournalError> {
    let mut statement = connection.prepare_cached(sql).map_err(storage)?;
    let rows = statement.query_map(parameters, |row| Ok(decode(row))).map_err(storage)?;
    rows.map(|row| row.map_err(storage)?).collect()
}
