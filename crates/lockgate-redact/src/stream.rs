//! Scrubs a text that comes in pieces.
//!
//! ```text
//! chunk ──► bytes ──► text ──► lines ──► is the end of this line a place that nothing reaches across?
//!                                             │ yes: scrubbed and said       │ no: held
//! ```
//!
//! Nearly every secret stands in one line, so nearly every line is said when its line break has come. What reaches across
//! lines is listed in [`Stream::is_open`] and [`Stream::follow_rows`]: PEM keys, cut-off ones too, values of elements,
//! quoted values with a continued line, and known values of several lines. Where a place is depends on the text before it
//! and on nothing else, so it does not matter how the text was cut into pieces.

mod bytes;

use std::fmt;

use lockgate_contract::ports::Redactor as _;
use memchr::{memchr, memmem, memrchr};

use crate::key_names::classify;
use crate::scrubber::Scrubber;
use crate::stream::bytes::Decoder;
use crate::structural::assignment::LONGEST_VALUE;
use crate::structural::pem::{self, Row};

/// So much is held, in bytes, before a text is said in the middle of something that may still go on: more than twice any
/// structure that is looked for.
const HELD: usize = 256 * 1024;
/// How many places are tried for that.
const TRIES: usize = 16;
/// What a chunk is taken in by.
const PIECE: usize = 64 * 1024;
/// A PEM label that is cut in two by a line break reaches no further.
const LABEL_REACH: usize = 100;

/// Scrubs a text that comes in pieces, made by [`Scrubber::stream`].
///
/// What comes out is the same however the text was cut, and it is what [`scrub`](lockgate_contract::ports::Redactor::scrub)
/// makes of the whole, up to this bound: what may be part of something longer is held until it is decided, at most 256 KiB.
/// Then the text is cut outside of what was found, and 64 KiB before the cut are looked at again. Where what was found is
/// longer than the bound itself, it is replaced, and all that follows it up to the next blank or quote goes with it.
///
/// Bytes that are no UTF-8 pass unchanged.
///
/// ```
/// let scrubber = lockgate_redact::ScrubberBuilder::new().build()?;
/// let mut stream = scrubber.stream();
/// let mut out = stream.push(b"the first line\nPASSWORD=correct-ho");
/// assert_eq!(out, b"the first line\n");
/// out.extend(stream.push(b"rse\n"));
/// out.extend(stream.finish());
/// assert!(stream.has_found());
/// assert!(out.starts_with(b"the first line\nPASSWORD=[redacted:password#"));
/// # Ok::<(), lockgate_redact::RedactError>(())
/// ```
pub struct Stream<'s> {
    scrubber: &'s Scrubber,
    /// So much is held at most: [`HELD`].
    bound: usize,
    decoder: Decoder,
    /// What is held, behind what is only looked at again.
    text: String,
    /// Where what is looked at begins.
    start: usize,
    /// Up to here everything was said.
    said: usize,
    /// Where the line begins that has no end yet.
    line: usize,
    /// Up to here there is no further line break.
    searched: usize,
    /// The last line that was not blank, seen by a key that may end below it.
    row: Row,
    /// Where the body of a PEM key began that has not ended.
    key_body: Option<usize>,
    /// The last `<`, and the last one that stands in no key: one in a key may go with it.
    elements: [Option<usize>; 2],
    /// Whether the end of the last line is a place that nothing but a key reaches across.
    closed: bool,
    /// The rest of a run goes whose beginning went.
    swallowing: bool,
    changed: bool,
}

impl Scrubber {
    /// Scrubs a text that comes in pieces.
    pub fn stream(&self) -> Stream<'_> {
        Stream {
            scrubber: self,
            bound: HELD,
            decoder: Decoder::default(),
            text: String::new(),
            start: 0,
            said: 0,
            line: 0,
            searched: 0,
            row: Row::Other,
            key_body: None,
            elements: [None; 2],
            closed: true,
            swallowing: false,
            changed: false,
        }
    }
}

impl Stream<'_> {
    /// Takes in a chunk and gives what can be said by now; nothing of it is secret.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in chunk.chunks(PIECE) {
            self.decoder.decode(piece, &mut self.text);
            self.settle(&mut out);
        }
        out
    }

    /// The end of the text: gives what was held. What is pushed afterwards is another text.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.decoder.end(&mut self.text);
        self.settle(&mut out);
        self.say(self.text.len(), &mut out);
        *self = Self { changed: self.changed, bound: self.bound, ..self.scrubber.stream() };
        out
    }

    /// Whether anything was replaced in what was said so far.
    pub fn has_found(&self) -> bool {
        self.changed
    }

    /// Says whatever is decided.
    fn settle(&mut self, out: &mut Vec<u8>) {
        loop {
            if self.swallowing && !self.swallow() {
                break;
            }
            let found = memchr(b'\n', &self.text.as_bytes()[self.searched..]).map(|at| self.searched + at + 1);
            let until = found.unwrap_or(self.text.len());
            if until - self.said > self.bound {
                self.say_some(out);
                continue;
            }
            self.searched = until;
            let Some(end) = found else { break };
            self.end_line(end, out);
        }
        self.forget();
    }

    /// A line is whole: it ends before `end`.
    fn end_line(&mut self, end: usize, out: &mut Vec<u8>) {
        let above = self.row;
        let rows = self.follow_rows(end);
        // A key that ends below takes at most one short line, its last: never the short line above another. One that ends in
        // this line may take the one above.
        let ends_here = memmem::find(&self.text.as_bytes()[self.line..end], b"-----END").is_some();
        let between = self.closed && self.key_body.is_none() && rows && above != Row::Long && !ends_here;
        if between && self.line > self.said {
            self.say(self.line, out);
        }
        let in_key = self.key_body.is_some();
        self.follow_key(end);
        if let Some(at) = memrchr(b'<', &self.text.as_bytes()[self.line..end]) {
            let at = Some(self.line + at);
            self.elements = [at, if in_key { self.elements[1] } else { at }];
        }
        self.closed = !self.is_open(end);
        if self.closed && self.key_body.is_none() && self.row == Row::Other {
            self.say(end, out);
        }
        self.line = end;
    }

    /// Looks at the parts of the line that ends at `end` as a key that ends below it would; whether there is one that is
    /// not blank.
    fn follow_rows(&mut self, end: usize) -> bool {
        let mut any = false;
        for row in pem::rows(&self.text[self.line..end]) {
            if row != Row::Blank {
                self.row = row;
                any = true;
            }
        }
        any
    }

    /// Notes whether a PEM key that begins before `end` may go on behind it.
    fn follow_key(&mut self, end: usize) {
        let from = self.text.ceil_char_boundary(self.line.saturating_sub(LABEL_REACH).max(self.start));
        let bodies = memmem::find_iter(&self.text.as_bytes()[from..end], pem::WORDS)
            .filter_map(|at| pem::body_start(&self.text[self.start..end], from - self.start + at))
            .map(|body| self.start + body);
        self.key_body = bodies.last().or(self.key_body).filter(|body| pem::may_go_on(&self.text[*body..end]));
    }

    /// Whether something that is no key may reach across the end of a line, at `end`.
    fn is_open(&self, end: usize) -> bool {
        let bytes = &self.text.as_bytes()[self.start..end];
        // A continued line in a quoted value.
        if bytes.ends_with(b"\\\n") {
            return true;
        }
        // A PEM label that is cut in two.
        let near = &bytes[bytes.len().saturating_sub(LABEL_REACH)..];
        if let Some(dashes) = memmem::rfind(near, b"-----") {
            let label = &near[dashes + 5..];
            if label.starts_with(b"BEGIN") || label.starts_with(b"END") {
                return true;
            }
        }
        self.elements.iter().flatten().any(|open| self.is_in_element(*open, end))
            || self.scrubber.known.may_go_on(&self.text[self.line..end], &self.text[self.start..end])
    }

    /// Whether a value in an element with a sensitive name, `<password>…`, may still find its closing tag.
    fn is_in_element(&self, open: usize, end: usize) -> bool {
        if open < self.start || end - open > LONGEST_VALUE + 256 {
            return false;
        }
        let rest = &self.text[open + 1..end];
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let length = rest.bytes().take_while(|byte| part(byte)).count();
        let (name, rest) = rest.split_at(length);
        rest.trim_start_matches(['"', '\'', '`', '\\', ']', ' ', '\t']).starts_with('>') && classify(name).is_some()
    }

    /// Says everything up to `end`, a place that nothing reaches across.
    fn say(&mut self, end: usize, out: &mut Vec<u8>) {
        self.say_until(end, out);
        self.start = end;
    }

    fn say_until(&mut self, end: usize, out: &mut Vec<u8>) {
        let clean = self.scrubber.scrub(&self.text[self.start..end]);
        let known = if self.said == self.start {
            0
        } else {
            // What was said already is looked at again for what it says about the rest.
            let before = self.scrubber.scrub(&self.text[self.start..self.said]);
            shared(&before, &clean)
        };
        let news = &clean[known..];
        self.changed |= news != &self.text[self.said..end];
        bytes::encode(news, out);
        self.said = end;
    }

    /// So much is held that some of it must be said: up to a place outside of everything that was found.
    fn say_some(&mut self, out: &mut Vec<u8>) {
        let window = self.text.floor_char_boundary(self.said + self.bound);
        let end = self.place_in(&self.text[self.start..window]).map(|at| self.start + at);
        self.swallowing = end.is_none();
        self.changed |= self.swallowing;
        let end = end.unwrap_or(window);
        self.say_until(end, out);
        let again = if self.swallowing { end } else { end.saturating_sub(self.bound / 4).max(self.start) };
        self.start = self.text.ceil_char_boundary(again);
        self.searched = self.searched.max(end);
        self.line = self.line.max(self.start);
    }

    /// A place near the middle of what is held up to which the text is scrubbed alike, whether what follows is there or not.
    fn place_in(&self, text: &str) -> Option<usize> {
        let said = self.said - self.start;
        let found = self.scrubber.places(text);
        let is_outside = |at: &usize| {
            let next = found.partition_point(|range| range.end <= *at);
            found.get(next).is_none_or(|range| *at <= range.start)
        };
        let middle = text.floor_char_boundary(said + self.bound / 2);
        // Blanks and the signs between values first: a word is cut only where there is nothing else.
        let signs = text[said..middle].rmatch_indices([' ', '\t', '\n', ',', ';', '}', '>']);
        let signs = signs.map(|(at, sign)| said + at + sign.len()).filter(is_outside).take(TRIES);
        let behind = found.iter().map(|range| range.end).filter(|end| *end > middle && *end < text.len()).take(TRIES);
        let whole = self.scrubber.scrub(text);
        signs
            .chain(Some(middle).filter(is_outside))
            .chain(behind)
            .find(|at| *at > said && whole.starts_with(&*self.scrubber.scrub(&text[..*at])))
    }

    /// Takes away the rest of a run; whether it has ended.
    fn swallow(&mut self) -> bool {
        let ends = |letter: char| letter.is_whitespace() || letter.is_control() || "\"'`<>,;".contains(letter);
        let rest = &self.text[self.said..];
        let length = rest.find(ends);
        let end = self.said + length.unwrap_or(rest.len());
        (self.start, self.said, self.searched, self.line) = (end, end, end, end);
        (self.key_body, self.elements, self.closed) = (None, [None; 2], true);
        self.swallowing = length.is_none();
        !self.swallowing
    }

    /// Lets go of what nobody looks at any more.
    fn forget(&mut self) {
        let gone = self.start;
        if gone == 0 || (gone < PIECE && gone < self.text.len()) {
            return;
        }
        self.text.drain(..gone);
        self.start = 0;
        self.said -= gone;
        self.line -= gone;
        self.searched -= gone;
        self.key_body = self.key_body.map(|at| at.saturating_sub(gone));
        self.elements = self.elements.map(|open| open.and_then(|at| at.checked_sub(gone)));
    }
}

/// How many bytes two texts share at their beginning, in whole characters.
fn shared(one: &str, other: &str) -> usize {
    let length = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    other.floor_char_boundary(length)
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is held may be secret.
        formatter.debug_struct("Stream").field("held", &(self.text.len() - self.said)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
