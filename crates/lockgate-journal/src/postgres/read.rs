//! Queries, and the way from rows to the words of the contract.

use futures_util::future::try_join;
use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Event, EventType};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{ApprovalFilter, Count, JournalError, KeyHolder, Per, RunFilter, RunRecord};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;
use tokio_postgres::Row;

use super::connection::Values;
use super::statements::Statement;
use super::transaction::{Transaction, get};
use crate::rules::{StoredCall, call_state};
use crate::stored::{self, Answered, as_of, column, document, number};

/// One run.
pub(super) async fn run(transaction: &Transaction<'_>, run: &RunId) -> Result<Option<RunRecord>, JournalError> {
    transaction.row(Statement::Run, &[&run.as_str()]).await?.as_ref().map(run_row).transpose()
}

/// Runs, newest first.
pub(super) async fn runs(transaction: &Transaction<'_>, filter: &RunFilter) -> Result<Vec<RunRecord>, JournalError> {
    let (status, limit) = (filter.status.map(RunStatus::word), i64::from(filter.limit));
    transaction.rows(Statement::Runs, &[&status, &limit]).await?.iter().map(run_row).collect()
}

/// Runs that could be driven on now, longest unchanged first.
pub(super) async fn ready(transaction: &Transaction<'_>, limit: u32) -> Result<Vec<RunRecord>, JournalError> {
    let (limit, now) = (i64::from(limit), transaction.now().await?.as_millis());
    transaction.rows(Statement::Ready, &[&limit, &now]).await?.iter().map(run_row).collect()
}

/// The events of a run after `after`.
pub(super) async fn events(transaction: &Transaction<'_>, run: &RunId, after: u64) -> Result<Vec<Event>, JournalError> {
    let (id, after) = (run.as_str(), column(after));
    let rows = transaction.rows(Statement::Events, &[&id, &after]).await?;
    // A run without such events, or no run: only the first one is asked about.
    if rows.is_empty() && transaction.row(Statement::Run, &[&id]).await?.is_none() {
        return Err(JournalError::NoSuchRun(run.clone()));
    }
    rows.iter().map(|row| event_row(run, row)).collect()
}

/// Where a call stands.
pub(super) async fn call(
    transaction: &Transaction<'_>,
    run: &RunId,
    call: &CallId,
) -> Result<Option<StoredCall>, JournalError> {
    let Some(row) = transaction.row(Statement::Call, &[&run.as_str(), &call.as_str()]).await? else {
        return Ok(None);
    };
    Ok(Some(StoredCall { state: call_state(get(&row, 0)?)?, attempt: number(get(&row, 1)?)? }))
}

/// Who has a caller's key, and until when. Whoever else wants to know waits until this transaction ends.
pub(super) async fn key_holder(
    transaction: &Transaction<'_>,
    tenant: &str,
    key: &str,
) -> Result<Option<(KeyHolder, Timestamp)>, JournalError> {
    let Some(row) = transaction.row(Statement::KeyHolder, &[&tenant, &key.as_bytes()]).await? else {
        return Ok(None);
    };
    let request: &str = get(&row, 2)?;
    let holder = KeyHolder {
        run_id: RunId::new(get::<String>(&row, 0)?),
        call_id: CallId::new(get::<String>(&row, 1)?),
        request: stored::digest(request)?,
    };
    Ok(Some((holder, Timestamp::from_millis(get(&row, 3)?))))
}

/// Which call numbers are asked for, and whose: tenant, run, call and subject.
pub(super) type Asking<'a> = (&'a str, &'a RunId, &'a CallId, &'a str);

/// How many calls count, but for this one.
pub(super) async fn admitted(
    transaction: &Transaction<'_>,
    (tenant, run, call, subject): Asking<'_>,
    count: &Count,
    now: Timestamp,
) -> Result<u64, JournalError> {
    let only_run = (count.per == Per::Run).then(|| run.as_str());
    let subject = (count.per == Per::Subject).then_some(subject);
    let values: Values<'_> = &[
        &tenant,
        &run.as_str(),
        &only_run,
        &call.as_str(),
        &count.since(now).as_millis(),
        &count.tool,
        &count.effect.map(Effect::word),
        &subject,
    ];
    number(get(&transaction.one(Statement::Admitted, values).await?, 0)?)
}

/// The run that a question is about.
pub(super) async fn run_of(
    transaction: &Transaction<'_>,
    approval: &ApprovalId,
) -> Result<Option<RunId>, JournalError> {
    let row = transaction.row(Statement::RunOfApproval, &[&approval.as_str()]).await?;
    row.map(|row| get::<String>(&row, 0).map(RunId::new)).transpose()
}

/// One question as it is stored.
pub(super) async fn approval(
    transaction: &Transaction<'_>,
    approval: &ApprovalId,
) -> Result<Option<Approval>, JournalError> {
    transaction.row(Statement::Approval, &[&approval.as_str()]).await?.as_ref().map(approval_row).transpose()
}

/// The questions about a call as they are stored.
pub(super) async fn approvals_of(
    transaction: &Transaction<'_>,
    run: &RunId,
    call: &CallId,
) -> Result<Vec<Approval>, JournalError> {
    let rows = transaction.rows(Statement::ApprovalsOfCall, &[&run.as_str(), &call.as_str()]).await?;
    rows.iter().map(approval_row).collect()
}

/// One question, with its state as of now.
pub(super) async fn approval_as_of_now(
    transaction: &Transaction<'_>,
    id: &ApprovalId,
) -> Result<Option<Approval>, JournalError> {
    let (now, found) = try_join(transaction.now(), approval(transaction, id)).await?;
    Ok(found.map(|approval| as_of(approval, now)))
}

/// Questions, oldest first, with their states as of now.
pub(super) async fn approvals(
    transaction: &Transaction<'_>,
    filter: &ApprovalFilter,
) -> Result<Vec<Approval>, JournalError> {
    let run = filter.run_id.as_ref().map(RunId::as_str);
    let candidates = filter.state.map(candidates);
    let (now, rows) = try_join(transaction.now(), transaction.rows(Statement::Approvals, &[&run, &candidates])).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let approval = as_of(approval_row(row)?, now);
        if filter.state.is_none_or(|state| approval.state == state) {
            found.push(approval);
        }
    }
    Ok(found)
}

/// In which stored states a question may be that is in this state as of now. Whether it is, `Approval::state_at` says.
fn candidates(state: ApprovalState) -> Vec<&'static str> {
    match state {
        ApprovalState::Expired => vec![ApprovalState::Pending.word(), ApprovalState::Granted.word()],
        state => vec![state.word()],
    }
}

/// The text of an artifact of a run.
pub(super) async fn artifact(
    transaction: &Transaction<'_>,
    run: &RunId,
    artifact: &ArtifactId,
) -> Result<Option<String>, JournalError> {
    let row = transaction.row(Statement::Artifact, &[&run.as_str(), &artifact.as_str()]).await?;
    row.map(|row| text(&row, 0)).transpose()
}

fn run_row(row: &Row) -> Result<RunRecord, JournalError> {
    let run_id: String = get(row, 0)?;
    let status: Option<&str> = get(row, 4)?;
    Ok(RunRecord {
        kind: stored::run_kind(&run_id, get(row, 2)?)?,
        status: status.map(|word| stored::run_status(&run_id, word)).transpose()?,
        run_id: RunId::new(run_id),
        tenant: get(row, 1)?,
        title: text(row, 3)?,
        // The column holds the number of the next event.
        last_seq: number(get::<i64>(row, 5)?.saturating_sub(1))?,
        created_at: Timestamp::from_millis(get(row, 6)?),
        updated_at: Timestamp::from_millis(get(row, 7)?),
        head: get::<Option<&str>>(row, 8)?.map(stored::digest).transpose()?,
    })
}

fn event_row(run: &RunId, row: &Row) -> Result<Event, JournalError> {
    let seq = number(get(row, 0)?)?;
    Ok(Event {
        v: number(get(row, 3)?)?,
        run_id: run.clone(),
        seq,
        at: Timestamp::from_millis(get(row, 1)?),
        kind: EventType::from_word(get(row, 2)?),
        step: number(get(row, 4)?)?,
        call_id: get::<Option<String>>(row, 5)?.map(CallId::new),
        data: document(get(row, 6)?, || format!("event {seq} of run `{run}`"))?.into(),
        hash: get::<Option<&str>>(row, 7)?.map(stored::digest).transpose()?,
    })
}

fn approval_row(row: &Row) -> Result<Approval, JournalError> {
    let answered = Answered {
        state: get(row, 1)?,
        yeses: get(row, 6)?,
        decided_by: optional_text(row, 2)?,
        decided_at: get(row, 3)?,
        reason: optional_text(row, 4)?,
        consumed_at: get(row, 5)?,
    };
    stored::approval(get(row, 0)?, answered)
}

/// A text that stands as bytes, because it may hold what PostgreSQL's text cannot.
pub(super) fn text(row: &Row, at: usize) -> Result<String, JournalError> {
    optional_text(row, at)?.ok_or_else(|| JournalError::Corrupt("a text is missing".to_owned()))
}

pub(super) fn optional_text(row: &Row, at: usize) -> Result<Option<String>, JournalError> {
    let bytes: Option<Vec<u8>> = get(row, at)?;
    bytes
        .map(|bytes| {
            String::from_utf8(bytes).map_err(|error| JournalError::Corrupt(format!("a text is not one: {error}")))
        })
        .transpose()
}
