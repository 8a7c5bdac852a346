//! Tools for servers that have none: they are described in the instructions, and the answer is asked for in a JSON schema, as a text or as
//! one call. Any wire that can ask in a schema can be used so.
//!
//! Some servers drop `tools` in silence where the model's chat template has no place for them (providers.md, Schema dialects). Nothing of
//! what they are sent here needs such a place: calls and results of the history are plain text too, in the same form.
//!
//! ```text
//! ModelRequest ─► told in words (words.rs) ─► the wire's own request ─► its answer, a text ─► {"say": …} or {"call": …} (answer.rs)
//! ```

mod answer;
mod probe;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use lockgate_contract::document::Node;
use lockgate_contract::ports::{Delta, Heard, ModelError, ModelRequest, ModelResponse};

use self::answer::{Said, turn_of};
pub(crate) use self::probe::Probe;
use crate::options::Resolved;
use crate::wire::{Framing, InSchema, Sent, TurnReader, Wire, WireRequest};

/// Members of an extra body that mean nothing where no tools are sent, and that servers refuse then.
const ABOUT_TOOLS: [&str; 2] = ["tool_choice", "parallel_tool_calls"];

/// A wire whose model is told of tools in words.
#[derive(Debug)]
pub(crate) struct Described(pub(crate) Arc<dyn Wire>);

impl Wire for Described {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        self.0.key_header()
    }

    fn request(&self, options: &Resolved, request: &ModelRequest, stream: bool) -> Result<WireRequest, ModelError> {
        let mut options = without_tools(options);
        // Without tools there is nothing to choose, and the answer is a text as always.
        let form = self.0.in_schema().filter(|_| !request.tools.is_empty());
        if let Some(form) = form {
            let (member, value) = form.member(words::schema(&request.tools)?);
            options.extra_body.push((member.to_owned(), value));
        }
        let mut wire = self.0.request(&options, &words::told(request)?, stream)?;
        wire.sent.in_schema = form.is_some();
        Ok(wire)
    }

    fn read(&self, body: String, sent: Sent) -> Result<ModelResponse, ModelError> {
        let in_schema = sent.in_schema;
        let response = self.0.read(body, sent)?;
        if in_schema { turn_of(response) } else { Ok(response) }
    }

    fn reader(&self, sent: Sent) -> Box<dyn TurnReader> {
        let in_schema = sent.in_schema;
        let inner = self.0.reader(sent);
        if in_schema { Box::new(Reader { inner, said: Said::default() }) } else { inner }
    }

    fn framing(&self) -> Framing {
        self.0.framing()
    }

    fn in_schema(&self) -> Option<&dyn InSchema> {
        self.0.in_schema()
    }
}

/// The options for a request that has no tools.
fn without_tools(options: &Resolved) -> Resolved {
    let mut options = options.clone();
    options.extra_body.retain(|(key, _)| !ABOUT_TOOLS.contains(&key.as_str()));
    options
}

/// Reads the pieces of an answer in the schema. What is heard is the text in it, not its JSON.
struct Reader {
    inner: Box<dyn TurnReader>,
    said: Said,
}

impl TurnReader for Reader {
    fn event(&mut self, kind: &str, data: &str, heard: &Heard) -> Result<(), ModelError> {
        let pieces = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&pieces);
        self.inner.event(kind, data, &move |delta| {
            let piece = match delta {
                Delta::Text(text) => (true, text.to_owned()),
                Delta::Reasoning(text) => (false, text.to_owned()),
            };
            into.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
        })?;
        let pieces = std::mem::take(&mut *pieces.lock().unwrap_or_else(PoisonError::into_inner));
        for (is_answer, piece) in pieces {
            if !is_answer {
                heard(Delta::Reasoning(&piece));
                continue;
            }
            let more = self.said.more(&piece);
            if !more.is_empty() {
                heard(Delta::Text(&more));
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, ModelError> {
        turn_of(self.inner.finish()?)
    }
}

/// The count of a prompt's tokens in an answer.
fn prompt_tokens(wire: &dyn Wire, root: Node<'_>) -> Option<u64> {
    wire.in_schema()?.prompt_tokens(root)
}

#[cfg(test)]
mod tests;
