//! What every wire needs of a history: that each call has its one result right behind its turn, and an id of its own.

use std::borrow::Cow;
use std::collections::HashSet;

use lockgate_contract::document::{Document, Kind};
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{Message, MessageCall, ModelError};

/// Follows the calls of a history to their results. Every call must be followed by its one result before anything else is said; a
/// provider refuses the whole request otherwise, so such a history is an error here.
pub(crate) struct Pairing<'a> {
    ids: WireIds<'a>,
    /// Calls without a result so far, with their wire ids and names.
    open: Vec<Open<'a>>,
}

/// A call that waits for its result.
#[derive(Debug, Clone)]
pub(crate) struct Open<'a> {
    call_id: &'a CallId,
    /// Its id on the wire.
    pub(crate) id: Cow<'a, str>,
    /// Its tool, by the name that the model wrote.
    pub(crate) name: &'a str,
}

impl<'a> Pairing<'a> {
    /// For the calls of these messages.
    pub(crate) fn of(messages: &'a [Message]) -> Self {
        Self::with_ids(messages, |id| !id.is_empty())
    }

    /// The same, for a wire that takes these ids only.
    pub(crate) fn with_ids(messages: &'a [Message], takes: fn(&str) -> bool) -> Self {
        Self { ids: WireIds::claim(messages, takes), open: Vec::new() }
    }

    /// Before a message that is no result: everything has its result by now.
    pub(crate) fn nothing_open(&self) -> Result<(), ModelError> {
        match self.open.first() {
            Some(call) => Err(unpaired(call.call_id, "has no result right after its turn")),
            None => Ok(()),
        }
    }

    /// The wire id of the next call.
    pub(crate) fn call(&mut self, call: &'a MessageCall) -> Cow<'a, str> {
        let id = self.ids.next(&call.provider_call_id);
        self.open.push(Open { call_id: &call.call_id, id: id.clone(), name: &call.name });
        id
    }

    /// The call that this is the result of.
    pub(crate) fn result(&mut self, call_id: &CallId) -> Result<Open<'a>, ModelError> {
        let position = self.open.iter().position(|open| open.call_id == call_id);
        let position = position.ok_or_else(|| unpaired(call_id, "has a result but no call before it"))?;
        Ok(self.open.remove(position))
    }

    /// At the end of the history.
    pub(crate) fn end(&self) -> Result<(), ModelError> {
        match self.open.first() {
            Some(call) => Err(unpaired(call.call_id, "has no result")),
            None => Ok(()),
        }
    }
}

fn unpaired(call_id: &CallId, what: &str) -> ModelError {
    ModelError::InvalidRequest { detail: format!("call `{call_id}` of the history {what}") }
}

/// The raw text if it is a JSON object, else `{}`: a history with broken arguments fails the whole request, and the broken
/// text is in the journal (providers.md, Argument text).
pub(crate) fn object_text(text: &str) -> &str {
    match Document::parse(text, crate::wire::limits(text.len())) {
        Ok(document) if document.root().kind() == Kind::Object => text,
        _ => "{}",
    }
}

/// Gives each call of the history an id that no other call of the request has: the provider's own where that works, for
/// calls and results are paired by it on the wire. The same history always gets the same ids.
struct WireIds<'a> {
    /// Every id that a provider gave somewhere in this history.
    given: HashSet<&'a str>,
    /// The ids used so far.
    used: HashSet<&'a str>,
    /// How many ids were made.
    made: u32,
    /// Whether the wire takes an id that a provider gave.
    takes: fn(&str) -> bool,
}

impl<'a> WireIds<'a> {
    fn claim(messages: &'a [Message], takes: fn(&str) -> bool) -> Self {
        let calls = messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let given = calls.map(|call| call.provider_call_id.as_str()).collect();
        Self { given, used: HashSet::new(), made: 0, takes }
    }

    fn next(&mut self, provider_call_id: &'a str) -> Cow<'a, str> {
        if (self.takes)(provider_call_id) && self.used.insert(provider_call_id) {
            return Cow::Borrowed(provider_call_id);
        }
        loop {
            // Nine letters and digits: the one form that even the pickiest provider takes.
            let id = format!("call{:05}", self.made);
            self.made += 1;
            if !self.given.contains(id.as_str()) {
                return Cow::Owned(id);
            }
        }
    }
}
