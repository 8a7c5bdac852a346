//! How messages travel.

mod events;
mod http;
mod legacy;
mod lines;
mod pipes;

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::document::Document;

use super::core::Core;
use super::envelope::Headers;
use super::flights::Life;
use super::{ClientError, Endpoint};
use crate::wire::Message;

pub(super) use self::http::Http;
pub(super) use self::legacy::Events;
pub(super) use self::pipes::Pipes;

/// As long as the connection lasts: each request has its own patience.
pub(super) const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Why something is not sent that nobody waits for any more.
const GIVEN_UP: &str = "nobody waits for it any more";

/// How messages travel.
pub(super) enum Wire {
    /// A line each, through a program's pipes.
    Pipes(Box<Pipes>),
    /// A request over HTTP each.
    Http(Box<Http>),
    /// Out by requests over HTTP, back on one stream (2024-11-05).
    Events(Box<Events>),
}

impl Wire {
    pub(super) fn http(endpoint: &Endpoint, longest: usize) -> Result<Self, ClientError> {
        Ok(Self::Http(Box::new(Http::new(endpoint, longest)?)))
    }

    pub(super) async fn events(endpoint: &Endpoint, longest: usize) -> Result<Self, ClientError> {
        Ok(Self::Events(Box::new(Events::open(endpoint, longest).await?)))
    }

    /// Begins to hear what comes by itself.
    pub(super) fn begin(&self, core: &Arc<Core>) {
        match self {
            Self::Pipes(pipes) => pipes.begin(core),
            Self::Http(_) => {}
            Self::Events(events) => events.begin(core),
        }
    }

    /// Sends a request. What comes back is heard by `core`; over HTTP this takes until all of it was.
    pub(super) async fn request(
        &self,
        core: &Arc<Core>,
        id: i64,
        text: String,
        headers: Headers,
        life: &Arc<Life>,
    ) -> Result<(), ClientError> {
        match self {
            Self::Pipes(pipes) => pipes.send(text, Some(life.clone())).await,
            Self::Http(http) => http.request(core, id, text, headers, life).await,
            Self::Events(events) => events.send(text, life).await,
        }
    }

    /// Sends what has no answer.
    pub(super) async fn tell(&self, core: &Arc<Core>, message: &Message) -> Result<(), ClientError> {
        match self {
            Self::Pipes(pipes) => pipes.send(message.text(), None).await,
            Self::Http(http) => http.tell(core, message).await,
            Self::Events(events) => events.send(message.text(), &Arc::default()).await,
        }
    }

    /// Hears what a legacy server says by itself, where it says anything.
    pub(super) async fn listen(&self, core: &Arc<Core>, capabilities: &Document) {
        if let Self::Http(http) = self {
            http.listen(core, capabilities).await;
        }
    }

    /// Whether requests have headers.
    pub(super) fn has_headers(&self) -> bool {
        matches!(self, Self::Http(_) | Self::Events(_))
    }

    /// Whether a request has a stream of its own, whose end a modern server takes for a cancel.
    pub(super) fn ends_with_its_stream(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Whether the last refusal over HTTP was about the form of the request: 400, 404, 405 and the like.
    pub(super) fn refused_the_form(&self) -> bool {
        matches!(self, Self::Http(http) if matches!(http.last_refusal(), Some(400 | 404 | 405 | 406 | 415 | 501)))
    }

    /// Whether no messages are taken at this address.
    pub(super) fn refused_the_method(&self) -> bool {
        matches!(self, Self::Http(http) if matches!(http.last_refusal(), Some(400 | 404 | 405)))
    }

    pub(super) fn forget_the_session(&self) {
        if let Self::Http(http) = self {
            http.forget_the_session();
        }
    }

    pub(super) fn fence(&self) -> Option<&lockgate_sandbox::Fence> {
        match self {
            Self::Pipes(pipes) => pipes.fence(),
            Self::Http(_) | Self::Events(_) => None,
        }
    }

    /// Ends it well.
    pub(super) async fn close(&self, core: &Arc<Core>) {
        match self {
            Self::Pipes(pipes) => pipes.close().await,
            Self::Http(http) => http.close(core).await,
            Self::Events(_) => {}
        }
    }

    /// Ends it at once.
    pub(super) fn end(&self) {
        if let Self::Pipes(pipes) = self {
            pipes.end();
        }
    }
}
