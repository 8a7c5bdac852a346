//! Answering MCP clients.
//!
//! ```text
//! HTTP request · line of standard input ─► era, session, headers ─► Service::answer ─► result · stream
//!                                                                      │  ▲
//!                                                                      ▼  │
//!                                       Peer: progress, log, questions (input_required or elicitation/create)
//! ```

mod admission;
mod call;
mod desk;
pub mod http;
mod level;
mod listen;
mod mirror;
mod parking;
mod peer;
mod question;
mod result;
mod seal;
mod session;
pub mod stdio;
mod turn;

use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{BoxFuture, Caller};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::client::List;
use crate::wire::{Mirrors, RpcError, Version};

pub use self::desk::Limits;
pub use self::question::lacking;

/// Who is calling, as the door knows it: never as the client says.
#[derive(Debug, Clone)]
pub struct Principal {
    /// On whose behalf.
    pub subject: Arc<Subject>,
    /// What tells this credential from others, and is no secret: what sessions, questions and tasks are bound to.
    pub credential: String,
    /// The run that the credential was made for: it reaches exactly the tools of that run.
    pub run: Option<RunId>,
    /// When the credential that was shown is good no more; absent: not by itself.
    pub until: Option<Timestamp>,
}

/// What has become of whoever was let in, see [`http::Endpoint::look_again`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: what was shown is still good.
    Good,
    /// The time of what was shown is over. Whoever has a newer one goes on; nobody listens any longer by this one.
    Over,
    /// It was taken back: everything of it ends.
    Revoked,
}

impl Principal {
    /// Whether it hears of what belongs to this user, by tenant and user; without, it is everybody's.
    pub(crate) fn hears_of(&self, user: Option<&(String, String)>) -> bool {
        user.is_none_or(|(tenant, user)| (tenant, user) == (&self.subject.tenant, &self.subject.user))
    }
}

/// What a server says about itself to one client.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What it can do.
    pub capabilities: Document,
    /// Who it is: `name` and `version`, for display only.
    pub info: Document,
    /// How it wants to be used.
    pub instructions: Option<String>,
}

/// One request, whose form and era were checked.
pub struct Asked {
    /// What is asked.
    pub method: String,
    /// Its parameters, as they came, `_meta` included; `{}` where there are none.
    pub params: Document,
    /// Whoever asks.
    pub peer: Arc<dyn Peer>,
}

/// Whoever sent a request, for as long as it is answered. Through [`Caller`] it hears of progress and is asked questions: by
/// `input_required` in the modern era, by requests of the server's in the legacy one.
pub trait Peer: Caller {
    /// Who it is.
    fn principal(&self) -> &Principal;
    /// The version that it speaks.
    fn version(&self) -> Version;
    /// What it can do, as it said.
    fn capabilities(&self) -> &Document;
    /// Fires when it gives up, or is gone where that means the same.
    fn cancel(&self) -> &CancellationToken;
}

/// What clients can be told of without having asked.
#[derive(Debug, Clone)]
pub enum Change {
    /// A list changed.
    List(List),
    /// A resource changed.
    Resource {
        /// The notification's parameters.
        params: Document,
        /// Whose resource it is, by tenant and user; everybody's without.
        user: Option<(String, String)>,
    },
    /// A log message: the notification's parameters.
    Log(Document),
    /// A task changed: the notification's parameters, which are the whole task.
    Task(Document),
}

/// One client listens to one resource, until this is dropped.
pub struct Subscription {
    _held: Box<dyn Send + Sync>,
}

impl Subscription {
    /// One that lets go of this at its end.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self { _held: Box::new(held) }
    }
}

/// What is offered to clients. It never sees a session, a header or a stream.
pub trait Service: Send + Sync + 'static {
    /// What this client is told about the server.
    fn facts(&self, principal: &Principal) -> Facts;

    /// Answers a request: `tools/*`, `resources/list`, `resources/templates/list`, `resources/read`, `prompts/*`,
    /// `completion/complete`, `tasks/*`. Whoever listens to a task may ask for it by `tasks/get`. The result is whole but for what
    /// belongs to the hop (`resultType: "complete"` where it says nothing else, `serverInfo`), which the server adds.
    /// The future is polled to its end, also where the client is gone; [`Peer::cancel`] says that nobody waits.
    fn answer(&self, asked: Asked) -> BoxFuture<'_, Result<Document, RpcError>>;

    /// Somebody wants to listen to a resource, in either era: `resources/subscribe`, with its URI. It leaves, however that comes about,
    /// by dropping what it gets here.
    fn subscribe(&self, asked: Asked) -> BoxFuture<'_, Result<Subscription, RpcError>>;

    /// The arguments of a tool that HTTP requests say again in headers: see [`Mirrors::of`]. Nothing where this client may call
    /// no such tool, or where it mirrors nothing.
    fn mirrors(&self, principal: &Principal, tool: &str) -> Option<Arc<Mirrors>>;

    /// What changes from now on, as far as this client may see it.
    fn changes(&self, principal: &Principal) -> tokio::sync::broadcast::Receiver<Change>;
}

#[cfg(test)]
mod tests;
