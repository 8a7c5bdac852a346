//! The runs that tokens are for: what each began with, and whether it still goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Journal, JournalError};
use lockgate::contract::run::{RunStart, RunStatus};
use lockgate::harness::RunState;
use thiserror::Error;

/// How many runs are remembered.
const MOST: usize = 1024;

/// The runs of a journal. What one began with, its subject and its tools, never changes, however often it is resumed; so it is read
/// once. Whether it is over is asked each time.
pub(crate) struct Runs {
    journal: Arc<dyn Journal>,
    known: Mutex<HashMap<RunId, Arc<RunStart>>>,
}

/// Why nobody acts for a run.
#[derive(Debug, Error)]
pub(crate) enum NoRun {
    /// There is none.
    #[error("there is no such run")]
    Unknown,
    /// It came to its end.
    #[error("the run is over")]
    Over,
    /// Its events cannot be read.
    #[error("the run cannot be read: {0}")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Runs {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal, known: Mutex::new(HashMap::new()) }
    }

    /// What a run began with that goes on, or may: it is under way, or waits for something.
    pub(crate) async fn going_on(&self, run: &RunId) -> Result<Arc<RunStart>, NoRun> {
        let record = self.journal.run(run).await.map_err(unreadable)?.ok_or(NoRun::Unknown)?;
        if matches!(record.status, Some(RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled)) {
            return Err(NoRun::Over);
        }
        if let Some(start) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return Ok(Arc::clone(start));
        }
        let events = self.journal.events(run, 0).await.map_err(unreadable)?;
        let first = events.first().ok_or(NoRun::Unknown)?;
        let state = RunState::begin(first).map_err(|error| NoRun::Unreadable(Box::new(error)))?;
        let start = Arc::new(state.start().clone());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(run.clone(), Arc::clone(&start));
        Ok(start)
    }
}

fn unreadable(error: JournalError) -> NoRun {
    match error {
        JournalError::NoSuchRun(_) => NoRun::Unknown,
        error => NoRun::Unreadable(Box::new(error)),
    }
}
