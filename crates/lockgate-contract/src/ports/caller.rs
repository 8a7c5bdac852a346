//! The port back to whoever sent a call: progress, and what has to be known before the tool can go on.

use crate::document::Document;
use crate::ports::BoxFuture;

/// Whoever sent a call, for as long as it runs. What a handler says through it leaves the process: the executor scrubs it.
///
/// A handler that forwards its call to a server makes use of it; most need none.
pub trait Caller: Send + Sync {
    /// What came beside the arguments, for whoever forwards the call: never read as an instruction, never part of what is
    /// decided, approved or validated.
    fn beside(&self) -> Option<Document>;

    /// What it can be asked, as it said: the members of MCP's `clientCapabilities`. Whoever says nothing can be asked nothing.
    fn can_be_asked(&self) -> Document {
        Document::empty_object()
    }

    /// Says how far the call is, or what it has to tell meanwhile.
    fn report(&self, report: Report);

    /// Asks, and waits for the answers. `questions` and the answers are objects with the same keys; a question is
    /// `{"method", "params"}` of `elicitation/create`, `sampling/createMessage` or `roots/list` (MCP 2026-07-28).
    fn ask(&self, questions: Document) -> BoxFuture<'_, Result<Document, Unanswered>>;
}

/// What a call has to tell before it is done.
#[derive(Debug, Clone)]
pub enum Report {
    /// How far it is.
    Progress {
        /// Grows with each report.
        progress: Document,
        /// Where it ends, if that is known.
        total: Option<Document>,
        /// In a few words.
        message: Option<String>,
    },
    /// A log message: `{"level", "logger"?, "data"}`.
    Log(Document),
}

/// Why questions have no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// Whoever sent the call cannot be asked such a thing: the capability that it lacks, such as `elicitation.url`.
    #[error("the caller cannot be asked: it lacks `{0}`")]
    Cannot(String),
    /// It is gone, or gave up.
    #[error("the caller is gone")]
    Gone,
}
