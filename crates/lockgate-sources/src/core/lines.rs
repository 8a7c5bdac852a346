//! Picks a range of lines out of a text of any length, holding no more than the answer.

use super::text::decode_up_to;

#[cfg(test)]
mod tests;

/// A UTF-8 character has at most this many bytes.
const LONGEST_CHARACTER: usize = 4;

/// A window onto the lines of a text that is fed to it in pieces. Lines end with `\n`, which belongs to its line; a `\n`
/// at the very end begins no further line.
///
/// Whole lines are kept while they fit into the limit, so that reading goes on cleanly at the line after the last one
/// kept. Only when the first line alone is too long is it cut.
#[derive(Debug)]
pub(super) struct LineWindow {
    first: u64,
    last: u64,
    limit: usize,
    /// The line that the next byte belongs to.
    current: u64,
    /// Whether that line has any byte yet.
    begun: bool,
    /// What is kept of it, when it lies in the window.
    pending: Vec<u8>,
    seen: SeenLines,
}

/// What the window showed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SeenLines {
    pub(super) text: String,
    /// The last line of which something is in `text`; the one before the window when there is none.
    pub(super) end_line: u64,
    pub(super) lossy: bool,
    /// Whether the window holds more than was kept.
    pub(super) truncated: bool,
    /// Whether the one line in `text` is not whole.
    pub(super) line_cut: bool,
    /// How many lines the text has; nothing when it was not fed to its end.
    pub(super) total_lines: Option<u64>,
}

impl LineWindow {
    /// A window onto lines `first` to `last` (counted from 1, both included), keeping at most `limit` bytes of text.
    pub(super) fn new(first: u64, last: u64, limit: usize) -> Self {
        let seen = SeenLines { end_line: first.saturating_sub(1), ..SeenLines::default() };
        Self { first, last, limit, current: 1, begun: false, pending: Vec::new(), seen }
    }

    /// Takes the next piece of the text.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.current > self.last || self.seen.truncated {
                return self.count(bytes);
            }
            let end = memchr::memchr(b'\n', bytes);
            let (piece, rest) = bytes.split_at(end.map_or(bytes.len(), |at| at + 1));
            if self.current >= self.first {
                self.keep(piece);
            }
            self.begun = true;
            if end.is_some() {
                self.close_line(true);
            }
            bytes = rest;
        }
    }

    /// Whether the line `first` was reached.
    pub(super) fn reached(&self) -> bool {
        self.current > self.first || (self.current == self.first && self.begun)
    }

    /// Closes the window. `complete` says whether the text was fed to its end.
    pub(super) fn finish(mut self, complete: bool) -> SeenLines {
        if self.begun {
            self.close_line(complete);
        }
        self.seen.truncated |= !complete && self.current <= self.last;
        self.seen.total_lines = complete.then_some(self.current - 1);
        self.seen
    }

    /// Only counts lines: the window lies behind, or is full.
    fn count(&mut self, bytes: &[u8]) {
        self.current += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.begun = bytes.last() != Some(&b'\n');
    }

    fn keep(&mut self, piece: &[u8]) {
        // One character more than fits: then what does not fit is known to be cut, and the cut never looks like a
        // character that is broken in the text itself.
        let room = (self.limit + LONGEST_CHARACTER).saturating_sub(self.pending.len());
        let kept = piece.get(..room).unwrap_or(piece);
        self.pending.extend_from_slice(kept);
    }

    /// Ends the current line; `complete` is false when the text was left in the middle of it.
    fn close_line(&mut self, complete: bool) {
        let line = self.current;
        self.current += 1;
        self.begun = false;
        if line < self.first || line > self.last || self.seen.truncated {
            return;
        }
        let decoded = decode_up_to(&self.pending, self.limit);
        let fits = complete && !decoded.cut && self.seen.text.len() + decoded.text.len() <= self.limit;
        if fits || line == self.first {
            self.seen.text.push_str(&decoded.text);
            self.seen.lossy |= decoded.lossy;
            self.seen.end_line = line;
        }
        self.seen.line_cut = !fits && line == self.first;
        self.seen.truncated = !fits;
        self.pending.clear();
    }
}
