//! Enums, as serde tags them by default: a bare string, or an object with one member.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected, VariantAccess, Visitor};

use super::wrong_type;
use crate::document::error::DecodeError;
use crate::document::node::Node;

/// An enum's variant, and its content unless it was written as a bare string.
pub(super) struct Variant<'de> {
    name: Cow<'de, str>,
    content: Option<Node<'de>>,
}

impl<'de> Variant<'de> {
    pub(super) fn new(name: Cow<'de, str>, content: Option<Node<'de>>) -> Self {
        Self { name, content }
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content<'de>), DecodeError> {
        let name: CowStrDeserializer<'_, DecodeError> = self.name.clone().into_deserializer();
        let variant = seed.deserialize(name)?;
        let content = Content { name: self.name, node: self.content };
        Ok((variant, content))
    }
}

/// What a variant holds.
pub(super) struct Content<'de> {
    name: Cow<'de, str>,
    node: Option<Node<'de>>,
}

impl<'de> Content<'de> {
    fn read<T>(self, expected: &str, read: impl FnOnce(Node<'de>) -> Result<T, DecodeError>) -> Result<T, DecodeError> {
        match self.node {
            Some(node) => read(node).map_err(|error| error.below(&self.name)),
            None => Err(wrong_type(Unexpected::UnitVariant, &expected)),
        }
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.node {
            None => Ok(()),
            Some(node) if node.is_null() => Ok(()),
            Some(node) => Err(node.unexpected(&"a variant without content").below(&self.name)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        self.read("a variant with a value", |node| seed.deserialize(node))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.read("a variant with an array", |node| node.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DecodeError> {
        self.read("a variant with an object", |node| node.deserialize_map(visitor))
    }
}
