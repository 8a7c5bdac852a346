//! A connection with one server.

use std::sync::Arc;

use lockgate_contract::document::Document;
use tokio::time::{Instant, timeout};

use super::core::Core;
use super::envelope::Envelope;
use super::exchange::Exchange;
use super::questions::answers;
use super::{ClientError, List, Listener, Listing, Options, Outgoing, Patience, ServerFacts, Transport, era};
use crate::wire::{Edit, Era, follows_tasks};

/// A connection with one server. It ends with this value: a process with all that it started, streams, and what is under way.
///
/// It never sends a request twice that may have been taken up, and it does not come back by itself once it is lost: whoever holds it
/// opens another one.
pub struct Connection {
    core: Arc<Core>,
    facts: ServerFacts,
}

impl Connection {
    /// Opens a connection: starts the program or reaches the URL, finds out which era the server speaks, and shakes hands where that
    /// is done. `listener` hears what the server says by itself.
    ///
    /// # Errors
    ///
    /// The server cannot be started or reached, speaks no version that we speak, wants to know who asks, or says nothing in time.
    pub async fn open(
        transport: Transport,
        options: Options,
        listener: Arc<dyn Listener>,
    ) -> Result<Self, ClientError> {
        let (core, facts) = match transport {
            Transport::Process(process) => era::of_process(&process, options, listener).await?,
            Transport::Http(endpoint) => era::of_url(&endpoint, options, listener).await?,
        };
        Ok(Self::begin(core, facts).await)
    }

    pub(super) async fn begin(core: Arc<Core>, facts: ServerFacts) -> Self {
        core.is_open_now();
        // Before anything is waited for: it ends with this value.
        let connection = Self { core, facts };
        let Self { core, facts } = &connection;
        match facts.version.era() {
            Era::Modern => core.subscribe(&facts.capabilities),
            Era::Legacy => core.wire.listen(core, &facts.capabilities).await,
        }
        connection
    }

    /// What the server said about itself.
    pub fn server(&self) -> &ServerFacts {
        &self.facts
    }

    /// Whether it is gone.
    pub fn is_lost(&self) -> bool {
        self.core.loss().is_some()
    }

    /// What holds the server's process together; none over HTTP.
    pub fn fence(&self) -> Option<&lockgate_sandbox::Fence> {
        self.core.wire.fence()
    }

    /// A whole list, whatever its pages.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request).
    pub async fn list(&self, list: List) -> Result<Listing, ClientError> {
        self.core.list(list).await
    }

    /// Sends a request and waits for its result. Questions that have to be answered first are asked, and tasks are followed, where
    /// they may be.
    ///
    /// # Errors
    ///
    /// There is no result: see [`ClientError`].
    pub async fn request(&self, asked: Outgoing<'_>) -> Result<Document, ClientError> {
        let capabilities = asked.capabilities.clone().unwrap_or_else(|| self.core.options.capabilities.clone());
        let Patience { idle, absolute } = asked.patience;
        let began = Instant::now();
        let mut params = asked.params.clone();
        let rounds = self.core.options.bounds.rounds;
        let mut round = 0;
        loop {
            let envelope = Envelope {
                beside: asked.beside.as_ref(),
                capabilities: asked.capabilities.as_ref(),
                log_level: asked.log_level,
            };
            let left = absolute.saturating_sub(began.elapsed());
            let result = self
                .core
                .exchange(Exchange {
                    method: asked.method,
                    params: &params,
                    envelope,
                    caller: asked.caller.clone(),
                    cancel: &asked.cancel,
                    patience: Patience { idle, absolute: left },
                    mirror: asked.mirror,
                    acknowledged: None,
                })
                .await
                .map_err(|error| match error {
                    // The limit is that of all rounds.
                    ClientError::TimedOut { waited, .. } => {
                        ClientError::TimedOut { waited, total: began.elapsed(), idle, absolute }
                    }
                    error if round > 0 => error.after_it_was_taken_up(),
                    error => error,
                })?;
            if self.facts.version.era() == Era::Legacy {
                return Ok(result);
            }
            let kind = result.root().get("resultType").map(|kind| kind.as_str().unwrap_or_default());
            match kind.as_deref() {
                None | Some("complete") => return Ok(result),
                Some("task") if follows_tasks(capabilities.root()) => {
                    return self.core.follow(result, &asked, began).await;
                }
                Some("task") => {
                    return Err(ClientError::Invalid(
                        "it answers with a task, which it was not told that anybody follows".to_owned(),
                    ));
                }
                Some("input_required") => {}
                Some(other) => {
                    let other = &other[..other.floor_char_boundary(64)];
                    return Err(ClientError::Invalid(format!("its result is of the unknown type `{other}`")));
                }
            }
            let questions = result.root().get("inputRequests");
            let state = result.root().get("requestState").map(|state| state.to_document());
            if questions.is_none() && state.is_none() {
                return Err(ClientError::Invalid("it asks for something, and does not say what".to_owned()));
            }
            if round == rounds {
                return Err(ClientError::Invalid(format!("it asked {rounds} times, and asks again")));
            }
            round += 1;
            let left = absolute.saturating_sub(began.elapsed());
            let given = match questions {
                None => None,
                Some(questions) => {
                    let questions = questions.to_document();
                    let asking = timeout(left, answers(&questions, capabilities.root(), asked.caller.as_ref()));
                    let given = tokio::select! {
                        given = asking => given,
                        () = asked.cancel.cancelled() => return Err(ClientError::Cancelled),
                    };
                    let total = began.elapsed();
                    Some(given.map_err(|_| ClientError::TimedOut { waited: total, total, idle, absolute })??)
                }
            };
            params = Edit::of(asked.params.root())
                .with_some("inputResponses", given)
                .with_some("requestState", state)
                .document();
        }
    }

    /// From now on [`Event::ResourceUpdated`](super::Event::ResourceUpdated) is heard of this resource, also where the server's session
    /// or its stream has to be begun anew; once that happened, of every such resource.
    ///
    /// # Errors
    ///
    /// The server does not tell of it, or could not be asked.
    pub async fn watch(&self, uri: &str) -> Result<(), ClientError> {
        self.core.watch(uri).await
    }

    /// From now on it need not be.
    ///
    /// # Errors
    ///
    /// The server could not be told.
    pub async fn unwatch(&self, uri: &str) -> Result<(), ClientError> {
        self.core.unwatch(uri).await
    }

    /// Closes it: the server is given the time to end well.
    pub async fn close(self) {
        self.core.closed();
        self.core.wire.close(&self.core).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.core.closed();
        self.core.end_tasks();
        self.core.wire.end();
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("facts", &self.facts).finish_non_exhaustive()
    }
}
