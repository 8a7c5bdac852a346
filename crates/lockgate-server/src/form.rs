//! What a form of a browser sends (`application/x-www-form-urlencoded`).

use std::collections::BTreeMap;

/// The most fields of a form.
const MOST: usize = 16;

/// The fields of a form.
#[derive(Debug)]
pub(crate) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads a form. A field that stands twice, or too many of them, make it none.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let text = str::from_utf8(body).ok()?;
        let mut fields = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if fields.insert(decoded(name), decoded(value)).is_some() || fields.len() > MOST {
                return None;
            }
        }
        Some(Self(fields))
    }

    /// What stands in a field; nothing where it is not there or blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// A name or a value without its escapes. What is no escape stands for itself, and what is not UTF-8 is replaced.
pub(crate) fn decoded(text: &str) -> String {
    let digit =
        |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16)).and_then(|it| u8::try_from(it).ok());
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match (byte, digit(bytes.get(at)), digit(bytes.get(at + 1))) {
            (b'%', Some(high), Some(low)) => {
                plain.push(high << 4 | low);
                at += 2;
            }
            (b'+', ..) => plain.push(b' '),
            _ => plain.push(*byte),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests;
