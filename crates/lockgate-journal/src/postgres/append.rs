//! Events get their numbers.

use futures_util::future::try_join;
use lockgate_contract::event::{Event, NewEvent};
use lockgate_contract::failpoint::Point;
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{Appended, JournalError};

use super::connection::Values;
use super::statements::Statement;
use super::transaction::{Locked, Transaction};
use crate::rules::{self, StatusChange};
use crate::stored::column;

/// Adds events to a locked run.
///
/// INVARIANT: numbers have no gaps and no doubles, whoever writes: the run is locked from the moment its counter was read
/// until the transaction ends, and `Locked` is used up.
pub(super) async fn add(
    transaction: &Transaction<'_>,
    locked: Locked,
    events: Vec<NewEvent>,
) -> Result<Appended, JournalError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let (changes, status) = match StatusChange::of(&events) {
        StatusChange::Keep => (false, None),
        StatusChange::Clear => (true, None),
        StatusChange::Set(status) => (true, Some(status.word())),
    };
    let Locked { run, tenant, next_seq, now, head, .. } = locked;
    let mut appended: Appended = Vec::with_capacity(events.len());
    for (seq, event) in (next_seq.unsigned_abs()..).zip(events) {
        appended.push(event.numbered(run.clone(), seq, now));
    }
    let head = head.map(|head| rules::tie(head, &mut appended).to_string());
    let (count, now) = (column(appended.len() as u64), now.as_millis());
    let advance: Values<'_> = &[&run.as_str(), &count, &now, &changes, &status, &next_seq, &head];
    let (advanced, ()) = try_join(
        transaction.execute_to(Point::AppendNumbers, Statement::Advance, advance),
        insert_events(transaction, &tenant, &run, &appended),
    )
    .await?;
    if advanced == 1 {
        transaction.has_news_of(run);
        Ok(appended)
    } else {
        Err(JournalError::Corrupt(format!("the counter of run `{run}` was moved while it was locked")))
    }
}

/// Writes events under the numbers that they have.
pub(super) async fn insert_events(
    transaction: &Transaction<'_>,
    tenant: &str,
    run: &RunId,
    events: &[Event],
) -> Result<(), JournalError> {
    let rows = Columns::of(events);
    let values: Values<'_> = &[
        &tenant,
        &run.as_str(),
        &rows.at,
        &rows.seq,
        &rows.kind,
        &rows.v,
        &rows.step,
        &rows.call_id,
        &rows.data,
        &rows.hash,
    ];
    transaction.execute_to(Point::AppendEvent, Statement::InsertEvents, values).await.map(drop)
}

/// Events by column: however many they are, they are one statement.
struct Columns<'e> {
    seq: Vec<i64>,
    at: Vec<i64>,
    kind: Vec<&'e str>,
    v: Vec<i64>,
    step: Vec<i64>,
    call_id: Vec<Option<&'e str>>,
    data: Vec<&'e str>,
    hash: Vec<Option<String>>,
}

impl<'e> Columns<'e> {
    fn of(events: &'e [Event]) -> Self {
        Self {
            seq: events.iter().map(|event| column(event.seq)).collect(),
            at: events.iter().map(|event| event.at.as_millis()).collect(),
            kind: events.iter().map(|event| event.kind.word()).collect(),
            v: events.iter().map(|event| i64::from(event.v)).collect(),
            step: events.iter().map(|event| i64::from(event.step)).collect(),
            call_id: events.iter().map(|event| event.call_id.as_ref().map(CallId::as_str)).collect(),
            data: events.iter().map(|event| event.data.text()).collect(),
            hash: events.iter().map(|event| event.hash.map(|hash| hash.to_string())).collect(),
        }
    }
}
