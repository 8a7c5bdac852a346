//! What can be wrong with a text, with a value being written, or with a value being decoded.

use std::fmt;

use super::strings::push_pointer_token;

/// Why a text is not an acceptable JSON document. The words are those of `invalid_arguments`
/// (outcomes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Not JSON (RFC 8259), or cut off.
    NotJson,
    /// An object names one key twice, escapes resolved (`"a"` and `"\u0061"` are one key).
    DuplicateKey,
    /// More levels than [`super::Limits::max_depth`].
    TooDeep,
    /// More bytes than [`super::Limits::max_bytes`].
    TooLarge,
    /// An escape that is half of a surrogate pair.
    InvalidUnicode,
    /// `NaN`, `Infinity`, `-Infinity`, a number that rounds to infinity in binary64, or an
    /// exponent that needs more than 32 bits.
    NonFiniteNumber,
    /// Something other than white space after the value.
    TrailingCharacters,
}

impl Fault {
    /// Every fault, for tables and tests.
    pub const ALL: [Self; 7] = [
        Self::NotJson,
        Self::DuplicateKey,
        Self::TooDeep,
        Self::TooLarge,
        Self::InvalidUnicode,
        Self::NonFiniteNumber,
        Self::TrailingCharacters,
    ];

    /// The stable word that a model or a program is told.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::DuplicateKey => "duplicate_key",
            Self::TooDeep => "too_deep",
            Self::TooLarge => "too_large",
            Self::InvalidUnicode => "invalid_unicode",
            Self::NonFiniteNumber => "non_finite_number",
            Self::TrailingCharacters => "trailing_characters",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::NotJson => "the text is not JSON",
            Self::DuplicateKey => "an object has one key twice",
            Self::TooDeep => "the nesting is too deep",
            Self::TooLarge => "the text is too large",
            Self::InvalidUnicode => "a string escape is half of a surrogate pair",
            Self::NonFiniteNumber => "a number is not finite",
            Self::TrailingCharacters => "there is text after the value",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.sentence())
    }
}

/// A text that was refused, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}, at byte {offset}{}", at_pointer(.pointer))]
pub struct DocumentError {
    fault: Fault,
    offset: usize,
    pointer: String,
}

impl DocumentError {
    #[cold]
    pub(super) fn new(fault: Fault, offset: usize, pointer: String) -> Self {
        Self { fault, offset, pointer }
    }

    /// What is wrong.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Where reading stopped, in bytes from the start of the text.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// A JSON pointer (RFC 6901) to the value that was being read; of a repeated key, to that key.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

/// A Rust value that cannot be written as a document, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", at_pointer(.pointer.as_deref().unwrap_or_default()))]
pub struct SerializeError {
    fault: Option<Fault>,
    message: String,
    pointer: Option<String>,
}

impl SerializeError {
    #[cold]
    pub(super) fn of(fault: Fault) -> Self {
        Self { fault: Some(fault), message: fault.to_string(), pointer: None }
    }

    #[cold]
    pub(super) fn message(message: impl fmt::Display) -> Self {
        Self { fault: None, message: message.to_string(), pointer: None }
    }

    /// Says where, unless somebody closer to the place has said it already.
    pub(super) fn or_at(mut self, pointer: impl FnOnce() -> String) -> Self {
        self.pointer.get_or_insert_with(pointer);
        self
    }

    /// What is wrong, where a parsed text would have been refused for the same.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// A JSON pointer (RFC 6901) to the value that was being written.
    pub fn pointer(&self) -> &str {
        self.pointer.as_deref().unwrap_or_default()
    }
}

impl serde::ser::Error for SerializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::message(message)
    }
}

impl From<DocumentError> for SerializeError {
    fn from(error: DocumentError) -> Self {
        Self { fault: Some(error.fault), message: error.fault.to_string(), pointer: Some(error.pointer) }
    }
}

/// A value that does not fit the type it was decoded into, and where.
///
/// The message is for people: it may quote the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", at_pointer(.pointer))]
pub struct DecodeError {
    message: String,
    pointer: String,
}

impl DecodeError {
    #[cold]
    pub(super) fn new(message: String) -> Self {
        Self { message, pointer: String::new() }
    }

    /// The error as seen from the container that holds the value under `token`.
    pub(super) fn below(mut self, token: &str) -> Self {
        let mut pointer = String::new();
        push_pointer_token(&mut pointer, token);
        pointer.push_str(&self.pointer);
        self.pointer = pointer;
        self
    }

    /// What does not fit.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A JSON pointer (RFC 6901) to the value that does not fit.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl serde::de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

fn at_pointer(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") }
}
