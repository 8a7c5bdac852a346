//! What a text says once its escapes are undone.
//!
//! An encoder is free to escape more than it must, so a value has more escaped forms than could be listed; undone, they
//! are all the same.

/// One way of escaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// `%2F`, in URLs (RFC 3986, section 2.1).
    Percent,
    /// `%2F`, and `+` for a blank: what HTML forms send.
    Form,
    /// `\/`, `\n`, `\x2f`, `\u002f` and `\u{2f}`: JSON, and how programming languages print strings.
    Backslash,
    /// `&amp;`, `&#47;` and `&#x2F;`: HTML and XML.
    Entity,
}

/// A text without its escapes, and where each of its bytes came from.
#[derive(Debug)]
pub(crate) struct Unescaped {
    pub(crate) bytes: Vec<u8>,
    /// Where each byte began in the text that was first read; the last entry is that text's end.
    starts: Vec<usize>,
}

impl Unescaped {
    /// Undoes one escape in a text; `None` when it does not stand in it.
    pub(crate) fn undo_in(text: &str, escape: Escape) -> Option<Self> {
        undo(text.as_bytes(), escape, |place| place)
    }

    /// Undoes one more.
    pub(crate) fn undo(&self, escape: Escape) -> Option<Self> {
        undo(&self.bytes, escape, |place| self.starts[place])
    }

    /// Where a byte, or the end, was in the text that was first read.
    pub(crate) fn place(&self, index: usize) -> usize {
        self.starts[index]
    }
}

fn undo(text: &[u8], escape: Escape, place: impl Fn(usize) -> usize) -> Option<Unescaped> {
    let trigger = match escape {
        Escape::Percent => b'%',
        Escape::Form => b'+',
        Escape::Backslash => b'\\',
        Escape::Entity => b'&',
    };
    memchr::memchr(trigger, text)?;
    let mut out = Unescaped { bytes: Vec::with_capacity(text.len()), starts: Vec::with_capacity(text.len() + 1) };
    let mut undone = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let read = match (escape, byte) {
            (Escape::Percent | Escape::Form, b'%') => percent(&text[at..]),
            (Escape::Form, b'+') => Some((Letter::Byte(b' '), 1)),
            (Escape::Backslash, b'\\') => backslash(&text[at..]),
            (Escape::Entity, b'&') => entity(&text[at..]),
            _ => None,
        };
        undone |= read.is_some();
        let (letter, length) = read.unwrap_or((Letter::Byte(byte), 1));
        match letter {
            Letter::Byte(byte) => out.bytes.push(byte),
            Letter::Char(letter) => out.bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        out.starts.resize(out.bytes.len(), place(at));
        at += length;
    }
    out.starts.push(place(at));
    undone.then_some(out)
}

/// What one escape stands for.
enum Letter {
    /// One byte, which may be a part of a character.
    Byte(u8),
    Char(char),
}

/// Reads one escape at the start of a text: what it stands for, and how many bytes it takes.
type Read = Option<(Letter, usize)>;

fn percent(text: &[u8]) -> Read {
    let value = number(text.get(1..3)?, 16)?;
    Some((Letter::Byte(u8::try_from(value).ok()?), 3))
}

fn backslash(text: &[u8]) -> Read {
    let letter = match *text.get(1)? {
        quoted @ (b'"' | b'\'' | b'\\' | b'/') => char::from(quoted),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'x' => return Some((Letter::Char(char::from_u32(number(text.get(2..4)?, 16)?)?), 4)),
        b'u' if text.get(2) == Some(&b'{') => {
            let digits = text.get(3..)?.iter().take(7).position(|&byte| byte == b'}')?;
            return Some((Letter::Char(char::from_u32(number(&text[3..3 + digits], 16)?)?), digits + 4));
        }
        b'u' => return utf16(text),
        _ => return None,
    };
    Some((Letter::Char(letter), 2))
}

/// `\u00e9`, or two of them that are one character.
fn utf16(text: &[u8]) -> Read {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::try_from(number(digits, 16)?).ok()
    };
    let first = unit(0)?;
    let second = unit(6).filter(|_| char::from_u32(first.into()).is_none());
    let length = if second.is_some() { 12 } else { 6 };
    let letter = char::decode_utf16(std::iter::once(first).chain(second)).next()?.ok()?;
    Some((Letter::Char(letter), length))
}

fn entity(text: &[u8]) -> Read {
    const LONGEST: usize = 10;
    let end = text.iter().take(LONGEST).position(|&byte| byte == b';')?;
    let letter = match &text[1..end] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, 16)?)?,
        [b'#', digits @ ..] => char::from_u32(number(digits, 10)?)?,
        _ => return None,
    };
    Some((Letter::Char(letter), end + 1))
}

/// A number of at most eight digits; no sign, no blank.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| (1..=8).contains(&digits.len()))?;
    digits.chars().try_fold(0_u32, |value, digit| value.checked_mul(radix)?.checked_add(digit.to_digit(radix)?))
}

#[cfg(test)]
mod tests;
