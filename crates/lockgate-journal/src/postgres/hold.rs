//! The right to drive a run, among machines: a lease by the database's clock.
//!
//! It is for liveness only. Whoever loses it, because it was paused or cut off longer than the lease, is shut out by the
//! epoch that every write looks at; so a lease that was taken too early costs a result that is recorded as unknown, and
//! never an effect that runs twice.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::failpoint::Point;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{JournalError, Lease, RunHold};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::append::add;
use super::connection::Values;
use super::engine::Engine;
use super::pool::Pool;
use super::statements::Statement;
use super::transaction::{Access, Transaction, get, transact};
use crate::rules;
use crate::stored::{column, number};

/// Takes a run over, unless somebody else's lease stands.
pub(super) async fn take(
    transaction: &Transaction<'_>,
    run: &RunId,
    ttl: Duration,
) -> Result<Option<Lease>, JournalError> {
    let locked = transaction.lock(run).await?;
    if locked.lease_until.is_some_and(|until| locked.now < until) {
        return Ok(None);
    }
    let lease = Lease { run_id: run.clone(), epoch: locked.epoch + 1 };
    let (holder, until) = (rules::holder(), locked.now.after(ttl).as_millis());
    let values: Values<'_> = &[&run.as_str(), &column(lease.epoch), &holder, &until];
    transaction.execute_to(Point::HoldLease, Statement::TakeLease, values).await?;
    let step = number(get(&transaction.one(Statement::Step, &[&run.as_str()]).await?, 0)?)?;
    add(transaction, locked, vec![rules::lease_taken(lease.epoch, step, holder)]).await?;
    Ok(Some(lease))
}

/// Keeps a lease until what is answered is dropped.
pub(super) fn keep(engine: &Arc<Engine>, lease: Lease) -> RunHold {
    let (stop, stopped) = oneshot::channel();
    let (release, released) = oneshot::channel();
    engine.spawn(renew(Arc::clone(&engine.pool), lease.clone(), stopped, release));
    let run = lease.run_id.clone();
    RunHold::new(lease, Kept { stop: Some(stop), released: Some(released), run, engine: Arc::clone(engine) })
}

/// A lease that is renewed.
struct Kept {
    stop: Option<oneshot::Sender<()>>,
    released: Option<oneshot::Receiver<()>>,
    run: RunId,
    engine: Arc<Engine>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(released) = self.released.take() {
            self.engine.will_be_free(self.run.clone(), released);
        }
        // Before the engine, which waits for the task that is stopped so.
        drop(self.stop.take());
    }
}

/// Renews a lease until it is let go or lost, and then gives it back. One task does both, so that no renewal comes after the
/// release.
async fn renew(pool: Arc<Pool>, lease: Lease, mut stopped: oneshot::Receiver<()>, _release: oneshot::Sender<()>) {
    let ttl = pool.options.lease;
    while timeout(ttl / 3, &mut stopped).await.is_err() {
        let held = lease.clone();
        let renewed: Result<bool, JournalError> = transact(&pool, Access::Write, move |transaction| {
            Box::pin(async move {
                let locked = transaction.lock(&held).await?;
                if !locked.is_of(&held) {
                    return Ok(false);
                }
                let until = locked.now.after(ttl).as_millis();
                transaction.execute(Statement::RenewLease, &[&held.as_str(), &until]).await?;
                Ok(true)
            })
        })
        .await;
        // A renewal that did not get through is tried again at its next turn: as long as nobody has taken the run over, it is
        // still ours.
        if let Ok(false) | Err(JournalError::NoSuchRun(_)) = renewed {
            return;
        }
    }
    // What cannot be released runs out.
    let _: Result<u64, JournalError> = transact(&pool, Access::Write, move |transaction| {
        Box::pin(async move {
            let values: Values<'_> = &[&lease.as_str(), &column(lease.epoch)];
            transaction.execute(Statement::ReleaseLease, values).await
        })
    })
    .await;
}
