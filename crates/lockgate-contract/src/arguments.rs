//! The arguments of one call: model text, parsed once (architecture rule 3).

use std::fmt;

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::document::{DecodeError, Document, DocumentError, Fault, Kind, Limits, Node};

/// The arguments of a call: a JSON object, immutable, cheap to clone.
///
/// Digest, display, validation, policy and handler all read this one value, so what a person
/// approved is what runs.
#[derive(Clone)]
pub struct Arguments {
    /// INVARIANT: the root is an object.
    document: Document,
}

impl Arguments {
    /// Parses the argument text of a call, as a model sent it.
    ///
    /// Empty text, and text of nothing but JSON white space, means `{}` (providers.md, "Argument
    /// text"). Nothing else is repaired or guessed; a byte order mark is not JSON.
    ///
    /// # Errors
    ///
    /// The reason for the outcome `invalid_arguments`, with the place.
    pub fn parse(raw: &str, limits: Limits) -> Result<Self, ArgumentsError> {
        let blank = raw.bytes().all(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
        if blank && raw.len() <= limits.max_bytes {
            return Ok(Self::empty());
        }
        Self::from_document(Document::parse(raw, limits)?)
    }

    /// No arguments: `{}`.
    pub fn empty() -> Self {
        Self { document: Document::empty_object() }
    }

    /// Takes a document that is parsed already, for callers inside the program.
    ///
    /// # Errors
    ///
    /// [`ArgumentsFault::NotAnObject`] if its root is anything else.
    pub fn from_document(document: Document) -> Result<Self, ArgumentsError> {
        if document.root().kind() == Kind::Object {
            Ok(Self { document })
        } else {
            Err(ArgumentsError { reason: ArgumentsFault::NotAnObject, pointer: String::new(), offset: 0 })
        }
    }

    /// The whole document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The object.
    pub fn root(&self) -> Node<'_> {
        self.document.root()
    }

    /// The very text that was parsed; `{}` for blank text.
    pub fn text(&self) -> &str {
        self.document.text()
    }

    /// The canonical form, see [`Document::canonical`].
    pub fn canonical(&self) -> String {
        self.document.canonical()
    }

    /// Decodes for a typed handler; see [`Node::decode`] for the rules.
    ///
    /// # Errors
    ///
    /// What does not fit, with its JSON pointer.
    pub fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T, DecodeError> {
        self.document.decode()
    }

    /// The digest that an approval binds: over the canonical form, tagged
    /// `lockgate.arguments.v1`. Computed anew each time.
    pub fn digest(&self) -> Digest {
        Digest::of("lockgate.arguments.v1", &self.document)
    }
}

/// Shows the text.
impl fmt::Debug for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

/// As the object itself, by its exact text, as [`Document`] does.
impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

/// Why a text is no arguments; the reason words of `invalid_arguments` (outcomes.md), except
/// `schema`, which only a schema can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentsFault {
    /// Not JSON (RFC 8259), cut off, or with a byte order mark.
    NotJson,
    /// JSON, but the root is no object.
    NotAnObject,
    /// An object has one key twice.
    DuplicateKey,
    /// The nesting is too deep.
    TooDeep,
    /// The text is too large.
    TooLarge,
    /// A string escape is half of a surrogate pair.
    InvalidUnicode,
    /// `NaN`, an infinity, or a number beyond binary64's range.
    NonFiniteNumber,
    /// There is text after the value.
    TrailingCharacters,
}

impl ArgumentsFault {
    /// The stable word that the model is told.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotJson => Fault::NotJson.word(),
            Self::NotAnObject => "not_an_object",
            Self::DuplicateKey => Fault::DuplicateKey.word(),
            Self::TooDeep => Fault::TooDeep.word(),
            Self::TooLarge => Fault::TooLarge.word(),
            Self::InvalidUnicode => Fault::InvalidUnicode.word(),
            Self::NonFiniteNumber => Fault::NonFiniteNumber.word(),
            Self::TrailingCharacters => Fault::TrailingCharacters.word(),
        }
    }
}

impl From<Fault> for ArgumentsFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::NotJson => Self::NotJson,
            Fault::DuplicateKey => Self::DuplicateKey,
            Fault::TooDeep => Self::TooDeep,
            Fault::TooLarge => Self::TooLarge,
            Fault::InvalidUnicode => Self::InvalidUnicode,
            Fault::NonFiniteNumber => Self::NonFiniteNumber,
            Fault::TrailingCharacters => Self::TrailingCharacters,
        }
    }
}

/// Argument text that was refused. For the audit; the model is told the reason word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments ({}), at byte {offset}, JSON pointer `{pointer}`", .reason.word())]
pub struct ArgumentsError {
    reason: ArgumentsFault,
    pointer: String,
    offset: usize,
}

impl ArgumentsError {
    /// Why.
    pub fn reason(&self) -> ArgumentsFault {
        self.reason
    }

    /// The reason as the stable word that the model is told.
    pub fn reason_word(&self) -> &'static str {
        self.reason.word()
    }

    /// A JSON pointer (RFC 6901) to the value that was being read.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Where reading stopped, in bytes from the start of the text.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl From<DocumentError> for ArgumentsError {
    fn from(error: DocumentError) -> Self {
        Self { reason: error.fault().into(), pointer: error.pointer().to_owned(), offset: error.offset() }
    }
}

#[cfg(test)]
mod tests;
