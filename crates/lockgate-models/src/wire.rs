//! What an adapter is made of: one provider's protocol as pure functions between the neutral words and its own. No wire sends anything,
//! waits or reads the environment: [`RemoteModel`](crate::RemoteModel) does that for all of them.
//!
//! ```text
//! ModelRequest ─► Wire::request ─► WireRequest ─► Transport ─┬► whole body ─► Wire::read ───────────┬─► ModelResponse
//!                                                            └► events ─► TurnReader::event …::finish ┘
//! ```

use std::fmt;

use lockgate_contract::document::{Document, Limits, Node};
use lockgate_contract::ports::{Heard, Message, ModelError, ModelRequest, ModelResponse};
use serde::{Serialize, Serializer};

use crate::names::WireNames;
use crate::options::Resolved;

/// The deepest nesting of a provider's JSON.
const MAX_DEPTH: usize = 128;

/// One provider's protocol.
pub(crate) trait Wire: fmt::Debug + Send + Sync {
    /// The adapter's name: what a run file calls its provider.
    fn name(&self) -> &'static str;

    /// How the key is shown: the header, and what stands before the key in it.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// What is sent for a request.
    ///
    /// # Errors
    ///
    /// The history cannot be said on this wire.
    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError>;

    /// Reads a whole answer.
    ///
    /// # Errors
    ///
    /// It is none, or it ended early.
    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError>;

    /// Begins to read an answer that comes in pieces.
    fn reader(&self, sent: Sent) -> Box<dyn TurnReader>;

    /// How the pieces are told apart.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// What it takes to describe tools in words, for protocols whose servers may drop tools in silence.
    fn in_schema(&self) -> Option<&dyn InSchema> {
        None
    }
}

/// A protocol that can ask for an answer in a schema.
pub(crate) trait InSchema {
    /// The member of the request that asks for it.
    fn member(&self, schema: Document) -> (&'static str, Document);

    /// How long a prompt was, by the answer to it.
    fn prompt_tokens(&self, root: Node<'_>) -> Option<u64>;
}

/// One turn that comes in pieces. It knows of what it read, and of nothing else: what it becomes is the same however the bytes were cut.
pub(crate) trait TurnReader: Send {
    /// Takes the next event: its type (empty where it has none) and its data.
    ///
    /// # Errors
    ///
    /// The provider reports a failure, or what it sends is no turn.
    fn event(&mut self, kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError>;

    /// The stream is over: the turn, where the provider said that it is whole.
    ///
    /// # Errors
    ///
    /// It did not say so, or it ended early.
    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError>;
}

/// A turn whose pieces each have the form of a whole answer.
pub(crate) trait Answer: Default + Send {
    /// Takes a piece of the answer, or all of it.
    fn piece(&mut self, root: Node<'_>, heard: &Heard) -> Result<(), ModelError>;

    /// The turn, or nothing where the server did not say that it is whole.
    fn finish(self, names: &WireNames) -> Result<Option<ModelResponse>, ModelError>;
}

/// Reads such pieces.
pub(crate) struct Pieces<A> {
    sent: Sent,
    answer: A,
}

impl<A: Answer> Pieces<A> {
    pub(crate) fn new(sent: Sent) -> Self {
        Self { sent, answer: A::default() }
    }
}

impl<A: Answer> TurnReader for Pieces<A> {
    fn event(&mut self, _kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError> {
        self.answer.piece(parsed(data)?.root(), heard)
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError> {
        self.answer.finish(&self.sent.names)?.ok_or_else(ended_early)
    }
}

/// How a stream is cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
}

/// A request on the wire, apart from the key.
#[derive(Debug)]
pub(crate) struct WireRequest {
    /// What is added to the base URL's path.
    pub(crate) path: Vec<String>,
    /// What stands behind the question mark, where anything does.
    pub(crate) query: Option<&'static str>,
    /// Headers beside those of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The body, as JSON.
    pub(crate) body: String,
    /// What the answer has to be read with.
    pub(crate) sent: Sent,
}

/// What was said in a request that its answer has to be read with.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// The names of tools.
    pub(crate) names: WireNames,
    /// Whether the answer was asked for in a schema (`described.rs`).
    pub(crate) in_schema: bool,
}

impl Sent {
    /// The names of a request: its tools first, then whatever names its history holds.
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let mut names = WireNames::for_tools(request.tools.iter().map(|tool| tool.name.as_str()));
        for message in &request.messages {
            if let Message::Assistant { calls, .. } = message {
                for call in calls {
                    names.add(&call.name);
                }
            }
        }
        Self { names, in_schema: false }
    }
}

/// Members added to an object as they stand.
#[derive(Debug)]
pub(crate) struct Members<'a>(pub(crate) &'a [(String, Document)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Limits for reading JSON of a known length.
pub(crate) fn limits(length: usize) -> Limits {
    Limits { max_bytes: length, max_depth: MAX_DEPTH }
}

/// Reads what a provider sent as JSON.
pub(crate) fn parsed(text: impl Into<String>) -> Result<Document, ModelError> {
    let text = text.into();
    let limits = limits(text.len());
    Document::parse(text, limits).map_err(|error| invalid(format!("it is not acceptable JSON: {error}")))
}

/// What is sent, as JSON text.
pub(crate) fn written(value: &impl Serialize) -> Result<String, ModelError> {
    serde_json::to_string(value).map_err(|error| unwritable(&error.to_string()))
}

/// The request cannot be written.
pub(crate) fn unwritable(error: &str) -> ModelError {
    ModelError::InvalidRequest { detail: format!("the request cannot be written: {error}") }
}

/// The answer cannot be read.
pub(crate) fn invalid(detail: impl Into<String>) -> ModelError {
    ModelError::InvalidResponse { detail: detail.into() }
}

/// The connection ended before the provider said that the turn is whole.
pub(crate) fn ended_early() -> ModelError {
    ModelError::Unreachable { detail: "the stream ended before the turn did".to_owned() }
}
