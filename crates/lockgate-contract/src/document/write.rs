//! Writing text and tape side by side, so that what was just written need not be parsed.

use std::fmt::{Display, Write as _};

use super::error::{Fault, SerializeError};
use super::parse::Parser;
use super::strings::{push_pointer_token, push_quoted};
use super::tape::{Tag, Tape};
use super::{Document, LONGEST_TEXT, Limits};

/// A document in the making. Commas and colons are put where they belong: inside an object, keys
/// and values are written in turn.
///
/// The plain methods cannot fail; the limits are asked for by [`Writer::check`] and its siblings.
pub(super) struct Writer {
    text: String,
    tape: Tape,
    limits: Limits,
}

impl Writer {
    pub(super) fn new(limits: Limits) -> Self {
        Self { text: String::with_capacity(128), tape: Tape::for_text(128), limits }
    }

    pub(super) fn null(&mut self) {
        self.word("null", Tag::Null);
    }

    pub(super) fn boolean(&mut self, value: bool) {
        if value {
            self.word("true", Tag::True);
        } else {
            self.word("false", Tag::False);
        }
    }

    /// Writes any integer type.
    pub(super) fn integer(&mut self, value: impl Display) {
        self.formatted(Tag::Integer, format_args!("{value}"));
    }

    /// Writes a finite float by its shortest decimal that reads back as the same float.
    pub(super) fn float(&mut self, value: impl std::fmt::Debug) {
        // Always with a point or an exponent, and within JSON's grammar.
        self.formatted(Tag::Decimal, format_args!("{value:?}"));
    }

    pub(super) fn string(&mut self, value: &str) {
        self.separate();
        let start = self.text.len();
        let escaped = push_quoted(&mut self.text, value);
        let tag = if escaped { Tag::Escaped } else { Tag::Plain };
        self.tape.push(tag, start, self.text.len());
    }

    pub(super) fn open_array(&mut self) {
        self.open('[', Tag::Array);
    }

    pub(super) fn open_object(&mut self) {
        self.open('{', Tag::Object);
    }

    pub(super) fn close(&mut self) {
        let bracket = match self.tape.innermost() {
            Some(container) if container.tag == Tag::Array => ']',
            _ => '}',
        };
        self.text.push(bracket);
        self.tape.close(self.text.len());
    }

    /// Writes a value that is already JSON text, byte for byte.
    pub(super) fn raw(&mut self, json: &str) -> Result<(), SerializeError> {
        self.separate();
        let start = self.text.len();
        self.text.push_str(json);
        self.check()?;
        Parser::new(&self.text, start, &mut self.tape, self.limits.max_depth).document()?;
        Ok(())
    }

    /// Whether another container may be opened.
    pub(super) fn check_depth(&self) -> Result<(), SerializeError> {
        if self.tape.depth() >= self.limits.max_depth.min(Limits::DEEPEST) {
            return Err(SerializeError::of(Fault::TooDeep));
        }
        Ok(())
    }

    /// Whether the text is still short enough.
    pub(super) fn check(&self) -> Result<(), SerializeError> {
        if self.text.len() > self.limits.max_bytes.min(LONGEST_TEXT) {
            return Err(SerializeError::of(Fault::TooLarge));
        }
        Ok(())
    }

    /// Whether the innermost object is whole: every key has a value, and no key comes twice.
    pub(super) fn check_members(&self) -> Result<(), SerializeError> {
        match self.tape.innermost() {
            Some(object) if object.tag == Tag::Object => {
                if object.children % 2 == 1 {
                    return Err(SerializeError::message("a key was written without a value"));
                }
            }
            _ => return Ok(()),
        }
        match self.tape.repeated_key(&self.text) {
            None => Ok(()),
            Some(key) => Err(SerializeError::of(Fault::DuplicateKey).or_at(|| {
                let mut pointer = self.tape.pointer(&self.text, false);
                push_pointer_token(&mut pointer, &key.string(&self.text));
                pointer
            })),
        }
    }

    /// Whether exactly one value has been written, and wholly.
    pub(super) fn check_complete(&self) -> Result<(), SerializeError> {
        if self.tape.is_complete() { Ok(()) } else { Err(SerializeError::message("no complete value was written")) }
    }

    /// A JSON pointer to what is being written.
    pub(super) fn pointer(&self) -> String {
        self.tape.pointer(&self.text, true)
    }

    /// The finished document.
    ///
    /// # Panics
    ///
    /// If the text is 4 GiB or longer, which a caller that can fail rules out by
    /// [`Writer::check`].
    pub(super) fn into_document(self) -> Document {
        assert!(self.text.len() <= LONGEST_TEXT, "a document is shorter than 4 GiB");
        Document::from_parts(self.text, self.tape.into_entries())
    }

    fn word(&mut self, word: &str, tag: Tag) {
        self.separate();
        let start = self.text.len();
        self.text.push_str(word);
        self.tape.push(tag, start, self.text.len());
    }

    fn formatted(&mut self, tag: Tag, value: std::fmt::Arguments<'_>) {
        self.separate();
        let start = self.text.len();
        // Writing into a `String` cannot fail, and neither does formatting a number.
        let _ = self.text.write_fmt(value);
        self.tape.push(tag, start, self.text.len());
    }

    fn open(&mut self, bracket: char, tag: Tag) {
        self.separate();
        let start = self.text.len();
        self.text.push(bracket);
        self.tape.open(tag, start);
    }

    /// What has to stand between the last value and the next.
    fn separate(&mut self) {
        match self.tape.innermost() {
            Some(container) if container.tag == Tag::Object && container.children % 2 == 1 => {
                self.text.push(':');
            }
            Some(container) if container.children > 0 => self.text.push(','),
            _ => {}
        }
    }
}
