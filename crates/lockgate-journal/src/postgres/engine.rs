//! Where the journal's transactions run: on a thread of the journal's own.
//!
//! ```text
//!   callers ── work ──► thread `lockgate-journal` ── few connections ──► server
//!           ◄─ answer ─
//! ```
//!
//! So a caller may be on any runtime, or open a journal on none; and a caller that does not wait any more changes nothing:
//! what it asked for goes on to its end, as it does in SQLite's writer.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Map, Shared, join_all};
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{BoxFuture, JournalError};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::PostgresOptions;
use super::address::Address;
use super::listener::Listener;
use super::news::News;
use super::pool::Pool;
use super::transaction::{Access, Transaction, transact};
use crate::error::OpenError;

/// Resolves when a run that was let go is free. Anybody may wait for it.
type Released = Shared<Map<oneshot::Receiver<()>, fn(Result<(), oneshot::error::RecvError>)>>;

/// The thread, with the connections. Dropping it waits until what was asked for has ended.
pub(super) struct Engine {
    runtime: Option<Runtime>,
    pub(super) pool: Arc<Pool>,
    pub(super) listener: Listener,
    /// Every task has a copy: it is gone when they all have ended.
    working: Option<mpsc::Sender<()>>,
    ended: Mutex<mpsc::Receiver<()>>,
    /// Runs that were let go, and are not free yet.
    releasing: Mutex<Vec<(RunId, Released)>>,
}

impl Engine {
    /// Starts the thread, and connects. Blocks until the database has answered.
    pub(super) fn start(address: Address, options: PostgresOptions) -> Result<Self, OpenError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("lockgate-journal")
            .enable_all()
            .build()
            .map_err(JournalError::unavailable)?;
        let listener = Listener::new(address.clone(), runtime.handle().clone());
        let (opened, opening) = mpsc::channel();
        runtime.spawn(async move {
            // Whoever opens it waits.
            let _ = opened.send(Pool::open(address, options).await);
        });
        // Blocking, and not on the runtime: whoever opens a journal may stand in a runtime of his own.
        let answer = opening.recv().unwrap_or_else(|_| Err(JournalError::unavailable("its thread has stopped").into()));
        let pool = match answer {
            Ok(pool) => Arc::new(pool),
            Err(refused) => {
                runtime.shutdown_background();
                return Err(refused);
            }
        };
        let (working, ended) = mpsc::channel();
        Ok(Self {
            runtime: Some(runtime),
            pool,
            listener,
            working: Some(working),
            ended: Mutex::new(ended),
            releasing: Mutex::default(),
        })
    }

    /// Does `work` in a transaction, and answers when that is committed. An `Err` undoes what `work` wrote.
    pub(super) async fn transact<T, E, W>(&self, access: Access, work: W) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + fmt::Display + Send + 'static,
        W: for<'t> FnOnce(&'t Transaction<'t>) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let pool = Arc::clone(&self.pool);
        self.spawn(async move {
            // Whoever does not wait any more is not owed an answer; the write stands.
            let _ = reply.send(transact(&pool, access, work).await);
            News::tell(&pool).await;
        });
        answer.await.unwrap_or_else(|_| Err(JournalError::CommitUnknown("the work stopped midway".to_owned()).into()))
    }

    /// Starts a task that ends by itself.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let working = self.working.clone();
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                task.await;
                drop(working);
            });
        }
    }

    /// Remembers that a run becomes free when `released` says so.
    pub(super) fn will_be_free(&self, run: RunId, released: oneshot::Receiver<()>) {
        let mut releasing = self.releasing();
        releasing.retain(|(_, released)| released.peek().is_none());
        // Where it could not be released the lease runs out.
        releasing.push((run, released.map(drop as fn(_)).shared()));
    }

    /// Waits until runs are free that were let go here: whoever lets one go and takes it again gets it.
    pub(super) async fn until_free(&self, is_wanted: impl Fn(&RunId) -> bool) {
        let releasing = self.releasing().clone();
        let released = releasing.into_iter().filter(|(run, _)| is_wanted(run)).map(|(_, released)| released);
        join_all(released).await;
    }

    fn releasing(&self) -> MutexGuard<'_, Vec<(RunId, Released)>> {
        self.releasing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.working.take());
        // Ends with an error, when the last task has ended.
        let _ = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner).recv();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
