//! Messages: the wire of Anthropic's models.

mod blocks;
mod history;
mod kept;
mod request;
mod response;
mod stream;

use lockgate_contract::ports::{ModelError, ModelRequest, ModelResponse};

use crate::options::Resolved;
use crate::wire::{Sent, TurnReader, Wire, WireRequest};

/// What a run file calls this provider.
const NAME: &str = "anthropic";

/// The version of the protocol that is spoken.
const VERSION: &str = "2023-06-01";

/// Messages.
#[derive(Debug)]
pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let sent = Sent::of(request);
        let body = request::body(options, request, &sent.names, stream)?;
        let path = ["v1", "messages"].map(str::to_owned).to_vec();
        Ok(WireRequest { path, query: None, headers: vec![("anthropic-version", VERSION.to_owned())], body, sent })
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        response::read(body, &sent.names)
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        Box::new(stream::Reader::new(sent))
    }
}
