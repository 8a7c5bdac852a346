//! Any bytes as a text and back, so that what is no UTF-8 passes unchanged.
//!
//! A byte that is part of no character is shown to the searchers as one of the last 128 code points, which are for private
//! use; such a code point in the text itself is taken for four such bytes. So nothing is lost and nothing is mistaken.

/// Stands for the byte 0x80; the others follow.
const FIRST: u32 = 0x10_ff80;
/// What the code points from [`FIRST`] on begin with in UTF-8, and few others do.
const PREFIX: &[u8] = &[0xf4, 0x8f];

/// Turns bytes into text, whatever they are cut into.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose rest has not come.
    rest: Vec<u8>,
}

impl Decoder {
    pub(super) fn decode(&mut self, bytes: &[u8], text: &mut String) {
        let joined;
        let mut bytes = if self.rest.is_empty() {
            bytes
        } else {
            joined = [&std::mem::take(&mut self.rest), bytes].concat();
            &joined
        };
        loop {
            match std::str::from_utf8(bytes) {
                Ok(valid) => return push(valid, text),
                Err(error) => {
                    let (valid, other) = bytes.split_at(error.valid_up_to());
                    push(std::str::from_utf8(valid).unwrap_or_default(), text);
                    let Some(length) = error.error_len() else {
                        other.clone_into(&mut self.rest);
                        return;
                    };
                    text.extend(other[..length].iter().map(|byte| stand_in(*byte)));
                    bytes = &other[length..];
                }
            }
        }
    }

    /// No more bytes come.
    pub(super) fn end(&mut self, text: &mut String) {
        text.extend(std::mem::take(&mut self.rest).iter().map(|byte| stand_in(*byte)));
    }
}

/// Adds the bytes that a text stands for.
pub(super) fn encode(text: &str, out: &mut Vec<u8>) {
    if memchr::memmem::find(text.as_bytes(), PREFIX).is_none() {
        return out.extend_from_slice(text.as_bytes());
    }
    for letter in text.chars() {
        match u32::from(letter).checked_sub(FIRST).and_then(|above| u8::try_from(above).ok()) {
            Some(above) => out.push(0x80 + above),
            None => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn push(valid: &str, text: &mut String) {
    if memchr::memmem::find(valid.as_bytes(), PREFIX).is_none() {
        return text.push_str(valid);
    }
    for letter in valid.chars() {
        if u32::from(letter) < FIRST {
            text.push(letter);
        } else {
            text.extend(letter.encode_utf8(&mut [0; 4]).bytes().map(stand_in));
        }
    }
}

/// What a byte from 0x80 on is shown as; no other byte is ever part of no character.
fn stand_in(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte & 0x7f)).unwrap_or(char::REPLACEMENT_CHARACTER)
}
