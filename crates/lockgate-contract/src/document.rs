//! A JSON text, parsed once into a flat tape over its own text.
//!
//! Tool arguments, outputs, schemas and event bodies are all a [`Document`]. It keeps the very
//! text it was parsed from, so the digits of a number survive byte for byte, and every reader
//! (digest, display, schema validator, policy, handler) looks at one and the same value
//! (architecture rule 3). The tape is one list of entries, each with the place of a value in the
//! text and the place of the next sibling on the tape; nothing is allocated per value.
//!
//! ```text
//! text   {"to":"bob","amount":9007199254740993}
//! tape   Object  Plain  Plain  Plain  Integer        five entries, in the order of the text
//!        next=5  to     bob    amount 9007199254740993
//! ```
//!
//! What belongs elsewhere: what a *tool call* may look like is [`crate::arguments`]; whether a
//! value fits a schema is decided by the registry.

mod canonical;
mod deserialize;
mod embed;
mod error;
mod node;
mod number;
mod parse;
mod serialize;
mod strings;
mod tape;
mod value;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::parse::Parser;
use self::tape::{Entry, Tape};
use self::write::Writer;

pub use self::error::{DecodeError, DocumentError, Fault, SerializeError};
pub use self::node::{Elements, Kind, Members, Names, Node};
pub use self::number::Number;

/// A JSON text with its tape. Cloning copies one pointer.
///
/// Equality is not implemented on purpose: whether `1` and `1.0` are the same depends on what is
/// asked. [`Document::same_value`] compares values, [`Document::text`] compares spellings.
#[derive(Clone)]
pub struct Document {
    inner: Arc<Inner>,
}

/// The text and the entries that point into it.
///
/// INVARIANT: `tape` is what [`Parser`] makes of `text` (or what [`Writer`] made beside it): never
/// empty, entry 0 is the root, every string has valid escapes, every object has distinct keys.
struct Inner {
    text: String,
    tape: Vec<Entry>,
}

/// How large and how deep a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes. Whatever is set here, a text of 4 GiB or more is refused.
    pub max_bytes: usize,
    /// How many arrays and objects may stand inside each other: `[]` is 1, `[[]]` is 2.
    ///
    /// Whatever is set here, no text is deeper than [`Limits::DEEPEST`], because typed decoding
    /// uses stack for each level.
    pub max_depth: usize,
}

impl Limits {
    /// The deepest nesting that any limits allow.
    pub const DEEPEST: usize = 256;
    /// For the arguments of a call: 1 MiB, 128 levels.
    pub const ARGUMENTS: Self = Self { max_bytes: 1 << 20, max_depth: 128 };
    /// For what a handler returns: 64 MiB, 128 levels.
    pub const OUTPUT: Self = Self { max_bytes: 64 << 20, max_depth: 128 };
    /// For what this program wrote itself (an event holds arguments and outputs, so it may be
    /// larger and deeper than either).
    pub const OWN: Self = Self { max_bytes: LONGEST_TEXT, max_depth: Self::DEEPEST };
}

/// Offsets are 32 bits wide, and the last one is the tape's "no such entry".
const LONGEST_TEXT: usize = (u32::MAX - 1) as usize;

impl Document {
    /// Parses `text` strictly (RFC 8259).
    ///
    /// # Errors
    ///
    /// The first [`Fault`] met, with its byte offset and a JSON pointer to the value being read.
    pub fn parse(text: impl Into<String>, limits: Limits) -> Result<Self, DocumentError> {
        let text = text.into();
        if text.len() > limits.max_bytes.min(LONGEST_TEXT) {
            let offset = limits.max_bytes.min(LONGEST_TEXT);
            return Err(DocumentError::new(Fault::TooLarge, offset, String::new()));
        }
        let mut tape = Tape::for_text(text.len());
        Parser::new(&text, 0, &mut tape, limits.max_depth).document()?;
        Ok(Self::from_parts(text, tape.into_entries()))
    }

    /// Writes a Rust value straight into text and tape, shaped as `serde_json` shapes it.
    ///
    /// A [`Document`] (or a `serde_json::value::RawValue`) inside `value` keeps its exact text.
    /// Limits are [`Limits::OWN`].
    ///
    /// # Errors
    ///
    /// A number that is not finite, a repeated key, a key that is not a string, nesting beyond the
    /// limit, or what `value` itself reports; each with the JSON pointer of the place.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, SerializeError> {
        Self::from_serialize_within(value, Limits::OWN)
    }

    /// Like [`Document::from_serialize`], for values of foreign code (typed handlers).
    ///
    /// # Errors
    ///
    /// As [`Document::from_serialize`], with the given limits.
    pub fn from_serialize_within<T: Serialize + ?Sized>(value: &T, limits: Limits) -> Result<Self, SerializeError> {
        serialize::document(value, limits)
    }

    /// The document `null`.
    pub fn null() -> Self {
        Self::written(Writer::null)
    }

    /// The document `true` or `false`.
    pub fn boolean(value: bool) -> Self {
        Self::written(|writer| writer.boolean(value))
    }

    /// A document that is one integer.
    pub fn integer(value: impl Into<i128>) -> Self {
        let value: i128 = value.into();
        Self::written(|writer| writer.integer(value))
    }

    /// A document that is one string.
    ///
    /// # Panics
    ///
    /// If the written string would be 4 GiB or longer.
    pub fn string(value: &str) -> Self {
        Self::written(|writer| writer.string(value))
    }

    /// The document `{}`.
    pub fn empty_object() -> Self {
        Self::written(|writer| {
            writer.open_object();
            writer.close();
        })
    }

    /// The document `[]`.
    pub fn empty_array() -> Self {
        Self::written(|writer| {
            writer.open_array();
            writer.close();
        })
    }

    /// The very text this document was parsed from, or written as.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node::new(&self.inner, 0)
    }

    /// The canonical form, which every digest is over (policy.md): RFC 8785's member order (by
    /// UTF-16 code units) and string escapes, no white space, and numbers as exact decimals, see
    /// [`Number::decimal`]. Two documents have the same canonical form exactly when they have the
    /// same value.
    pub fn canonical(&self) -> String {
        self.root().canonical()
    }

    /// Whether both documents have the same value: members in any order, numbers by value
    /// (`1` = `1.0` = `1e0`), strings after their escapes.
    pub fn same_value(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || self.root().same_value(other.root())
    }

    /// Decodes the whole document into a typed value; see [`Node::decode`] for the rules.
    ///
    /// # Errors
    ///
    /// What does not fit, with its JSON pointer.
    pub fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T, DecodeError> {
        self.root().decode()
    }

    /// Takes over a `serde_json` value that this program made itself.
    ///
    /// # Panics
    ///
    /// If the written text would be 4 GiB or longer.
    pub fn from_json_value(value: &serde_json::Value) -> Self {
        Self::written(|writer| value::write(writer, value))
    }

    /// Copies into a `serde_json` value, for code that knows nothing else.
    ///
    /// **Lossy for numbers**: an integer beyond `u64` and `i64`, and a decimal that `f64` cannot
    /// hold, become the nearest `f64`. Never use the copy for what runs or for a digest.
    pub fn to_json_value(&self) -> serde_json::Value {
        self.root().to_json_value()
    }

    fn written(write: impl FnOnce(&mut Writer)) -> Self {
        let mut writer = Writer::new(Limits::OWN);
        write(&mut writer);
        writer.into_document()
    }

    fn from_parts(text: String, tape: Vec<Entry>) -> Self {
        Self { inner: Arc::new(Inner { text, tape }) }
    }
}

/// Shows the text.
impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

/// Shows the text.
impl fmt::Display for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}
