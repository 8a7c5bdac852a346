//! What a handler may ask for beside its arguments.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::ports::{ArtifactStore, Caller};
use crate::subject::Subject;
use crate::time::Timestamp;
use crate::tool::IdempotencyKey;

/// Where a tool says how far it is.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Progress, cancel, deadline, idempotency key, artifacts, on whose behalf, and the way back to the caller. No tool name, no call id, no budget.
#[derive(Clone)]
pub struct ToolContext {
    /// Fires when the run is cancelled.
    pub cancel: CancellationToken,
    /// When the call's time is up, as the executor's clock tells it.
    pub deadline: Timestamp,
    /// Stable over all attempts of this call; to be sent to providers that take one.
    pub idempotency_key: IdempotencyKey,
    progress: Option<Progress>,
    artifacts: Option<Arc<dyn ArtifactStore>>,
    caller: Option<Arc<dyn Caller>>,
}

impl ToolContext {
    /// Puts a context together; the executor's work.
    pub fn new(cancel: CancellationToken, deadline: Timestamp, idempotency_key: IdempotencyKey) -> Self {
        Self { cancel, deadline, idempotency_key, progress: None, artifacts: None, caller: None }
    }

    /// With a listener for progress.
    #[must_use]
    pub fn with_progress(mut self, progress: Option<Progress>) -> Self {
        self.progress = progress;
        self
    }

    /// With the run's artifacts.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: Option<Arc<dyn ArtifactStore>>) -> Self {
        self.artifacts = artifacts;
        self
    }

    /// With the way back to whoever sent the call.
    #[must_use]
    pub fn with_caller(mut self, caller: Option<Arc<dyn Caller>>) -> Self {
        self.caller = caller;
        self
    }

    /// On whose behalf the call is made: for whoever keeps credentials apart.
    pub fn subject(&self) -> &Subject {
        self.idempotency_key.subject()
    }

    /// The way back to whoever sent the call, where there is one.
    pub fn caller(&self) -> Option<&Arc<dyn Caller>> {
        self.caller.as_ref()
    }

    /// Says how far the tool is, in a few words for people.
    pub fn progress(&self, words: &str) {
        if let Some(progress) = &self.progress {
            progress(words);
        }
    }

    /// The stored outputs of this run, where there are any.
    pub fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        self.artifacts.as_deref()
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
