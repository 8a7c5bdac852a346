//! Takes the widths of Rust's numbers out of a schema.
//!
//! schemars notes `"format": "int32"` and the like, which JSON Schema does not know. A narrow width is said as a range, which
//! every validator and every model understands. The ranges of 64 and 128 bits are left unsaid: they do not survive clients
//! that read numbers as binary64, they cost prompt space for each field, and decoding refuses what does not fit anyway.

use schemars::Schema;
use serde_json::Value;

/// Replaces the number format of one schema, if it has one.
pub(super) fn replace(schema: &mut Schema) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    let range: Option<(i64, i64)> = match format {
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "int" | "int64" | "int128" | "uint" | "uint64" | "uint128" | "float" | "double" => None,
        _ => return,
    };
    schema.remove("format");
    let Some((least, most)) = range else { return };
    let object = schema.ensure_object();
    // A range that the author gave (`#[schemars(range(…))]`) is the narrower one, and stays.
    if !object.contains_key("exclusiveMinimum") {
        object.entry("minimum").or_insert_with(|| least.into());
    }
    if !object.contains_key("exclusiveMaximum") {
        object.entry("maximum").or_insert_with(|| most.into());
    }
}
