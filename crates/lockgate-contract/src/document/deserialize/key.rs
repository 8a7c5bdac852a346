//! The keys of maps.

use std::borrow::Cow;

use serde::de::{Deserializer, Expected, Unexpected, Visitor};

use super::numbers::deserialize_numbers;
use super::variant::Variant;
use super::{visit_string, wrong_type};
use crate::document::error::DecodeError;
use crate::document::number::Number;
use crate::document::strings::excerpt;

/// A key: a string, or the text of a number or bool for a map that is keyed by those.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl Key<'_> {
    fn number(&self, expected: &dyn Expected) -> Result<Number<'_>, DecodeError> {
        Number::parse(&self.0).ok_or_else(|| wrong_type(Unexpected::Str(&excerpt(&self.0)), expected))
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visit_string(self.0, visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(wrong_type(Unexpected::Str(&excerpt(other)), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(Variant::new(self.0, None))
    }

    deserialize_numbers!();

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
