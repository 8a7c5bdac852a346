//! The arguments of one call as rules see them. Nothing is rounded and nothing is cut off: what Cedar cannot hold exactly is
//! not passed on, and a rule that reads it has no answer, which denies.

use lockgate_contract::document::{Kind, Node, Number};

use super::adapter::Value;
use super::shape::{Field, Type};

/// An argument that Cedar cannot hold.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    pub(super) path: String,
    pub(super) why: &'static str,
}

/// Why a value is none of its field: only arguments that no schema has seen have such.
pub(super) const OF_ANOTHER_TYPE: &str = "it is not of its declared type";

/// These fields of an object, as far as they are there.
pub(super) fn record<'f>(
    fields: impl IntoIterator<Item = &'f Field>,
    object: Node<'_>,
) -> Result<Vec<(String, Value)>, Unfit> {
    let mut record = Vec::new();
    for field in fields {
        let node = match object.get(&field.name) {
            None => continue,
            Some(node) if node.is_null() && !field.required => continue,
            Some(node) => node,
        };
        match value(&field.kind, node) {
            Ok(value) => record.push((field.name.clone(), value)),
            Err(Unfit { path, why }) if path.is_empty() => return Err(Unfit { path: field.name.clone(), why }),
            Err(Unfit { path, why }) => return Err(Unfit { path: format!("{}.{path}", field.name), why }),
        }
    }
    Ok(record)
}

/// A value of its field's type.
pub(super) fn value(kind: &Type, node: Node<'_>) -> Result<Value, Unfit> {
    let other = || unfit(OF_ANOTHER_TYPE);
    match kind {
        Type::Bool => node.as_bool().map(Value::bool).ok_or_else(other),
        Type::String => node.as_str().map(|text| Value::string(&text)).ok_or_else(other),
        Type::Long => {
            let number = node.as_number().ok_or_else(other)?;
            number
                .as_i64()
                .map(Value::long)
                .ok_or_else(|| unfit("it is beyond the integers of 64 bits that rules compare"))
        }
        Type::Decimal => {
            let number = node.as_number().ok_or_else(other)?;
            decimal(number)
                .map(|text| Value::decimal(&text))
                .ok_or_else(|| unfit("it has more digits than the decimals that rules compare: four after the point"))
        }
        Type::Set(element) if node.kind() == Kind::Array => {
            let elements: Result<Vec<_>, _> = node.elements().map(|node| value(element, node)).collect();
            Ok(Value::set(elements?))
        }
        Type::Record(fields) if node.kind() == Kind::Object => Ok(Value::record(record(fields, node)?)),
        Type::Set(_) | Type::Record(_) => Err(other()),
    }
}

fn unfit(why: &'static str) -> Unfit {
    Unfit { path: String::new(), why }
}

/// The number as Cedar writes a decimal, if it is exactly one: up to four places after the point, and in all no more than 64
/// bits.
pub(super) fn decimal(number: Number<'_>) -> Option<String> {
    let text = number.decimal();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = whole.trim_start_matches('-');
    let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 4 || digits.len() > 15 || !plain(digits) || !plain(fraction) {
        return None;
    }
    let scaled: i128 = format!("{whole}{fraction:0<4}").parse().ok()?;
    i64::try_from(scaled).ok()?;
    Some(format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction }))
}

#[cfg(test)]
mod tests;
