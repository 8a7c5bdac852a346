//! From and to `serde_json::Value`, for code that knows nothing else.

use serde_json::{Map, Value};

use super::node::{Kind, Node};
use super::write::Writer;

/// Writes a value as it is.
pub(super) fn write(writer: &mut Writer, value: &Value) {
    match value {
        Value::Null => writer.null(),
        Value::Bool(value) => writer.boolean(*value),
        // A float's shortest decimal is not always unique: one printer for all of them, so that
        // one float has one digest.
        Value::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(integer), _) => writer.integer(integer),
            (None, Some(float)) => writer.float(float),
            // There is no other kind of number, and `serde_json` has no float that is not finite.
            (None, None) => writer.null(),
        },
        Value::String(string) => writer.string(string),
        Value::Array(elements) => {
            writer.open_array();
            for element in elements {
                write(writer, element);
            }
            writer.close();
        }
        Value::Object(members) => {
            writer.open_object();
            for (key, member) in members {
                writer.string(key);
                write(writer, member);
            }
            writer.close();
        }
    }
}

/// Copies a value member by member. Never through `serde_json`'s own parser, which would take some
/// keys for signals of its own.
pub(super) fn read(node: Node<'_>) -> Value {
    match node.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool().unwrap_or_default()),
        Kind::Number => node.as_number().and_then(|number| number.to_json_number()).map_or(Value::Null, Value::Number),
        Kind::String => Value::String(node.as_str().unwrap_or_default().into_owned()),
        Kind::Array => Value::Array(node.elements().map(read).collect()),
        Kind::Object => {
            Value::Object(node.members().map(|(key, member)| (key.into_owned(), read(member))).collect::<Map<_, _>>())
        }
    }
}
