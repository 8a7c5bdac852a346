//! Speaking with MCP servers.
//!
//! ```text
//! Connection::open ─► transport (a child process, Streamable HTTP, HTTP with server-sent events)
//!        │                 │
//!        │            era: `server/discover`, else `initialize`
//!        ▼
//!   list · call · close       Event ─► Listener (what the server says by itself)
//! ```

mod answering;
mod connection;
mod core;
mod envelope;
mod era;
mod exchange;
mod flights;
mod hearing;
mod listing;
mod mirror;
mod options;
mod questions;
mod salvage;
mod subscription;
mod task;
mod transport;
mod watching;

#[cfg(test)]
mod tests;

pub use self::connection::Connection;
pub use self::options::{Bounds, Endpoint, Options, Outgoing, Process, Tokens, Transport};

use std::time::Duration;

use lockgate_contract::document::Document;

use crate::wire::{RpcError, Version, code};

/// What a server says about itself.
#[derive(Debug, Clone)]
pub struct ServerFacts {
    /// The version that is spoken with it.
    pub version: Version,
    /// What it can do, as it said.
    pub capabilities: Document,
    /// Who it is, as it said: for display only.
    pub info: Option<Document>,
    /// How it wants to be used, as it said.
    pub instructions: Option<String>,
}

/// A list that servers offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
}

/// A whole list.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Its entries, each as it came.
    pub items: Vec<Document>,
    /// How long it may be kept, in milliseconds: the least that a page said.
    pub ttl_ms: u64,
    /// What was wrong with it and stopped nothing, such as a cursor that came twice.
    pub warnings: Vec<String>,
}

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Without any sign of life: an answer or progress.
    pub idle: Duration,
    /// At all.
    pub absolute: Duration,
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// It was not sent, or is known not to have been taken up: nothing happened.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// It was sent, and its answer was lost: nobody knows.
    #[error("the answer was lost: {0}")]
    Lost(String),
    /// It was sent, and nothing came in time.
    #[error(
        "no answer: {waited:?} since the last sign of life (limit {idle:?}), {total:?} in all (limit {absolute:?})"
    )]
    TimedOut {
        /// Since the last sign of life.
        waited: Duration,
        /// In all.
        total: Duration,
        /// How long one may be without a sign of life.
        idle: Duration,
        /// How long one may be at all.
        absolute: Duration,
    },
    /// Whoever asked gave up; the server was told.
    #[error("cancelled")]
    Cancelled,
    /// The server answered with an error. It may have come from the midst of what was asked.
    #[error(transparent)]
    Server(#[from] RpcError),
    /// The server could not read the request, or not in the version that it is of: it never got to what was asked. Nothing happened.
    #[error(transparent)]
    Refused(RpcError),
    /// The server's answer is none.
    #[error("the server's answer cannot be used: {0}")]
    Invalid(String),
    /// The server wants to know who asks, and a person has to visit this URL first. Nothing happened.
    #[error("somebody has to log in first")]
    AuthorizationNeeded {
        /// The URL: to be shown, and opened by nobody but the person.
        url: String,
    },
    /// The server wants to know who asks: the challenge that it sent.
    #[error("the server asks who is calling")]
    Unauthorized {
        /// The header `WWW-Authenticate`.
        challenge: Option<String>,
    },
}

impl ClientError {
    /// The error in the answer to a request. Whatever its code says, a tool may have raised it while it ran; only those codes are
    /// certain that are no tool's to raise (MCP 2026-07-28 §errors).
    pub(crate) fn answered(error: RpcError) -> Self {
        match error.code {
            code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION => Self::Refused(error),
            _ => Self::Server(error),
        }
    }

    /// What the server said, where it answered with an error.
    pub(crate) fn said(&self) -> Option<&RpcError> {
        match self {
            Self::Server(error) | Self::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// What it means where an earlier message about the same request was taken up: that nothing happened is not known any more, and
    /// nobody may begin anew after logging in.
    pub(crate) fn after_it_was_taken_up(self) -> Self {
        match self {
            Self::NotSent(why) => Self::Lost(why),
            Self::Refused(error) => Self::Server(error),
            error @ (Self::AuthorizationNeeded { .. } | Self::Unauthorized { .. }) => Self::Lost(error.to_string()),
            error => error,
        }
    }
}

/// What a server says by itself.
#[derive(Debug, Clone)]
pub enum Event {
    /// A list changed.
    ListChanged(List),
    /// A resource changed: the notification's parameters.
    ResourceUpdated(Document),
    /// A log message that belongs to no request: the notification's parameters.
    Log(Document),
    /// Something that is no message: a line on standard output, cut to a readable length.
    Noise(String),
    /// The connection is gone, and why.
    Lost(String),
}

/// Hears what a server says by itself. It must return at once.
pub trait Listener: Send + Sync {
    /// Something happened.
    fn heard(&self, event: Event);
}
