//! Ollama's own chat: a JSON value a line, arguments that are JSON objects, and calls without ids.

mod history;
mod request;
mod response;

use lockgate_contract::document::{Document, Node};
use lockgate_contract::ports::{ModelError, ModelRequest, ModelResponse};

use self::response::Answer;
use crate::options::Resolved;
use crate::wire::{Answer as _, Framing, InSchema, Pieces, Sent, TurnReader, Wire, WireRequest, invalid, parsed};

/// The adapter's name, by which its items are known.
const NAME: &str = "ollama";

/// Ollama.
#[derive(Debug)]
pub(crate) struct Ollama;

impl Wire for Ollama {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let sent = Sent::of(request);
        let body = request::body(options, request, &sent.names, stream)?;
        let path = ["api", "chat"].map(str::to_owned).to_vec();
        Ok(WireRequest { path, query: None, headers: Vec::new(), body, sent })
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        let document = parsed(body)?;
        let mut answer = Answer::default();
        answer.piece(document.root(), &|_| ())?;
        answer.finish(&sent.names)?.ok_or_else(|| invalid("it does not say that it is done"))
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        Box::new(Pieces::<Answer>::new(sent))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn in_schema(&self) -> Option<&dyn InSchema> {
        Some(self)
    }
}

impl InSchema for Ollama {
    fn member(&self, schema: Document) -> (&'static str, Document) {
        ("format", schema)
    }

    fn prompt_tokens(&self, root: Node<'_>) -> Option<u64> {
        response::usage_of(root).input_tokens
    }
}
