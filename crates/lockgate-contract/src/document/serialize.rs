//! Serde's serializer onto a [`Writer`]: from a Rust value to text and tape in one pass.

mod single;

use serde::Serialize;
use serde::ser::{self, Serializer};

use self::single::{Key, TextOnly};
use super::embed::RAW;
use super::error::{Fault, SerializeError};
use super::write::Writer;
use super::{Document, Limits};

/// Writes `value` as a document.
pub(super) fn document<T: Serialize + ?Sized>(value: &T, limits: Limits) -> Result<Document, SerializeError> {
    let mut writer = Writer::new(limits);
    value
        .serialize(&mut writer)
        .and_then(|()| writer.check_complete())
        // The writer stopped where the error is: what is open leads to it.
        .map_err(|error| error.or_at(|| writer.pointer()))?;
    Ok(writer.into_document())
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Fields<'w>;
    type SerializeStructVariant = Compound<'w>;

    fn serialize_bool(self, value: bool) -> Result<(), SerializeError> {
        self.boolean(value);
        self.check()
    }

    fn serialize_i8(self, value: i8) -> Result<(), SerializeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), SerializeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), SerializeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), SerializeError> {
        self.integer(value);
        self.check()
    }

    fn serialize_i128(self, value: i128) -> Result<(), SerializeError> {
        self.integer(value);
        self.check()
    }

    fn serialize_u8(self, value: u8) -> Result<(), SerializeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), SerializeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), SerializeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), SerializeError> {
        self.integer(value);
        self.check()
    }

    fn serialize_u128(self, value: u128) -> Result<(), SerializeError> {
        self.integer(value);
        self.check()
    }

    fn serialize_f32(self, value: f32) -> Result<(), SerializeError> {
        if !value.is_finite() {
            return Err(SerializeError::of(Fault::NonFiniteNumber));
        }
        self.float(value);
        self.check()
    }

    fn serialize_f64(self, value: f64) -> Result<(), SerializeError> {
        if !value.is_finite() {
            return Err(SerializeError::of(Fault::NonFiniteNumber));
        }
        self.float(value);
        self.check()
    }

    fn serialize_char(self, value: char) -> Result<(), SerializeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), SerializeError> {
        self.string(value);
        self.check()
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), SerializeError> {
        self.check_depth()?;
        self.open_array();
        for byte in value {
            self.integer(byte);
            self.check()?;
        }
        self.close();
        self.check()
    }

    fn serialize_none(self) -> Result<(), SerializeError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), SerializeError> {
        self.null();
        self.check()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SerializeError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerializeError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), SerializeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), SerializeError> {
        let mut object = Compound::object(self)?;
        ser::SerializeMap::serialize_entry(&mut object, variant, value)?;
        object.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w>, SerializeError> {
        Compound::array(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w>, SerializeError> {
        Compound::array(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>, SerializeError> {
        Compound::array(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, SerializeError> {
        let object = Compound::object(self)?;
        object.writer.string(variant);
        Ok(Compound { levels: 2, ..Compound::array(object.writer)? })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w>, SerializeError> {
        Compound::object(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'w>, SerializeError> {
        if name == RAW { Ok(Fields::Raw(self)) } else { Compound::object(self).map(Fields::Object) }
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, SerializeError> {
        let object = Compound::object(self)?;
        object.writer.string(variant);
        Ok(Compound { levels: 2, ..Compound::object(object.writer)? })
    }
}

/// An open array or object, or such a one inside the object that names an enum's variant.
pub(super) struct Compound<'w> {
    writer: &'w mut Writer,
    levels: u8,
}

impl<'w> Compound<'w> {
    fn array(writer: &'w mut Writer) -> Result<Self, SerializeError> {
        writer.check_depth()?;
        writer.open_array();
        Ok(Self { writer, levels: 1 })
    }

    fn object(writer: &'w mut Writer) -> Result<Self, SerializeError> {
        writer.check_depth()?;
        writer.open_object();
        Ok(Self { writer, levels: 1 })
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        value.serialize(&mut *self.writer)
    }

    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), SerializeError> {
        self.writer.string(key);
        value.serialize(&mut *self.writer)
    }

    fn finish(self) -> Result<(), SerializeError> {
        for _ in 0..self.levels {
            self.writer.check_members()?;
            self.writer.close();
        }
        self.writer.check()
    }
}

impl ser::SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

impl ser::SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerializeError> {
        key.serialize(Key(self.writer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.value(value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), SerializeError> {
        self.member(key, value)
    }

    fn end(self) -> Result<(), SerializeError> {
        self.finish()
    }
}

/// A struct: an object, or the envelope around a text that is JSON already.
pub(super) enum Fields<'w> {
    Object(Compound<'w>),
    Raw(&'w mut Writer),
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), SerializeError> {
        match self {
            Self::Object(object) => object.member(key, value),
            Self::Raw(writer) => value.serialize(TextOnly(|json: &str| writer.raw(json))),
        }
    }

    fn end(self) -> Result<(), SerializeError> {
        match self {
            Self::Object(object) => object.finish(),
            Self::Raw(_) => Ok(()),
        }
    }
}
