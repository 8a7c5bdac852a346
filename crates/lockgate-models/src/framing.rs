//! Streams, cut into their events as they come: server-sent events (HTML Living Standard §9.2), or a JSON value a line.

use lockgate_contract::ports::ModelError;
use lockgate_host::http::Lines;

use crate::failure;
use crate::wire::{Framing, invalid};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type; empty where it has none.
    pub(crate) kind: String,
    /// Its data.
    pub(crate) data: String,
}

/// What came of a stream so far.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    /// How many bytes may come in all.
    most: usize,
    came: usize,
    lines: Lines,
    kind: String,
    data: String,
    has_data: bool,
}

impl Frames {
    pub(crate) fn new(framing: Framing, most: usize) -> Self {
        Self {
            framing,
            most,
            came: 0,
            lines: Lines::default(),
            kind: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// The events that end in this piece.
    pub(crate) fn feed(&mut self, mut piece: &[u8]) -> Result<Vec<Event>, ModelError> {
        self.came = self.came.saturating_add(piece.len());
        if self.came > self.most {
            return Err(failure::too_large(self.most));
        }
        let mut events = Vec::new();
        while let Some(line) = self.lines.next(&mut piece) {
            events.extend(self.end_of_line(line)?);
        }
        Ok(events)
    }

    /// What is left at the end of the stream. An event that no empty line ended is dropped; a line counts also without its end.
    pub(crate) fn end(&mut self) -> Result<Option<Event>, ModelError> {
        let line = self.lines.rest();
        if self.framing == Framing::Lines { self.end_of_line(line) } else { Ok(None) }
    }

    fn end_of_line(&mut self, line: Vec<u8>) -> Result<Option<Event>, ModelError> {
        let line = String::from_utf8(line).map_err(|_| invalid("the stream is not UTF-8"))?;
        if self.framing == Framing::Lines {
            let is_blank = line.trim().is_empty();
            return Ok((!is_blank).then(|| Event { kind: String::new(), data: line }));
        }
        if line.is_empty() {
            let (kind, data) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.data));
            return Ok(std::mem::take(&mut self.has_data).then_some(Event { kind, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // Comments, ids and fields that nobody knows.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
