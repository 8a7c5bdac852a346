//! A turn that comes in pieces, put together (providers.md, Argument text): pieces of a call are merged by index and id, a new id on a
//! used index opens a new call, and ids may be empty or doubled.

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Kind};
use lockgate_contract::ports::{Delta, Heard, ModelError, ProposedCall};

use crate::names::WireNames;
use crate::wire::invalid;

/// What came of a turn so far.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    text: String,
    calls: Vec<Part>,
}

/// What came of a call so far.
#[derive(Debug)]
pub(crate) struct Part {
    /// How many calls stand before it.
    place: usize,
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    language: ActionLanguage,
}

impl Turn {
    /// More of the text.
    pub(crate) fn text(&mut self, text: &str, heard: &Heard) {
        if !text.is_empty() {
            self.text.push_str(text);
            heard(Delta::Text(text));
        }
    }

    /// The call that a piece belongs to.
    pub(crate) fn call(&mut self, index: Option<u64>, id: &str, language: ActionLanguage) -> &mut Part {
        let known = match (index, id) {
            // Whatever has neither goes on with what was there last.
            (None, "") => self.calls().checked_sub(1),
            (None, id) => self.calls.iter().rposition(|call| call.id == id),
            (Some(_), id) => {
                let same = self.calls.iter().rposition(|call| !id.is_empty() && call.index == index && call.id == id);
                let of_index = self.calls.iter().rposition(|call| call.index == index);
                same.or(of_index.filter(|at| id.is_empty() || self.calls[*at].id.is_empty()))
            }
        };
        let at = known.unwrap_or_else(|| self.begin(index, id, language));
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        call
    }

    fn begin(&mut self, index: Option<u64>, id: &str, language: ActionLanguage) -> usize {
        let place = self.calls();
        let (name, arguments) = (String::new(), String::new());
        self.calls.push(Part { place, index, id: id.to_owned(), name, arguments, language });
        place
    }

    /// A piece of a call, with as much of its name and of its arguments as the piece has; returns how many calls stand before it.
    pub(crate) fn piece(
        &mut self,
        index: Option<u64>,
        id: &str,
        language: ActionLanguage,
        name: &str,
        arguments: &str,
    ) -> usize {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        // Some servers send whole calls, each with the same index or with none, and without an id. More text would only break
        // arguments that are whole, so a name with arguments of its own is another call.
        let is_another = id.is_empty()
            && at.is_some_and(|at| {
                let call = &self.calls[at];
                let is_other_name = index.is_none() && call.name != name;
                !name.is_empty()
                    && !call.name.is_empty()
                    && (is_other_name || !arguments.trim().is_empty())
                    && ((is_other_name && call.arguments.is_empty()) || is_object(&call.arguments))
            });
        if is_another {
            self.begin(index, id, language);
        }
        let part = self.call(index, id, language);
        part.name(name);
        part.arguments(arguments);
        part.place
    }

    /// How many calls were begun.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// What it is in the end: its text and its calls.
    ///
    /// # Errors
    ///
    /// A call has no name.
    pub(crate) fn finish(self, names: &WireNames) -> Result<(Option<String>, Vec<ProposedCall>), ModelError> {
        let mut calls = Vec::with_capacity(self.calls.len());
        for (index, call) in self.calls.into_iter().enumerate() {
            if call.name.is_empty() {
                return Err(invalid(format!("call {index} of its message has no name")));
            }
            calls.push(ProposedCall {
                provider_call_id: call.id,
                name: names.original(&call.name).to_owned(),
                arguments_text: call.arguments,
                language: call.language,
            });
        }
        Ok(((!self.text.is_empty()).then_some(self.text), calls))
    }
}

/// Whether a text is a whole JSON object.
fn is_object(text: &str) -> bool {
    let whole = || Document::parse(text, crate::wire::limits(text.len()));
    text.trim_end().ends_with('}') && whole().is_ok_and(|document| document.root().kind() == Kind::Object)
}

impl Part {
    /// More of the name. Some servers send the whole name again with each piece.
    pub(crate) fn name(&mut self, name: &str) {
        if self.name != name {
            self.name.push_str(name);
        }
    }

    /// More of the arguments.
    pub(crate) fn arguments(&mut self, text: &str) {
        self.arguments.push_str(text);
    }
}
