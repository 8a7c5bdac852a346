//! Serde's deserializer over a [`Node`]: exactly, or not at all. The rules stand at
//! [`Node::decode`].

mod access;
mod key;
mod numbers;
mod variant;

use std::borrow::Cow;

use serde::de::{Deserializer, Error as _, Expected, IntoDeserializer, Unexpected, Visitor};

use self::access::{ElementAccess, MemberAccess, RawText};
use self::numbers::{deserialize_numbers, visit_any_number};
use self::variant::Variant;
use super::embed::{RAW, is_private_signal, private_signal};
use super::error::DecodeError;
use super::node::{Kind, Node};
use super::number::Number;
use super::strings::excerpt;

impl Node<'_> {
    fn unexpected(self, expected: &dyn Expected) -> DecodeError {
        let string = self.as_str();
        let unexpected = match (&string, self.kind()) {
            (Some(string), _) => return wrong_type(Unexpected::Str(&excerpt(string)), expected),
            (None, Kind::Null) => Unexpected::Unit,
            (None, Kind::Bool) => Unexpected::Bool(self.as_bool().unwrap_or_default()),
            (None, Kind::Array) => Unexpected::Seq,
            (None, Kind::Object) => Unexpected::Map,
            (None, Kind::Number | Kind::String) => {
                let what = format!("number `{}`", excerpt(self.raw()));
                return wrong_type(Unexpected::Other(&what), expected);
            }
        };
        wrong_type(unexpected, expected)
    }
}

fn wrong_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> DecodeError {
    DecodeError::invalid_type(unexpected, expected)
}

fn visit_string<'de, V: Visitor<'de>>(string: Cow<'de, str>, visitor: V) -> Result<V::Value, DecodeError> {
    match string {
        Cow::Borrowed(string) => visitor.visit_borrowed_str(string),
        Cow::Owned(string) => visitor.visit_string(string),
    }
}

impl<'de> Node<'de> {
    fn number(self, expected: &dyn Expected) -> Result<Number<'de>, DecodeError> {
        self.as_number().ok_or_else(|| self.unexpected(expected))
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = DecodeError;

    deserialize_numbers!();

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool => self.deserialize_bool(visitor),
            Kind::Number => visit_any_number(self.number(&visitor)?, visitor),
            Kind::String => self.deserialize_str(visitor),
            Kind::Array => self.deserialize_seq(visitor),
            Kind::Object => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_bool() {
            Some(value) => visitor.visit_bool(value),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_str() {
            Some(string) => visit_string(string, visitor),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_str() {
            Some(Cow::Borrowed(string)) => visitor.visit_borrowed_bytes(string.as_bytes()),
            Some(Cow::Owned(string)) => visitor.visit_byte_buf(string.into_bytes()),
            None => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() { visitor.visit_unit() } else { Err(self.unexpected(&visitor)) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == RAW { visitor.visit_map(RawText::new(self)) } else { visitor.visit_newtype_struct(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.kind() != Kind::Array {
            return Err(self.unexpected(&visitor));
        }
        let length = self.len();
        let mut elements = ElementAccess::new(self);
        let value = visitor.visit_seq(&mut elements)?;
        if elements.read() < length {
            let expected = format!("{} elements", elements.read());
            return Err(DecodeError::invalid_length(length, &expected.as_str()));
        }
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.kind() != Kind::Object {
            return Err(self.unexpected(&visitor));
        }
        visitor.visit_map(MemberAccess::new(self))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if let Some(variant) = self.as_str() {
            return visitor.visit_enum(Variant::new(variant, None));
        }
        let mut members = self.members();
        match (members.next(), members.next()) {
            (Some((name, _)), None) if is_private_signal(&name) => Err(private_signal(&name)),
            (Some((name, content)), None) => visitor.visit_enum(Variant::new(name, Some(content))),
            (_, Some(_)) => Err(DecodeError::invalid_length(self.len(), &"an object with one member, the variant")),
            (None, None) => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

impl<'de> IntoDeserializer<'de, DecodeError> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
