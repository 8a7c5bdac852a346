//! Bytes as hexadecimal digits, and back. Lower case only, so that a digest, a key and a signature have one spelling.

/// Two digits a byte.
pub fn digits(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of exactly so many lower-case digits.
pub fn bytes<const COUNT: usize>(digits: &str) -> Option<[u8; COUNT]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != COUNT {
        return None;
    }
    let mut bytes = [0; COUNT];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
