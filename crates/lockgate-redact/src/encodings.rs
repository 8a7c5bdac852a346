//! The forms that one known value takes when it is encoded.

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::engine::{Engine, GeneralPurpose};
use lockgate_contract::hexadecimal::digits;

/// One text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    pub(crate) text: String,
    /// Whether the character before the needle holds bits of the secret too (base64 off the three-byte grid).
    pub(crate) bits_before: bool,
    /// Whether the character after the needle does.
    pub(crate) bits_after: bool,
}

/// Every form of a value that is searched for, without repeats: raw, in hexadecimal and in base64 at each of its three
/// phases. Escaped forms are found where the escapes are undone, see [`crate::unescaped`].
pub(crate) fn needles(value: &str) -> Vec<Needle> {
    let hexadecimal = digits(value.as_bytes());
    let mut needles: Vec<Needle> = [value.to_owned(), hexadecimal.to_ascii_uppercase(), hexadecimal]
        .map(|text| Needle { text, bits_before: false, bits_after: false })
        .into();
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for phase in 0..3 {
            let needle = base64_interior(value, phase, engine);
            if !needles.contains(&needle) {
                needles.push(needle);
            }
        }
    }
    needles
}

/// The base64 characters that the value alone determines when `phase` unknown bytes stand before it in their group of
/// three, whatever follows.
fn base64_interior(value: &str, phase: usize, engine: &GeneralPurpose) -> Needle {
    let mut bytes = vec![0; phase];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = engine.encode(&bytes);
    let first = (phase * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    Needle {
        text: encoded.get(first..last).unwrap_or_default().to_owned(),
        bits_before: phase > 0,
        bits_after: !(bytes.len() * 8).is_multiple_of(6),
    }
}

#[cfg(test)]
mod tests;
