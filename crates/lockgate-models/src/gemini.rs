//! Gemini's `generateContent`: contents made of parts, arguments that are JSON objects, and signatures that a part comes back with.

mod history;
mod partial;
mod request;
mod response;
mod schema;

use lockgate_contract::ports::{ModelError, ModelRequest, ModelResponse};

use self::response::Answer;
use crate::options::Resolved;
use crate::wire::{Answer as _, Pieces, Sent, TurnReader, Wire, WireRequest, invalid, parsed};

/// The adapter's name, by which its items are known.
const NAME: &str = "gemini";

/// Gemini.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let sent = Sent::of(request);
        let body = request::body(options, request, &sent.names)?;
        let (action, query) =
            if stream { ("streamGenerateContent", Some("alt=sse")) } else { ("generateContent", None) };
        // Tuned models, and those of other hosts, are named with their path.
        let model = options.model.as_str();
        let mut path: Vec<String> = if model.contains('/') { Vec::new() } else { vec!["models".to_owned()] };
        path.extend(format!("{model}:{action}").split('/').map(str::to_owned));
        Ok(WireRequest { path, query, headers: Vec::new(), body, sent })
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        let document = parsed(body)?;
        let root = document.root();
        let mut answer = Answer::default();
        // A stream that was asked for without events is a list of its pieces.
        let is_list = root.kind() == lockgate_contract::document::Kind::Array;
        let pieces = root.elements().chain((!is_list).then_some(root));
        for piece in pieces {
            answer.piece(piece, &|_| ())?;
        }
        answer.finish(&sent.names)?.ok_or_else(|| invalid("it does not say that it is finished"))
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        Box::new(Pieces::<Answer>::new(sent))
    }
}
