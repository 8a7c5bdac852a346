//! Telling watchers which runs have something new, after it is committed.
//!
//! A NOTIFY inside the transaction that writes would hold one lock of the whole server over that transaction's sync to the
//! disk, and every other writer would wait behind it: measured, 32 callers got a third of what they get so. In a transaction
//! of its own it writes nothing that has to be synced. It is lost with its process; watchers look by themselves too.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use lockgate_contract::ids::RunId;
use lockgate_contract::ports::JournalError;

use super::pool::Pool;
use super::statements::Statement;
use super::transaction::{Access, transact};

/// Runs of which nobody was told yet.
#[derive(Default)]
pub(super) struct News {
    runs: Mutex<BTreeSet<RunId>>,
    /// One tells for all.
    telling: tokio::sync::Mutex<()>,
}

impl News {
    /// A run has something new.
    pub(super) fn add(&self, run: RunId) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    /// Tells of all that is new, unless somebody is at it: he will tell of this too.
    pub(super) async fn tell(pool: &Pool) {
        let news = &pool.news;
        while !news.is_empty() {
            let Ok(_turn) = news.telling.try_lock() else { return };
            let runs: Vec<String> = news.take().into_iter().map(|run| run.as_str().to_owned()).collect();
            let _: Result<(), JournalError> = transact(pool, Access::Write, move |transaction| {
                Box::pin(async move { transaction.rows(Statement::Notify, &[&runs]).await.map(drop) })
            })
            .await;
            // Looked again when the turn is over: what came meanwhile was left to this one.
        }
    }

    fn is_empty(&self) -> bool {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn take(&self) -> BTreeSet<RunId> {
        std::mem::take(&mut *self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
