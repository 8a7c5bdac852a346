//! On whose behalf runs act, for tokens of runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lockgate::contract::ids::RunId;
use lockgate::contract::ports::{Journal, JournalError};
use lockgate::contract::subject::Subject;
use lockgate::harness::RunState;

use super::refusal::Why;

/// How many runs are remembered.
const MOST: usize = 1024;

/// The subjects of runs. That of a run never changes.
pub(super) struct Runs {
    journal: Arc<dyn Journal>,
    known: Mutex<HashMap<RunId, Arc<Subject>>>,
}

impl Runs {
    pub(super) fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal, known: Mutex::new(HashMap::new()) }
    }

    pub(super) async fn subject(&self, run: &RunId) -> Result<Arc<Subject>, Why> {
        if let Some(subject) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(run) {
            return Ok(Arc::clone(subject));
        }
        let events = self.journal.events(run, 0).await.map_err(|error| match error {
            JournalError::NoSuchRun(_) => Why::Unknown,
            error => {
                tracing::error!(%error, %run, "the run of a token cannot be read");
                Why::Unavailable
            }
        })?;
        if events.is_empty() {
            return Err(Why::Unknown);
        }
        let state = RunState::fold(&events).map_err(|error| {
            tracing::error!(%error, %run, "the run of a token cannot be read");
            Why::Unavailable
        })?;
        let subject = Arc::new(state.start().subject.clone());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(run.clone(), Arc::clone(&subject));
        Ok(subject)
    }
}
