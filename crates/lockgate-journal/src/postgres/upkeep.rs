//! Whole runs, in the database.

use futures_util::future::{try_join, try_join4};
use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    BoxFuture, CallState, Compaction, JournalError, JournalStats, KeptCall, KeptKey, KeptQuestion, KeptRun, Prune,
    Pruned, StoredArtifact, Upkeep,
};
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;
use tokio_postgres::Row;

use super::append::insert_events;
use super::connection::Values;
use super::statements::Statement;
use super::transaction::Access::{Read, Write};
use super::transaction::{Transaction, get};
use super::{PostgresJournal, read};
use crate::keeping::{self, Standing};
use crate::rules::call_state;
use crate::stored::{self, Answered, column, number};

impl Upkeep for PostgresJournal {
    fn export_run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<KeptRun, JournalError>> {
        let run = run.clone();
        // Every statement of a reading transaction sees what was there when the first one ran.
        Box::pin(self.engine.transact(Read, move |t| Box::pin(async move { export(t, &run).await })))
    }

    fn import_run(&self, run: KeptRun) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(self.engine.transact(Write, move |t| Box::pin(async move { import(t, &run).await })))
    }

    fn prune_run(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, JournalError>> {
        Box::pin(async move {
            // A run that was let go here is free, as it is for whoever drives it next.
            self.engine.until_free(|releasing| *releasing == prune.run_id).await;
            self.engine.transact(Write, move |t| Box::pin(async move { self::prune(t, &prune).await })).await
        })
    }

    fn compact(&self) -> BoxFuture<'_, Result<Option<Compaction>, JournalError>> {
        // The server's autovacuum makes the room of what was removed free for what comes.
        Box::pin(async move { Ok(None) })
    }

    fn stats(&self) -> BoxFuture<'_, Result<JournalStats, JournalError>> {
        Box::pin(self.engine.transact(Read, |t| Box::pin(stats(t))))
    }
}

async fn export(transaction: &Transaction<'_>, run: &RunId) -> Result<KeptRun, JournalError> {
    let unknown = || JournalError::NoSuchRun(run.clone());
    let record = read::run(transaction, run).await?.ok_or_else(unknown)?;
    let id: Values<'_> = &[&run.as_str()];
    let epoch = transaction.row(Statement::Epoch, id).await?.ok_or_else(unknown)?;
    let events = read::events(transaction, run, 0).await?;
    let (questions, calls, artifacts, keys) = try_join4(
        transaction.rows(Statement::Questions, id),
        transaction.rows(Statement::Calls, id),
        transaction.rows(Statement::Artifacts, id),
        transaction.rows(Statement::Keys, id),
    )
    .await?;
    Ok(KeptRun {
        run_id: record.run_id,
        tenant: record.tenant,
        kind: record.kind,
        title: record.title,
        status: record.status,
        epoch: number(get(&epoch, 0)?)?,
        created_at: record.created_at,
        updated_at: record.updated_at,
        events,
        questions: questions.iter().map(question_row).collect::<Result<_, _>>()?,
        calls: calls.iter().map(call_row).collect::<Result<_, _>>()?,
        artifacts: artifacts.iter().map(artifact_row).collect::<Result<_, _>>()?,
        keys: keys.iter().map(key_row).collect::<Result<_, _>>()?,
    })
}

fn question_row(row: &Row) -> Result<KeptQuestion, JournalError> {
    let answered = Answered {
        state: get(row, 1)?,
        yeses: get(row, 6)?,
        decided_by: read::optional_text(row, 2)?,
        decided_at: get(row, 3)?,
        reason: read::optional_text(row, 4)?,
        consumed_at: get(row, 5)?,
    };
    stored::question(get(row, 0)?, answered)
}

fn call_row(row: &Row) -> Result<KeptCall, JournalError> {
    Ok(KeptCall {
        call_id: CallId::new(get::<String>(row, 0)?),
        state: call_state(get(row, 1)?)?,
        attempt: number(get(row, 2)?)?,
        step: get::<Option<i64>>(row, 3)?.map(number).transpose()?,
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

fn artifact_row(row: &Row) -> Result<StoredArtifact, JournalError> {
    Ok(StoredArtifact { artifact_id: ArtifactId::new(get::<String>(row, 0)?), text: read::text(row, 1)? })
}

fn key_row(row: &Row) -> Result<KeptKey, JournalError> {
    Ok(KeptKey {
        tenant: get(row, 0)?,
        key: read::text(row, 1)?,
        request: stored::digest(get(row, 2)?)?,
        call_id: CallId::new(get::<String>(row, 3)?),
        expires_at_ms: get(row, 4)?,
    })
}

async fn import(transaction: &Transaction<'_>, run: &KeptRun) -> Result<(), JournalError> {
    let asked = keeping::importable(run)?;
    let head = run.events.last().and_then(|event| event.hash).map(|hash| hash.to_string());
    let values: Values<'_> = &[
        &run.run_id.as_str(),
        &run.tenant,
        &stored::kind_word(run.kind),
        &run.title.as_bytes(),
        &run.status.map(RunStatus::word),
        &column(run.events.len() as u64 + 1),
        &column(run.epoch),
        &run.created_at.as_millis(),
        &run.updated_at.as_millis(),
        &head,
    ];
    if transaction.execute(Statement::ImportRun, values).await? == 0 {
        return Err(JournalError::Exists(run.run_id.to_string()));
    }
    // Not all at once: a long run's events would be in memory several times.
    for events in run.events.chunks(1000) {
        insert_events(transaction, &run.tenant, &run.run_id, events).await?;
    }
    for (question, approval) in run.questions.iter().zip(&asked) {
        import_question(transaction, question, approval).await?;
    }
    for call in &run.calls {
        import_call(transaction, run, call).await?;
    }
    for artifact in &run.artifacts {
        let values: Values<'_> =
            &[&run.tenant, &run.run_id.as_str(), &artifact.artifact_id.as_str(), &artifact.text.as_bytes()];
        transaction.execute(Statement::Keep, values).await?;
    }
    for key in &run.keys {
        import_key(transaction, &run.run_id, key).await?;
    }
    transaction.has_news_of(run.run_id.clone());
    Ok(())
}

async fn import_question(
    transaction: &Transaction<'_>,
    kept: &KeptQuestion,
    approval: &Approval,
) -> Result<(), JournalError> {
    let values: Values<'_> = &[
        &approval.approval_id.as_str(),
        &approval.tenant,
        &approval.run_id.as_str(),
        &approval.call_id.as_str(),
        &approval.state.word(),
        &approval.requested_at.as_millis(),
        &approval.expires_at.as_millis(),
        &kept.question.text(),
        &approval.decided_by.as_ref().map(String::as_bytes),
        &approval.decided_at.map(Timestamp::as_millis),
        &approval.reason.as_ref().map(String::as_bytes),
        &approval.consumed_at.map(Timestamp::as_millis),
        &stored::yeses(&approval.yeses)?,
    ];
    match transaction.execute(Statement::ImportQuestion, values).await? {
        0 => Err(JournalError::Exists(approval.approval_id.to_string())),
        _ => Ok(()),
    }
}

async fn import_call(transaction: &Transaction<'_>, run: &KeptRun, call: &KeptCall) -> Result<(), JournalError> {
    let values: Values<'_> = &[
        &run.tenant,
        &run.run_id.as_str(),
        &call.call_id.as_str(),
        &call.state.word(),
        &i64::from(call.attempt),
        &call.step.map(i64::from),
        &call.tool_name,
        &call.effect,
        &call.arguments_digest,
        &call.idempotency_key,
        &call.approval_id.as_ref().map(ApprovalId::as_str),
        &call.started_at.map(Timestamp::as_millis),
        &call.settled_at.map(Timestamp::as_millis),
        &call.subject,
    ];
    transaction.execute(Statement::ImportCall, values).await.map(drop)
}

async fn import_key(transaction: &Transaction<'_>, run: &RunId, key: &KeptKey) -> Result<(), JournalError> {
    let request = key.request.to_string();
    let name = key.key.as_bytes();
    let values: Values<'_> = &[&key.tenant, &name, &request, &run.as_str(), &key.call_id.as_str(), &key.expires_at_ms];
    // Whoever inserts it first has it.
    if transaction.execute(Statement::TakeKey, values).await? == 1 {
        return Ok(());
    }
    let there = transaction.row(Statement::KeyHolder, &[&key.tenant, &name]).await?;
    let until = there.map(|row| get(&row, 3)).transpose()?.map(Timestamp::from_millis);
    if keeping::key_comes_in(until, key, transaction.now().await?)? {
        transaction.execute(Statement::PassKey, values).await?;
    }
    Ok(())
}

async fn prune(transaction: &Transaction<'_>, prune: &Prune) -> Result<Pruned, JournalError> {
    let run = &prune.run_id;
    // Whoever wants to drive it or to write into it waits until this is over.
    let locked = transaction.lock(run).await?;
    let (id, now) = (run.as_str(), locked.now.as_millis());
    let record = read::run(transaction, run).await?.ok_or_else(|| JournalError::NoSuchRun(run.clone()))?;
    let row = transaction.one(Statement::Standing, &[&id, &now]).await?;
    let standing = Standing {
        status: record.status,
        last_seq: record.last_seq,
        updated_at: record.updated_at,
        is_driven: locked.lease_until.is_some_and(|until| locked.now < until),
        has_open_question: get(&row, 0)?,
        has_unknown_effect: get(&row, 1)?,
        has_live_key: get(&row, 2)?,
    };
    let pruned = keeping::prunable(&standing, prune, locked.now);
    if pruned == Pruned::Removed && !prune.dry_run {
        transaction.rows(Statement::NamePruned, &[&id]).await?;
        for statement in [
            Statement::RemoveKeys,
            Statement::RemoveCalls,
            Statement::RemoveQuestions,
            Statement::RemoveArtifacts,
            Statement::RemoveEvents,
            Statement::RemoveRun,
        ] {
            transaction.execute(statement, &[&id]).await?;
        }
    }
    Ok(pruned)
}

async fn stats(transaction: &Transaction<'_>) -> Result<JournalStats, JournalError> {
    let now = transaction.now().await?.as_millis();
    let open = vec![ApprovalState::Pending.word(), ApprovalState::Granted.word()];
    let values: Values<'_> = &[&open, &now, &CallState::Unknown.word()];
    let (statuses, row) =
        try_join(transaction.rows(Statement::RunsByStatus, &[]), transaction.one(Statement::Stats, values)).await?;
    let mut runs = Vec::with_capacity(statuses.len());
    for row in &statuses {
        let status: Option<&str> = get(row, 0)?;
        runs.push((status.map(|word| stored::run_status("", word)).transpose()?, number(get(row, 1)?)?));
    }
    let count = |at| -> Result<u64, JournalError> { number(get::<i64>(&row, at)?) };
    Ok(JournalStats {
        runs,
        events: count(0)?,
        artifacts: count(1)?,
        artifact_bytes: count(2)?,
        open_questions: count(3)?,
        unknown_effects: count(4)?,
        keys: count(5)?,
        oldest: get::<Option<i64>>(&row, 6)?.map(Timestamp::from_millis),
        newest: get::<Option<i64>>(&row, 7)?.map(Timestamp::from_millis),
        size_bytes: Some(count(8)?),
        schema_version: Some(number(get(&row, 9)?)?),
    })
}
