//! The statements of each intention. Each function runs inside one transaction: what it wrote before an `Err` is undone.
//! What is decided, `rules` decides.
//!
//! What is asked first is sent together with BEGIN, what is written together: a claim is three messages to the server and
//! back, however many statements it has.

use std::time::Duration;

use futures_util::future::{try_join, try_join3};
use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::document::Document;
use lockgate_contract::event::{Chain, NewEvent};
use lockgate_contract::failpoint::{Point, reach};
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{
    Appended, CallState, CallerKey, Claim, ClaimRefused, Decision, DecisionRefused, JournalError, Lease, NewRun, Per,
    Settling, StoredArtifact,
};
use lockgate_contract::time::Timestamp;

use super::append::add;
use super::connection::Values;
use super::read;
use super::statements::Statement;
use super::transaction::{Locked, Transaction};
use crate::rules::{self, Decided};
use crate::stored::{column, kind_word, yeses};

/// Makes a run with its first event. The lease of its maker stands for `ttl`.
pub(super) async fn create_run(
    transaction: &Transaction<'_>,
    run: NewRun,
    ttl: Duration,
) -> Result<(Lease, Appended), JournalError> {
    let now = transaction.now().await?;
    let lease = Lease::first(run.run_id);
    let head = run.chained.then(|| Chain::begin(&lease.run_id).head());
    let made = transaction
        .execute_to(
            Point::CreateRun,
            Statement::CreateRun,
            &[
                &lease.as_str(),
                &run.tenant,
                &kind_word(run.kind),
                &run.title.as_bytes(),
                &column(lease.epoch),
                &rules::holder(),
                &now.after(ttl).as_millis(),
                &now.as_millis(),
                &head.map(|head| head.to_string()),
            ],
        )
        .await?;
    if made == 0 {
        return Err(JournalError::Exists(lease.run_id.to_string()));
    }
    let locked = Locked {
        run: lease.run_id.clone(),
        tenant: run.tenant,
        epoch: lease.epoch,
        next_seq: 1,
        lease_until: None,
        head,
        now,
    };
    let appended = add(transaction, locked, vec![run.started]).await?;
    Ok((lease, appended))
}

/// Adds events to a run, for whoever drives it.
pub(super) async fn append(
    transaction: &Transaction<'_>,
    lease: &Lease,
    events: Vec<NewEvent>,
) -> Result<Appended, JournalError> {
    let locked = transaction.lock(lease).await?;
    locked.require(lease)?;
    add(transaction, locked, events).await
}

/// Opens a question.
pub(super) async fn ask(
    transaction: &Transaction<'_>,
    lease: &Lease,
    approval: Approval,
    events: Vec<NewEvent>,
) -> Result<Appended, JournalError> {
    let locked = transaction.lock(lease).await?;
    locked.require(lease)?;
    insert_question(transaction, &locked, &rules::asked(approval, lease)).await?;
    add(transaction, locked, events).await
}

/// Keeps a question that nobody has decided.
async fn insert_question(transaction: &Transaction<'_>, run: &Locked, approval: &Approval) -> Result<(), JournalError> {
    let question = Document::from_serialize(approval).map_err(JournalError::unavailable)?;
    let asked = transaction
        .execute_to(
            Point::AskApproval,
            Statement::Ask,
            &[
                &approval.approval_id.as_str(),
                &run.tenant,
                &approval.run_id.as_str(),
                &approval.call_id.as_str(),
                &approval.state.word(),
                &approval.requested_at.as_millis(),
                &approval.expires_at.as_millis(),
                &question.text(),
            ],
        )
        .await?;
    if asked == 0 {
        return Err(JournalError::Exists(approval.approval_id.to_string()));
    }
    Ok(())
}

/// Takes the right to start one attempt of a call, and uses its approval and its caller's key.
pub(super) async fn claim(
    transaction: &Transaction<'_>,
    lease: &Lease,
    claim: &Claim,
    events: Vec<NewEvent>,
) -> Result<Appended, ClaimRefused> {
    let wanted = claim.approval.as_ref();
    let approval = async {
        match wanted {
            Some((approval, _)) => read::approval(transaction, approval).await,
            None => Ok(None),
        }
    };
    let (locked, stored, approval) =
        try_join3(transaction.lock(lease), read::call(transaction, lease, &claim.call_id), approval).await?;
    locked.require(lease)?;
    reach(Point::ClaimLease);
    // Before the rest: whoever repeats a claim is told that it was made, not that the approval is gone.
    if !rules::may_start(stored, claim.attempt) {
        return Err(ClaimRefused::AlreadyClaimed);
    }
    if let Some(key) = &claim.caller_key {
        take_key(transaction, lease, &claim.call_id, key, locked.now).await?;
        reach(Point::ClaimCallerKey);
    }
    let counts = claim.quotas.iter().map(|quota| &quota.count).chain(claim.seen.iter().map(|seen| &seen.count));
    // A run is locked, a tenant is not: whoever counts its calls waits for whoever does.
    if counts.clone().any(|count| count.per != Per::Run) {
        transaction.row(Statement::CountAlone, &[&locked.tenant]).await?;
    }
    let now = locked.now;
    let of: read::Asking<'_> = (&locked.tenant, lease, &claim.call_id, &claim.subject);
    for quota in &claim.quotas {
        rules::within_quota(quota, read::admitted(transaction, of, &quota.count, now).await?)?;
    }
    for seen in &claim.seen {
        rules::still_holds(seen, read::admitted(transaction, of, &seen.count, now).await?)?;
    }
    if let Some((_, digest)) = wanted {
        rules::usable(approval.as_ref(), lease, &claim.call_id, digest, locked.now)?;
    }
    let (tenant, now) = (locked.tenant.clone(), locked.now.as_millis());
    let consume = async {
        match wanted {
            Some((approval, _)) => {
                let consumed = ApprovalState::Consumed.word();
                let values: Values<'_> = &[&approval.as_str(), &consumed, &now];
                transaction.execute_to(Point::ClaimApprovalConsumed, Statement::Consume, values).await
            }
            None => Ok(0),
        }
    };
    let (state, digest) = (CallState::Running.word(), claim.arguments_digest.to_string());
    let start: Values<'_> = &[
        &tenant,
        &lease.as_str(),
        &claim.call_id.as_str(),
        &state,
        &i64::from(claim.attempt),
        &i64::from(claim.step),
        &claim.tool_name,
        &claim.effect.word(),
        &digest,
        &claim.idempotency_key,
        &wanted.map(|(approval, _)| approval.as_str()),
        &now,
        &claim.subject,
    ];
    let started = transaction.execute_to(Point::ClaimCall, Statement::Claim, start);
    let (_, _, appended) = try_join3(consume, started, add(transaction, locked, events)).await?;
    Ok(appended)
}

/// Keeps a caller's key for a call, unless another request has it.
async fn take_key(
    transaction: &Transaction<'_>,
    run: &RunId,
    call: &CallId,
    key: &CallerKey,
    now: Timestamp,
) -> Result<(), ClaimRefused> {
    let (request, expires_at) = (key.request.to_string(), now.after(key.keep).as_millis());
    let values: Values<'_> = &[&key.tenant, &key.key.as_bytes(), &request, &run.as_str(), &call.as_str(), &expires_at];
    // Runs are locked, keys are not: two runs may want the same one at once. Whoever inserts it first has it.
    if transaction.execute(Statement::TakeKey, values).await? == 1 {
        return Ok(());
    }
    rules::key_is_free(read::key_holder(transaction, &key.tenant, &key.key).await?, run, call, key, now)?;
    transaction.execute(Statement::PassKey, values).await?;
    Ok(())
}

/// Writes a result, whether or not the call was ever claimed, and keeps the rest of its output.
pub(super) async fn settle(
    transaction: &Transaction<'_>,
    lease: &Lease,
    settling: &Settling,
    events: Vec<NewEvent>,
) -> Result<Appended, JournalError> {
    let call = &settling.call_id;
    let (locked, stored, questions) = try_join3(
        transaction.lock(lease),
        read::call(transaction, lease, call),
        read::approvals_of(transaction, lease, call),
    )
    .await?;
    let settlement = rules::settlement(stored, lease, settling, locked.is_of(lease), events)?;
    reach(Point::SettleRead);
    if let Some(artifact) = &settling.artifact {
        keep(transaction, &locked, artifact).await?;
        reach(Point::SettleArtifact);
    }
    let Some(state) = settlement.state else { return add(transaction, locked, settlement.events).await };
    let (tenant, now) = (locked.tenant.clone(), locked.now);
    let mark: Values<'_> =
        &[&tenant, &lease.as_str(), &call.as_str(), &state.word(), &i64::from(settling.attempt), &now.as_millis()];
    let marked = transaction.execute_to(Point::SettleCall, Statement::Settle, mark);
    let (_, (), appended) =
        try_join3(marked, withdraw(transaction, questions, now), add(transaction, locked, settlement.events)).await?;
    Ok(appended)
}

/// Takes back what is still open of the questions about a call.
async fn withdraw(transaction: &Transaction<'_>, questions: Vec<Approval>, now: Timestamp) -> Result<(), JournalError> {
    let mut withdrawn = Vec::new();
    for mut question in questions {
        let stored = question.state;
        rules::withdraw_if_open(&mut question, now);
        if question.state != stored {
            withdrawn.push(question.approval_id.as_str().to_owned());
        }
    }
    if !withdrawn.is_empty() {
        transaction.execute(Statement::Withdraw, &[&withdrawn, &ApprovalState::Withdrawn.word()]).await?;
    }
    reach(Point::SettleApprovals);
    Ok(())
}

/// Writes what was found out about a call.
pub(super) async fn reconcile(
    transaction: &Transaction<'_>,
    lease: &Lease,
    call: &CallId,
    events: Vec<NewEvent>,
) -> Result<Appended, JournalError> {
    let (locked, stored) = try_join(transaction.lock(lease), read::call(transaction, lease, call)).await?;
    locked.require(lease)?;
    let state = rules::reconciled(stored, call, &events)?;
    let mark: Values<'_> = &[&lease.as_str(), &call.as_str(), &state.word()];
    let marked = transaction.execute_to(Point::ReconcileCall, Statement::Reconcile, mark);
    let (_, appended) = try_join(marked, add(transaction, locked, events)).await?;
    Ok(appended)
}

/// Keeps an artifact once. Its id is made from its content, so the same id comes with the same text, or something is wrong.
async fn keep(transaction: &Transaction<'_>, run: &Locked, artifact: &StoredArtifact) -> Result<(), JournalError> {
    let (id, text) = (artifact.artifact_id.as_str(), artifact.text.as_bytes());
    let kept = transaction.execute(Statement::Keep, &[&run.tenant, &run.run.as_str(), &id, &text]).await?;
    if kept == 0 && read::artifact(transaction, &run.run, &artifact.artifact_id).await?.as_ref() != Some(&artifact.text)
    {
        return Err(JournalError::Exists(artifact.artifact_id.to_string()));
    }
    Ok(())
}

/// Decides a question. The outer `Err` writes nothing; the inner one stands beside the event that records the attempt.
pub(super) async fn decide(
    transaction: &Transaction<'_>,
    decision: &Decision,
) -> Result<Result<Approval, DecisionRefused>, DecisionRefused> {
    let not_found = || DecisionRefused::NotFound(decision.approval_id.clone());
    let run = read::run_of(transaction, &decision.approval_id).await?.ok_or_else(not_found)?;
    // Read under the run's lock: whoever decided or used it meanwhile is done.
    let (locked, stored) = try_join(transaction.lock(&run), read::approval(transaction, &decision.approval_id)).await?;
    let verdict = rules::decide(&stored.ok_or_else(not_found)?, decision, locked.now)?;
    if let Ok(decided) = &verdict.answer {
        keep_answer(transaction, &decided.question).await?;
        if let Some(asked) = &decided.in_its_place {
            insert_question(transaction, &locked, &asked.clone().undecided()).await?;
            keep_answer(transaction, asked).await?;
        }
    }
    add(transaction, locked, verdict.events).await?;
    Ok(verdict.answer.map(Decided::into_standing))
}

/// Keeps what was said about a question.
async fn keep_answer(transaction: &Transaction<'_>, decided: &Approval) -> Result<(), JournalError> {
    let values: Values<'_> = &[
        &decided.approval_id.as_str(),
        &decided.state.word(),
        &decided.decided_by.as_ref().map(String::as_bytes),
        &decided.decided_at.map(Timestamp::as_millis),
        &decided.reason.as_ref().map(String::as_bytes),
        &yeses(&decided.yeses)?,
    ];
    transaction.execute(Statement::Decide, values).await?;
    Ok(())
}
