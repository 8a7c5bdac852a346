//! The codes that tools bring along.

use std::borrow::Cow;

use thiserror::Error;

use super::Code;

/// A code of a tool's own: a lower-case word that is none of the table's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolCode(Cow<'static, str>);

/// Why a word cannot be a tool's own code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidToolCode {
    /// Not `[a-z][a-z0-9_]{0,63}`.
    #[error("`{0}` is not a code: use lower-case letters, digits and `_`, a letter first, at most 64")]
    Form(String),
    /// A word of the closed table.
    #[error("`{0}` is one of Lockgate's own codes: choose another word")]
    Reserved(String),
}

impl ToolCode {
    /// Takes a word that may be a code.
    pub fn new(word: impl Into<Cow<'static, str>>) -> Result<Self, InvalidToolCode> {
        let word = word.into();
        let form = word.len() <= 64
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && word.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
        if !form {
            return Err(InvalidToolCode::Form(word.into_owned()));
        }
        if Code::from_word(&word).is_some() {
            return Err(InvalidToolCode::Reserved(word.into_owned()));
        }
        Ok(Self(word))
    }

    /// The word.
    pub fn word(&self) -> &str {
        &self.0
    }
}
