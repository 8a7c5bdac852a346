//! JSON strings: reading their escapes, writing them, and the tokens of JSON pointers.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Resolves the escapes of what stands between the quotes.
///
/// INVARIANT: the parser has checked the escapes; one that is wrong all the same is kept as it is.
pub(super) fn unescape(quoted: &str) -> String {
    let mut plain = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        let (character, length) = read_escape(escape).unwrap_or(('\\', 1));
        plain.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The character that `text` begins with, written as an escape, and the length of the escape.
fn read_escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = hexadecimal_unit(text.as_bytes(), 2)?;
            if let Some(character) = char::from_u32(first.into()) {
                return Some((character, 6));
            }
            let second = hexadecimal_unit(text.as_bytes(), 8)?;
            let character = char::decode_utf16([first, second]).next()?.ok()?;
            return Some((character, 12));
        }
        other => char::from(*other),
    };
    Some((character, 2))
}

/// The UTF-16 unit that four hexadecimal digits name.
pub(super) fn hexadecimal_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0u16, |unit, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return None,
        };
        Some(unit << 4 | u16::from(value))
    })
}

/// Writes a string with its quotes, escaped as RFC 8785 §3.2.2.2 has it. Whether any escape was
/// needed.
pub(super) fn push_quoted(out: &mut String, value: &str) -> bool {
    // With room for what follows, so that a closing bracket does not double a long text.
    out.reserve(value.len() + 32);
    out.push('"');
    let mut rest = value;
    // What ends a plain run is a whole character below 0x80, so both sides of it are character bounds.
    while let Some((plain, special)) = split_plain(rest) {
        out.push_str(plain);
        push_escape(out, special);
        rest = rest.get(plain.len() + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
    rest.len() < value.len()
}

/// The run up to the first character that must be escaped, and that character; nothing where none must be.
#[inline]
fn split_plain(text: &str) -> Option<(&str, u8)> {
    let end = skip_plain(text.as_bytes(), 0);
    Some((text.get(..end)?, *text.as_bytes().get(end)?))
}

fn push_escape(out: &mut String, character: u8) {
    match character {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        0x8 => out.push_str("\\b"),
        b'\t' => out.push_str("\\t"),
        b'\n' => out.push_str("\\n"),
        0xc => out.push_str("\\f"),
        b'\r' => out.push_str("\\r"),
        control => {
            out.push_str(if control < 0x10 { "\\u000" } else { "\\u001" });
            out.push(char::from(b"0123456789abcdef"[usize::from(control & 0xf)]));
        }
    }
}

/// The first place from `at` on with a quote, a backslash or a control character.
#[inline]
pub(super) fn skip_plain(bytes: &[u8], mut at: usize) -> usize {
    // A long run in steps that the compiler makes vectors of: no early end inside a step.
    let (steps, _) = bytes.get(at..).unwrap_or_default().as_chunks::<32>();
    at += 32 * steps.iter().take_while(|step| !step.iter().fold(false, |any, byte| any | ends_plain(*byte))).count();
    while let Some(Ok(eight)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
        let found = special_bytes(u64::from_le_bytes(eight));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if ends_plain(*byte) {
            break;
        }
        at += 1;
    }
    at
}

/// Whether a byte must be escaped in a string, or ends it.
#[inline]
const fn ends_plain(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The top bit of each byte that ends a plain run. Bits above the lowest one may be false: a
/// borrow runs upward only.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = ONES << 7;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let quotes = zero_bytes(word ^ (ONES * 0x22));
    let backslashes = zero_bytes(word ^ (ONES * 0x5c));
    (controls | quotes | backslashes) & TOPS
}

/// The order of RFC 8785 §3.2.3: by UTF-16 code units, told from UTF-8 without converting.
///
/// Both encodings order characters alike, but for one case: the characters from U+E000 to U+FFFF
/// (first byte 0xEE or 0xEF) come after those beyond U+FFFF (first byte from 0xF0), which UTF-16
/// writes with surrogates from 0xD800. Where two texts differ there, they differ in that first byte.
pub(super) fn compare_utf16(left: &str, right: &str) -> Ordering {
    // A single ASCII text suffices: its byte at the difference is below all that are told apart here.
    if left.is_ascii() || right.is_ascii() {
        return left.cmp(right);
    }
    // Behind 0xF4, the highest first byte that there is.
    let rank = |byte: u8| if matches!(byte, 0xee | 0xef) { byte | 0x10 } else { byte };
    let differing = left.bytes().zip(right.bytes()).find(|(left, right)| left != right);
    match differing {
        Some((left, right)) => rank(left).cmp(&rank(right)),
        None => left.len().cmp(&right.len()),
    }
}

/// Appends one reference token of a JSON pointer (RFC 6901 §3).
pub(super) fn push_pointer_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Reads one reference token of a JSON pointer; none if a `~` is followed by anything but 0 or 1.
pub(super) fn read_pointer_token(token: &str) -> Option<Cow<'_, str>> {
    if !token.contains('~') {
        return Some(Cow::Borrowed(token));
    }
    let mut read = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        read.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(Cow::Owned(read))
}

/// The first part of a text, for a message to people.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}
