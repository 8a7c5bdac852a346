//! `OpenAI`'s Responses. Nothing is stored at the provider: each request holds the whole history, and what the model thought goes back
//! encrypted.

mod history;
mod request;
mod response;
mod stream;

use lockgate_contract::ports::{ModelError, ModelRequest, ModelResponse};

use crate::options::Resolved;
use crate::wire::{Sent, TurnReader, Wire, WireRequest};

/// The adapter's name.
const NAME: &str = "openai";

/// Responses.
#[derive(Debug)]
pub(crate) struct Responses;

impl Wire for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let sent = Sent::of(request);
        let body = request::body(options, request, &sent.names, stream)?;
        Ok(WireRequest { path: vec!["responses".to_owned()], query: None, headers: Vec::new(), body, sent })
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        response::read(body, &sent.names)
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(sent))
    }
}
