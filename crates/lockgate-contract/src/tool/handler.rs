//! The one function behind a tool: from arguments to output.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::arguments::Arguments;
use crate::document::{DecodeError, Document, Limits, SerializeError};
use crate::tool::{Failure, ToolContext};

/// An asynchronous function from arguments to output.
///
/// It sees its arguments and nothing else: not the call, not its own name. It answers with an output or a
/// [`Failure`]; it cannot name a status, claim that the environment reported completion, or say that it did not run
/// . Written with [`Handler::typed`] or `#[tool]`.
pub struct Handler {
    prepare: Box<PrepareFn>,
    blocking: bool,
}

type PrepareFn = dyn Fn(&Arguments) -> Result<Prepared, DecodeError> + Send + Sync;
type RunFn = dyn FnOnce(ToolContext) -> RunFuture + Send;
type RunFuture = Pin<Box<dyn Future<Output = Result<Output, Failure>> + Send>>;

/// A handler with its decoded arguments, ready to run once.
// The mutex is never locked: it makes the closure, which need only be `Send`, shareable between the gate's stages.
pub struct Prepared(Mutex<Box<RunFn>>);

impl Prepared {
    fn new(run: impl FnOnce(ToolContext) -> RunFuture + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(run)))
    }

    /// Enters the handler.
    ///
    /// Only the executor's run stage may call this (architecture rule 1); `clippy.toml` bans it everywhere else.
    pub fn run(self, context: ToolContext) -> RunFuture {
        let run = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        run(context)
    }
}

impl Handler {
    /// A handler with typed arguments and a typed output.
    pub fn typed<A, O, F, Fut>(function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        O: Serialize,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Failure>> + Send + 'static,
    {
        Self::typed_with_context(move |arguments, _context| function(arguments))
    }

    /// A handler with typed arguments and a typed output that also takes a [`ToolContext`].
    pub fn typed_with_context<A, O, F, Fut>(function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        O: Serialize,
        F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Failure>> + Send + 'static,
    {
        let function = Arc::new(function);
        Self::new(move |arguments| {
            let decoded: A = arguments.decode()?;
            let function = Arc::clone(&function);
            Ok(Prepared::new(move |context| {
                let future = function(decoded, context);
                Box::pin(async move { Ok(Output::of(&future.await?)) })
            }))
        })
    }

    /// A handler that reads the arguments as they are, and makes its output itself.
    pub fn untyped<F, Fut>(function: F) -> Self
    where
        F: Fn(Arguments, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Output, Failure>> + Send + 'static,
    {
        let function = Arc::new(function);
        Self::new(move |arguments| {
            let (arguments, function) = (arguments.clone(), Arc::clone(&function));
            Ok(Prepared::new(move |context| Box::pin(function(arguments, context))))
        })
    }

    fn new(prepare: impl Fn(&Arguments) -> Result<Prepared, DecodeError> + Send + Sync + 'static) -> Self {
        Self { prepare: Box::new(prepare), blocking: false }
    }

    /// Says that the function may block its thread: it is run on the blocking pool, where a time-out can leave it behind.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Whether the function may block its thread.
    pub fn may_block(&self) -> bool {
        self.blocking
    }

    /// Decodes the arguments for this handler, without entering it.
    pub fn prepare(&self, arguments: &Arguments) -> Result<Prepared, DecodeError> {
        (self.prepare)(arguments)
    }
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler").field("blocking", &self.blocking).finish_non_exhaustive()
    }
}

/// What a handler answers with: its data, and what it left out of it (C-6).
#[derive(Debug)]
pub struct Output {
    /// The data, or a text that claims to be.
    pub content: OutputContent,
    /// Characters that the handler cut off itself.
    pub truncated_chars: u64,
    /// Bytes that were not UTF-8 were replaced by U+FFFD.
    pub lossy: bool,
}

/// The data of an output, before the check stage has looked at it.
#[derive(Debug)]
pub enum OutputContent {
    /// A value.
    Value(Document),
    /// A text that must be one JSON value; it is parsed, once, by the check stage.
    Raw(String),
    /// The handler's value cannot be JSON.
    Invalid(SerializeError),
}

impl Output {
    /// A value, within [`Limits::OUTPUT`].
    pub fn new(value: Document) -> Self {
        if is_surely_within(&value, Limits::OUTPUT) {
            Self::whole(OutputContent::Value(value))
        } else {
            Self::of(&value)
        }
    }

    /// Any value that serialises, within [`Limits::OUTPUT`].
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::whole(match Document::from_serialize_within(value, Limits::OUTPUT) {
            Ok(value) => OutputContent::Value(value),
            Err(error) => OutputContent::Invalid(error),
        })
    }

    /// A text that claims to be one JSON value.
    pub fn raw(text: impl Into<String>) -> Self {
        Self::whole(OutputContent::Raw(text.into()))
    }

    /// Bytes of a text, as a JSON string; what is not UTF-8 becomes U+FFFD and the output is marked lossy.
    pub fn text_from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self { lossy: matches!(text, std::borrow::Cow::Owned(_)), ..Self::new(Document::string(&text)) }
    }

    /// Says how many characters the handler cut off itself.
    #[must_use]
    pub fn truncated_chars(mut self, count: u64) -> Self {
        self.truncated_chars = count;
        self
    }

    /// With nothing left out.
    fn whole(content: OutputContent) -> Self {
        Self { content, truncated_chars: 0, lossy: false }
    }
}

/// What opens no more containers than may stand inside each other is not deeper: most outputs need no closer look.
fn is_surely_within(value: &Document, limits: Limits) -> bool {
    let openings = value.text().bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    value.text().len() <= limits.max_bytes && openings <= limits.max_depth
}

#[cfg(test)]
mod tests;
