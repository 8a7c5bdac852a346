//! Server-sent events, read as they come (HTML Living Standard §9.2).

use std::time::Duration;

use lockgate_host::http::Lines;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its type; `message` where it has none.
    pub(super) kind: String,
    pub(super) data: String,
}

/// What a stream said so far.
pub(super) struct EventReader {
    longest: usize,
    lines: Lines,
    kind: String,
    data: String,
    has_data: bool,
    id: Option<String>,
    /// The id of the last event that has one. A later stream goes on behind it.
    pub(super) last_id: Option<String>,
    /// How long the server wants to be left alone after the end of the stream.
    pub(super) retry: Option<Duration>,
}

/// An event is longer than it may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl EventReader {
    pub(super) fn new(longest: usize) -> Self {
        Self {
            longest,
            lines: Lines::default(),
            kind: String::new(),
            data: String::new(),
            has_data: false,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Another stream begins, behind what was heard of this one: what was not whole is dropped.
    pub(super) fn restart(&mut self) {
        let (last_id, retry) = (self.last_id.take(), self.retry);
        *self = Self { last_id, retry, ..Self::new(self.longest) };
    }

    /// The events that end in this piece.
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        while let Some(line) = self.lines.next(&mut piece) {
            events.extend(self.line(&line));
            self.check()?;
        }
        self.check()?;
        Ok(events)
    }

    fn check(&self) -> Result<(), TooLong> {
        if self.lines.unended() + self.data.len() > self.longest { Err(TooLong) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = &*String::from_utf8_lossy(line);
        if line.is_empty() {
            return self.event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // A header has to carry it.
            "id" if value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && value.len() <= LONGEST_ID => {
                self.id = Some(value.to_owned());
            }
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            // Comments, and fields that nobody knows.
            _ => {}
        }
        None
    }

    fn event(&mut self) -> Option<Event> {
        let kind = std::mem::take(&mut self.kind);
        let data = std::mem::take(&mut self.data);
        if let Some(id) = self.id.take() {
            self.last_id = (!id.is_empty()).then_some(id);
        }
        if !std::mem::take(&mut self.has_data) || data.is_empty() {
            return None;
        }
        Some(Event { kind: if kind.is_empty() { "message".to_owned() } else { kind }, data })
    }
}

const LONGEST_ID: usize = 1024;
