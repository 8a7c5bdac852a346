//! Chat Completions: the one wire that `OpenAI`, vLLM, llama.cpp, Ollama and most routers speak.

mod flow;
mod history;
mod kept;
pub(crate) mod request;
pub(crate) mod response;
mod schema;
mod stream;

use lockgate_contract::document::{Document, Limits, Node};
use lockgate_contract::ports::{ModelError, ModelRequest, ModelResponse};

pub(crate) use self::response::{Finish, check_finish, plain_text, present};
pub(crate) use self::schema::Parameters;
use crate::options::Resolved;
use crate::usage::usage_of;
use crate::wire::{InSchema, Sent, TurnReader, Wire, WireRequest};

/// The adapter's name.
const NAME: &str = "openai-compatible";

/// Chat Completions.
#[derive(Debug)]
pub(crate) struct Chat;

impl Wire for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let sent = Sent::of(request);
        let body = request::body(options, request, &sent.names, stream)?;
        let path = ["chat", "completions"].map(str::to_owned).to_vec();
        Ok(WireRequest { path, query: None, headers: Vec::new(), body, sent })
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        response::read(body, &sent.names)
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(sent))
    }

    fn in_schema(&self) -> Option<&dyn InSchema> {
        Some(self)
    }
}

impl InSchema for Chat {
    fn member(&self, schema: Document) -> (&'static str, Document) {
        let schema = schema.text();
        let text = format!(r#"{{"type":"json_schema","json_schema":{{"name":"turn","schema":{schema}}}}}"#);
        // INVARIANT: what is put into the frame is JSON.
        let form = Document::parse(text, Limits::OWN).unwrap_or_else(|_| Document::empty_object());
        ("response_format", form)
    }

    fn prompt_tokens(&self, root: Node<'_>) -> Option<u64> {
        usage_of(root.get("usage")?).input_tokens
    }
}
