//! The two places where only a text may stand: an object's key, and the envelope of a raw value.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use crate::document::error::{Fault, SerializeError};
use crate::document::write::Writer;

/// Writes a map's key: a string, or what `serde_json` too writes as one.
pub(super) struct Key<'w>(pub(super) &'w mut Writer);

impl Key<'_> {
    fn display(self, key: impl Display) -> Result<(), SerializeError> {
        self.0.string(&key.to_string());
        self.0.check()
    }
}

/// Takes a text that is JSON already and nothing else.
pub(super) struct TextOnly<F>(pub(super) F);

fn refuse_key<T>() -> Result<T, SerializeError> {
    Err(SerializeError::message("an object key must be a string"))
}

fn refuse_raw<T>() -> Result<T, SerializeError> {
    Err(SerializeError::message("a raw value must be a text"))
}

/// The methods that both serializers of single texts refuse.
macro_rules! refuse {
    ($refuse:expr; $($method:ident($($argument:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self, $($argument: $type),*) -> Result<$ok, SerializeError> {
            $(let _ = $argument;)*
            $refuse()
        })*
    };
}

macro_rules! single_text {
    ($refuse:expr) => {
        type Ok = ();
        type Error = SerializeError;
        type SerializeSeq = Impossible<(), SerializeError>;
        type SerializeTuple = Impossible<(), SerializeError>;
        type SerializeTupleStruct = Impossible<(), SerializeError>;
        type SerializeTupleVariant = Impossible<(), SerializeError>;
        type SerializeMap = Impossible<(), SerializeError>;
        type SerializeStruct = Impossible<(), SerializeError>;
        type SerializeStructVariant = Impossible<(), SerializeError>;

        refuse! { $refuse;
            serialize_bytes(value: &[u8]) -> ();
            serialize_none() -> ();
            serialize_unit() -> ();
            serialize_unit_struct(name: &'static str) -> ();
            serialize_seq(length: Option<usize>) -> Self::SerializeSeq;
            serialize_tuple(length: usize) -> Self::SerializeTuple;
            serialize_tuple_struct(name: &'static str, length: usize) -> Self::SerializeTupleStruct;
            serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
                -> Self::SerializeTupleVariant;
            serialize_map(length: Option<usize>) -> Self::SerializeMap;
            serialize_struct(name: &'static str, length: usize) -> Self::SerializeStruct;
            serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
                -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), SerializeError> {
            $refuse()
        }

        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerializeError> {
            value.serialize(self)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            value: &T,
        ) -> Result<(), SerializeError> {
            value.serialize(self)
        }
    };
}

macro_rules! displayed_keys {
    ($($method:ident($type:ty);)*) => {
        $(fn $method(self, key: $type) -> Result<(), SerializeError> {
            self.display(key)
        })*
    };
}

impl Serializer for Key<'_> {
    single_text!(refuse_key);

    displayed_keys! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
    }

    fn serialize_f32(self, key: f32) -> Result<(), SerializeError> {
        if key.is_finite() {
            self.display(format_args!("{key:?}"))
        } else {
            Err(SerializeError::of(Fault::NonFiniteNumber))
        }
    }

    fn serialize_f64(self, key: f64) -> Result<(), SerializeError> {
        if key.is_finite() {
            self.display(format_args!("{key:?}"))
        } else {
            Err(SerializeError::of(Fault::NonFiniteNumber))
        }
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerializeError> {
        self.display(variant)
    }
}

impl<F: FnOnce(&str) -> Result<(), SerializeError>> Serializer for TextOnly<F> {
    single_text!(refuse_raw);

    refuse! { refuse_raw;
        serialize_bool(value: bool) -> ();
        serialize_i8(value: i8) -> ();
        serialize_i16(value: i16) -> ();
        serialize_i32(value: i32) -> ();
        serialize_i64(value: i64) -> ();
        serialize_u8(value: u8) -> ();
        serialize_u16(value: u16) -> ();
        serialize_u32(value: u32) -> ();
        serialize_u64(value: u64) -> ();
        serialize_f32(value: f32) -> ();
        serialize_f64(value: f64) -> ();
        serialize_char(value: char) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
    }

    fn serialize_str(self, value: &str) -> Result<(), SerializeError> {
        (self.0)(value)
    }
}
