//! From text to tape: strict RFC 8259, without recursion.
//!
//! ```text
//!            ┌── scalar ──────────────► Separator ── , ──► Value (array) / Key (object)
//!  Value ────┤                              ▲    └── ] } ──┐
//!            └── [ { ──► First… ── ] } ─────┴──────────────┘   depth as at the start: done
//! ```

use super::Limits;
use super::error::{DocumentError, Fault};
use super::number;
use super::strings::{hexadecimal_unit, skip_plain};
use super::tape::{Tag, Tape};

/// Reads one value out of a text, from a place on.
pub(super) struct Parser<'p> {
    text: &'p str,
    bytes: &'p [u8],
    at: usize,
    tape: &'p mut Tape,
    max_depth: usize,
}

/// What may come next.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    FirstElement,
    Key,
    FirstKey,
    Separator,
}

impl<'p> Parser<'p> {
    /// A parser that adds to `tape`, whose open containers count as levels already used.
    pub(super) fn new(text: &'p str, at: usize, tape: &'p mut Tape, max_depth: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at, tape, max_depth: max_depth.min(Limits::DEEPEST) }
    }

    /// Reads one value and the end of the text.
    pub(super) fn document(mut self) -> Result<(), DocumentError> {
        self.value()?;
        self.skip_white_space();
        if self.at < self.bytes.len() {
            return Err(self.fail(Fault::TrailingCharacters, self.at, false));
        }
        Ok(())
    }

    fn value(&mut self) -> Result<(), DocumentError> {
        let outside = self.tape.depth();
        let mut expect = Expect::Value;
        loop {
            self.skip_white_space();
            expect = match (expect, self.byte(self.at)) {
                (Expect::FirstElement, b']') | (Expect::FirstKey, b'}') => self.close(),
                (Expect::Value | Expect::FirstElement, first) => self.begin_value(first)?,
                (Expect::Key | Expect::FirstKey, b'"') => self.key()?,
                (Expect::Separator, byte) => match (self.tape.innermost().map(|it| it.tag), byte) {
                    (Some(Tag::Array), b',') => self.step(Expect::Value),
                    (Some(Tag::Object), b',') => self.step(Expect::Key),
                    (Some(Tag::Array), b']') => self.close(),
                    (Some(Tag::Object), b'}') => self.close_object()?,
                    _ => return Err(self.fail(Fault::NotJson, self.at, false)),
                },
                (Expect::Key | Expect::FirstKey, _) => {
                    return Err(self.fail(Fault::NotJson, self.at, false));
                }
            };
            if matches!(expect, Expect::Separator) && self.tape.depth() == outside {
                return Ok(());
            }
        }
    }

    #[inline]
    fn begin_value(&mut self, first: u8) -> Result<Expect, DocumentError> {
        match first {
            b'"' => {
                let start = self.at;
                let tag = self.string(true)?;
                self.tape.push(tag, start, self.at);
                Ok(Expect::Separator)
            }
            b'{' => self.open(Tag::Object, Expect::FirstKey),
            b'[' => self.open(Tag::Array, Expect::FirstElement),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Tag::True),
            b'f' => self.word("false", Tag::False),
            b'n' => self.word("null", Tag::Null),
            b'N' if self.is_word("NaN") => Err(self.fail(Fault::NonFiniteNumber, self.at, true)),
            b'I' if self.is_word("Infinity") => Err(self.fail(Fault::NonFiniteNumber, self.at, true)),
            _ => Err(self.fail(Fault::NotJson, self.at, true)),
        }
    }

    fn open(&mut self, tag: Tag, expect: Expect) -> Result<Expect, DocumentError> {
        if self.tape.depth() >= self.max_depth {
            return Err(self.fail(Fault::TooDeep, self.at, true));
        }
        self.tape.open(tag, self.at);
        Ok(self.step(expect))
    }

    #[inline]
    fn close(&mut self) -> Expect {
        self.at += 1;
        self.tape.close(self.at);
        Expect::Separator
    }

    #[inline]
    fn close_object(&mut self) -> Result<Expect, DocumentError> {
        if let Some(key) = self.tape.repeated_key(self.text) {
            let mut pointer = self.tape.pointer(self.text, false);
            super::strings::push_pointer_token(&mut pointer, &key.string(self.text));
            let offset = key.start as usize;
            return Err(DocumentError::new(Fault::DuplicateKey, offset, pointer));
        }
        Ok(self.close())
    }

    #[inline]
    fn step(&mut self, expect: Expect) -> Expect {
        self.at += 1;
        expect
    }

    #[inline]
    fn key(&mut self) -> Result<Expect, DocumentError> {
        let start = self.at;
        let tag = self.string(false)?;
        self.tape.push(tag, start, self.at);
        self.skip_white_space();
        if self.byte(self.at) != b':' {
            return Err(self.fail(Fault::NotJson, self.at, true));
        }
        Ok(self.step(Expect::Value))
    }

    fn word(&mut self, word: &str, tag: Tag) -> Result<Expect, DocumentError> {
        if !self.is_word(word) {
            return Err(self.fail(Fault::NotJson, self.at, true));
        }
        let start = self.at;
        self.at += word.len();
        self.tape.push(tag, start, self.at);
        Ok(Expect::Separator)
    }

    /// Whether `word` stands here and does not go on.
    fn is_word(&self, word: &str) -> bool {
        let end = self.at + word.len();
        self.bytes.get(self.at..end) == Some(word.as_bytes()) && !continues_word(self.byte(end))
    }

    #[inline]
    fn number(&mut self) -> Result<Expect, DocumentError> {
        if self.byte(self.at) == b'-' && self.byte(self.at + 1) == b'I' {
            self.at += 1;
            let fault = if self.is_word("Infinity") { Fault::NonFiniteNumber } else { Fault::NotJson };
            return Err(self.fail(fault, self.at - 1, true));
        }
        match number::scan(self.text, self.at) {
            Ok((_, end)) if continues_word(self.byte(end)) => Err(self.fail(Fault::NotJson, end, true)),
            Ok((tag, end)) => {
                self.tape.push(tag, self.at, end);
                self.at = end;
                Ok(Expect::Separator)
            }
            Err((fault, at)) => Err(self.fail(fault, at, true)),
        }
    }

    /// Reads a string with its quotes.
    #[inline]
    fn string(&mut self, is_value: bool) -> Result<Tag, DocumentError> {
        let mut tag = Tag::Plain;
        let mut at = self.at + 1;
        loop {
            at = skip_plain(self.bytes, at);
            match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    tag = Tag::Escaped;
                    at = self.escape(at).map_err(|fault| self.fail(fault, at, is_value))?;
                }
                // The end, or a control character, which has to be escaped.
                _ => return Err(self.fail(Fault::NotJson, at, is_value)),
            }
        }
        self.at = at + 1;
        Ok(tag)
    }

    /// Checks the escape at `at`; the place after it.
    fn escape(&self, at: usize) -> Result<usize, Fault> {
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'u' => match hexadecimal_unit(self.bytes, at + 2).ok_or(Fault::NotJson)? {
                0xd800..=0xdbff => self.second_surrogate(at + 6),
                0xdc00..=0xdfff => Err(Fault::InvalidUnicode),
                _ => Ok(at + 6),
            },
            _ => Err(Fault::NotJson),
        }
    }

    /// The second half of a pair. A text that ends before it can be told is cut off, not wrong.
    fn second_surrogate(&self, at: usize) -> Result<usize, Fault> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        match rest {
            [] | [b'\\'] => Err(Fault::NotJson),
            [b'\\', b'u', ..] => match hexadecimal_unit(rest, 2).ok_or(Fault::NotJson)? {
                0xdc00..=0xdfff => Ok(at + 6),
                _ => Err(Fault::InvalidUnicode),
            },
            _ => Err(Fault::InvalidUnicode),
        }
    }

    #[inline]
    fn skip_white_space(&mut self) {
        while matches!(self.byte(self.at), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// The byte at a place; 0, which is wrong everywhere, beyond the end.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[cold]
    fn fail(&self, fault: Fault, offset: usize, inside: bool) -> DocumentError {
        DocumentError::new(fault, offset, self.tape.pointer(self.text, inside))
    }
}

/// Whether a byte would go on with the number or word before it: `01`, `1.5.2`, `0x10`, `nullable`
/// are not a value with something behind it, they are no value.
fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}
