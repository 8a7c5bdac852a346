//! The ways of corrupting a journal.

use std::fmt::Write as _;

use serde_json::Value;

/// The lines of a journal, to be corrupted.
pub(super) struct Journal {
    lines: Vec<Value>,
    /// Bytes that are missing at the end.
    cut: usize,
}

impl Journal {
    pub(super) fn of(text: &str) -> Self {
        Self { lines: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), cut: 0 }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text.truncate(text.len() - self.cut);
        text
    }

    /// Takes an event out; its number is missing.
    pub(super) fn drop(&mut self, seq: u64) {
        let place = self.place(seq);
        self.lines.remove(place);
    }

    /// Takes an event out, and closes the gap in the numbers.
    pub(super) fn drop_and_close(&mut self, seq: u64) {
        self.drop(seq);
        self.renumber();
    }

    /// Writes an event a second time, under its number.
    pub(super) fn double(&mut self, seq: u64) {
        let place = self.place(seq);
        self.lines.insert(place + 1, self.lines[place].clone());
    }

    /// Writes an event a second time behind another, under a number of its own.
    pub(super) fn repeat(&mut self, seq: u64, behind: u64) {
        let (place, behind) = (self.place(seq), self.place(behind));
        self.lines.insert(behind + 1, self.lines[place].clone());
        self.renumber();
    }

    /// Exchanges two events with their numbers.
    pub(super) fn swap(&mut self, one: u64, other: u64) {
        let (one, other) = (self.place(one), self.place(other));
        self.lines.swap(one, other);
    }

    /// Exchanges two events; the numbers stay in order.
    pub(super) fn exchange(&mut self, one: u64, other: u64) {
        self.swap(one, other);
        self.renumber();
    }

    /// Moves an event behind another; the numbers stay in order.
    pub(super) fn move_behind(&mut self, seq: u64, behind: u64) {
        let place = self.place(seq);
        let line = self.lines.remove(place);
        let behind = self.place(behind);
        self.lines.insert(behind + 1, line);
        self.renumber();
    }

    /// Gives each of two calls what the other's event says.
    pub(super) fn misplace(&mut self, one: u64, other: u64) {
        let (one, other) = (self.place(one), self.place(other));
        let data = self.lines[one]["data"].take();
        self.lines[one]["data"] = self.lines[other]["data"].take();
        self.lines[other]["data"] = data;
    }

    /// Gives each of two events to the other's call.
    pub(super) fn misplace_ids(&mut self, one: u64, other: u64) {
        let (one, other) = (self.place(one), self.place(other));
        let call = self.lines[one]["call_id"].take();
        self.lines[one]["call_id"] = self.lines[other]["call_id"].take();
        self.lines[other]["call_id"] = call;
    }

    /// Writes another value.
    pub(super) fn edit(&mut self, seq: u64, pointer: &str, value: impl Into<Value>) {
        let place = self.place(seq);
        let line = self.lines[place].pointer_mut(pointer).unwrap_or_else(|| panic!("event {seq} has no {pointer}"));
        *line = value.into();
    }

    /// Adds a member that is left out where it says nothing.
    pub(super) fn add(&mut self, seq: u64, pointer: &str, name: &str, value: impl Into<Value>) {
        let place = self.place(seq);
        self.lines[place].pointer_mut(pointer).unwrap()[name] = value.into();
    }

    /// Takes a member out.
    pub(super) fn remove(&mut self, seq: u64, pointer: &str, name: &str) {
        let place = self.place(seq);
        self.lines[place].pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    }

    /// Takes out everything behind an event.
    pub(super) fn truncate_behind(&mut self, seq: u64) {
        let place = self.place(seq);
        self.lines.truncate(place + 1);
    }

    /// Takes out everything before an event.
    pub(super) fn begin_with(&mut self, seq: u64) {
        let place = self.place(seq);
        self.lines.drain(..place);
    }

    /// Cuts bytes off the end.
    pub(super) fn cut_off(&mut self, bytes: usize) {
        self.cut = bytes;
    }

    fn renumber(&mut self) {
        for (seq, line) in (1_u64..).zip(&mut self.lines) {
            line["seq"] = seq.into();
        }
    }

    /// The first line with this number.
    fn place(&self, seq: u64) -> usize {
        self.lines.iter().position(|line| line["seq"] == seq).unwrap_or_else(|| panic!("there is no event {seq}"))
    }
}
