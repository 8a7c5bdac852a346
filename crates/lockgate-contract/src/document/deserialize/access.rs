//! The insides of arrays and objects, handed over one by one.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess};

use super::key::Key;
use crate::document::embed::{RAW, is_private_signal, private_signal};
use crate::document::error::DecodeError;
use crate::document::node::{Elements, Members, Node};

/// Hands over the elements of an array; errors learn the index.
pub(super) struct ElementAccess<'de> {
    elements: Elements<'de>,
    read: usize,
}

impl<'de> ElementAccess<'de> {
    pub(super) fn new(array: Node<'de>) -> Self {
        Self { elements: array.elements(), read: 0 }
    }

    /// How many elements were taken.
    pub(super) fn read(&self) -> usize {
        self.read
    }
}

impl<'de> SeqAccess<'de> for ElementAccess<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        let Some(element) = self.elements.next() else {
            return Ok(None);
        };
        let index = self.read;
        self.read += 1;
        seed.deserialize(element).map(Some).map_err(|error| error.below(&index.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// Hands over the members of an object; errors learn the key.
pub(super) struct MemberAccess<'de> {
    members: Members<'de>,
    value: Option<(Cow<'de, str>, Node<'de>)>,
}

impl<'de> MemberAccess<'de> {
    pub(super) fn new(object: Node<'de>) -> Self {
        Self { members: object.members(), value: None }
    }
}

impl<'de> MapAccess<'de> for MemberAccess<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, value)) = self.members.next() else {
            return Ok(None);
        };
        if is_private_signal(&key) {
            return Err(private_signal::<DecodeError>(&key).below(&key));
        }
        let read = seed.deserialize(Key(key.clone())).map_err(|error| error.below(&key))?;
        self.value = Some((key, value));
        Ok(Some(read))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DecodeError> {
        let (key, value) =
            self.value.take().ok_or_else(|| DecodeError::custom("a value was asked for before its key"))?;
        seed.deserialize(value).map_err(|error| error.below(&key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// The answer to one who asked for the raw text, by `serde_json`'s protocol.
pub(super) struct RawText<'de>(Option<&'de str>);

impl<'de> RawText<'de> {
    pub(super) fn new(value: Node<'de>) -> Self {
        Self(Some(value.raw()))
    }
}

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        if self.0.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DecodeError> {
        let text = self.0.take().unwrap_or("null");
        seed.deserialize(BorrowedStrDeserializer::new(text))
    }
}
