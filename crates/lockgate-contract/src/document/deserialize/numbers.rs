//! Numbers for typed values: exact, or an error.

use serde::de::{Error as _, Expected, Visitor};

use crate::document::error::DecodeError;
use crate::document::number::Number;
use crate::document::strings::excerpt;

/// Integers are decoded through the widest type that holds them; a narrower visitor checks its own
/// bounds.
pub(super) fn visit_integer<'de, V: Visitor<'de>>(number: Number<'_>, visitor: V) -> Result<V::Value, DecodeError> {
    if let Some(value) = number.as_i64() {
        visitor.visit_i64(value)
    } else if let Some(value) = number.as_u64() {
        visitor.visit_u64(value)
    } else {
        Err(misfit(number, &visitor))
    }
}

pub(super) fn misfit(number: Number<'_>, expected: &dyn Expected) -> DecodeError {
    let what = if number.is_integer() { "does not fit" } else { "is not an integer" };
    DecodeError::custom(format_args!("the number `{}` {what}, expected {expected}", excerpt(number.text())))
}

pub(super) fn changed_by_float(number: Number<'_>) -> DecodeError {
    DecodeError::custom(format_args!(
        "the number `{}` does not fit into a float without losing digits",
        excerpt(number.text())
    ))
}

/// A number for a visitor that takes any type.
pub(super) fn visit_any_number<'de, V: Visitor<'de>>(number: Number<'_>, visitor: V) -> Result<V::Value, DecodeError> {
    if let Some(value) = number.as_u64() {
        visitor.visit_u64(value)
    } else if let Some(value) = number.as_i64() {
        visitor.visit_i64(value)
    } else if !number.is_written_as_integer() {
        let value = number.as_lossless_f64().ok_or_else(|| changed_by_float(number))?;
        visitor.visit_f64(value)
    } else if let Some(value) = number.as_u128() {
        visitor.visit_u128(value)
    } else if let Some(value) = number.as_i128() {
        visitor.visit_i128(value)
    } else {
        Err(misfit(number, &visitor))
    }
}

/// The numeric methods, the same for a number value and for a key that is the text of a number.
macro_rules! deserialize_numbers {
    () => {
        deserialize_numbers! { @integers
            deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        }

        fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let number = self.number(&visitor)?;
            match number.as_i128() {
                Some(value) => visitor.visit_i128(value),
                None => Err($crate::document::deserialize::numbers::misfit(number, &visitor)),
            }
        }

        fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let number = self.number(&visitor)?;
            match number.as_u128() {
                Some(value) => visitor.visit_u128(value),
                None => Err($crate::document::deserialize::numbers::misfit(number, &visitor)),
            }
        }

        fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let number = self.number(&visitor)?;
            match number.as_lossless_f32() {
                Some(value) => visitor.visit_f32(value),
                None => Err($crate::document::deserialize::numbers::changed_by_float(number)),
            }
        }

        fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let number = self.number(&visitor)?;
            match number.as_lossless_f64() {
                Some(value) => visitor.visit_f64(value),
                None => Err($crate::document::deserialize::numbers::changed_by_float(number)),
            }
        }
    };
    (@integers $($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let number = self.number(&visitor)?;
            $crate::document::deserialize::numbers::visit_integer(number, visitor)
        })*
    };
}

pub(super) use deserialize_numbers;
