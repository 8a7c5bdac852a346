//! A [`Document`] inside other serde values.
//!
//! Between formats that can carry a text as it is, it travels by `serde_json`'s raw-value
//! protocol: a struct (or newtype) of a certain name whose one member is the JSON text. So
//! `serde_json::to_string` and [`Document::from_serialize`] splice the exact text in, and
//! `serde_json::from_str` and [`super::Node::decode`] hand it over exactly. Everywhere else the
//! value is read piece by piece, as precisely as that format tells it.
//!
//! `serde_json::to_value` is no such format: it parses the text into its own numbers. Use
//! [`Document::to_json_value`].

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::node::Node;
use super::write::Writer;
use super::{Document, Limits};

/// The name of `serde_json`'s raw-value protocol. A test holds it against
/// `serde_json::value::RawValue`.
pub(super) const RAW: &str = "$serde_json::private::RawValue";

/// The one member of the map that the `toml` crate makes of a date.
const TOML_DATE: &str = "$__toml_private_datetime";

/// Whether a key is some crate's private signal between its serializer and its deserializer.
pub(super) fn is_private_signal(key: &str) -> bool {
    const PREFIXES: [&str; 3] = ["$serde_json::private::", "$__toml_private_", "$__serde_spanned_private_"];
    key.starts_with('$') && PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// The exact text, where the format can carry it.
impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(self.text(), serializer)
    }
}

/// The exact text, where the format can carry it.
impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(self.raw(), serializer)
    }
}

fn serialize_raw<S: Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut envelope = serializer.serialize_struct(RAW, 1)?;
    envelope.serialize_field(RAW, json)?;
    envelope.end()
}

/// The exact text, where the format can carry it. A TOML date becomes a string.
impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut writer = Writer::new(Limits::OWN);
        let copy = Copy { writer: &mut writer, may_be_raw: true };
        deserializer.deserialize_newtype_struct(RAW, copy)?;
        writer.check_complete().map_err(de::Error::custom)?;
        Ok(writer.into_document())
    }
}

/// Copies whatever a deserializer holds onto a writer.
struct Copy<'w> {
    writer: &'w mut Writer,
    /// Only the deserializer that was asked for a raw value can answer with one. Below it, the
    /// same key would come from the input.
    may_be_raw: bool,
}

impl Copy<'_> {
    fn inner(&mut self) -> Copy<'_> {
        Copy { writer: self.writer, may_be_raw: false }
    }

    fn written<E: de::Error>(self) -> Result<(), E> {
        self.writer.check().map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Copy<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copy<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.inner().deserialize(deserializer)
    }

    fn visit_some<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<(), D::Error> {
        self.inner().deserialize(deserializer)
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.writer.null();
        self.written()
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.writer.boolean(value);
        self.written()
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.writer.integer(value);
        self.written()
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.writer.integer(value);
        self.written()
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<(), E> {
        self.writer.integer(value);
        self.written()
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<(), E> {
        self.writer.integer(value);
        self.written()
    }

    fn visit_f32<E: de::Error>(self, value: f32) -> Result<(), E> {
        if !value.is_finite() {
            return Err(not_finite());
        }
        self.writer.float(value);
        self.written()
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        if !value.is_finite() {
            return Err(not_finite());
        }
        self.writer.float(value);
        self.written()
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.writer.string(value);
        self.written()
    }

    fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<(), E> {
        self.writer.check_depth().map_err(E::custom)?;
        self.writer.open_array();
        for byte in value {
            self.writer.integer(byte);
        }
        self.writer.close();
        self.written()
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        self.writer.check_depth().map_err(de::Error::custom)?;
        self.writer.open_array();
        while elements.next_element_seed(self.inner())?.is_some() {}
        self.writer.close();
        self.written()
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let mut key: Option<String> = members.next_key()?;
        match key.as_deref() {
            Some(RAW) if self.may_be_raw => {
                let json: String = members.next_value()?;
                return self.writer.raw(&json).map_err(de::Error::custom);
            }
            Some(TOML_DATE) => {
                let date: String = members.next_value()?;
                if members.next_key::<String>()?.is_some() {
                    return Err(private_signal(TOML_DATE));
                }
                return self.visit_str(&date);
            }
            _ => {}
        }
        self.writer.check_depth().map_err(de::Error::custom)?;
        self.writer.open_object();
        while let Some(name) = key {
            if is_private_signal(&name) {
                return Err(private_signal(&name));
            }
            self.writer.string(&name);
            members.next_value_seed(self.inner())?;
            key = members.next_key()?;
        }
        self.writer.check_members().map_err(de::Error::custom)?;
        self.writer.close();
        self.written()
    }
}

fn not_finite<E: de::Error>() -> E {
    E::custom("a number is not finite")
}

/// The error for a key that some crate would take for its own.
pub(super) fn private_signal<E: de::Error>(key: &str) -> E {
    E::custom(format_args!("the key `{key}` is reserved"))
}
