//! The streaming driver: the same loop, with its events handed out while it runs.

use std::sync::Arc;

use lockgate_contract::event::Event;
use lockgate_contract::ids::RunId;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::agent_run::AgentRun;
use crate::driver::{Resume, Runner};
use crate::error::RunError;
use crate::state::RunState;

/// A run on its way: its events as the journal accepts them, then its state.
///
/// Dropping it does not stop the run; the runner's cancel token does.
#[derive(Debug)]
pub struct RunStream {
    events: mpsc::UnboundedReceiver<Event>,
    driver: JoinHandle<Result<RunState, RunError>>,
}

impl RunStream {
    /// The next event; nothing once the run stopped.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The state in which the run stopped.
    pub async fn finish(self) -> Result<RunState, RunError> {
        match self.driver.await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(lockgate_contract::ports::JournalError::unavailable(error).into()),
            },
        }
    }
}

impl Runner {
    /// Starts a run and hands its events out while it is driven.
    pub fn stream(&self, run: AgentRun) -> RunStream {
        self.streamed(move |runner| async move { runner.start(run).await })
    }

    /// Takes a run up again and hands its further events out while it is driven.
    pub fn stream_resume(&self, run_id: RunId, resume: Resume) -> RunStream {
        self.streamed(move |runner| async move { runner.resume(&run_id, resume).await })
    }

    fn streamed<F, Driver>(&self, drive: F) -> RunStream
    where
        F: FnOnce(Self) -> Driver,
        Driver: Future<Output = Result<RunState, RunError>> + Send + 'static,
    {
        let (sender, events) = mpsc::unbounded_channel();
        // A receiver that went away is no reason to stop: the journal has the events.
        let runner = self.observed_by(Arc::new(move |event: &Event| drop(sender.send(event.clone()))));
        RunStream { events, driver: tokio::spawn(drive(runner)) }
    }
}
