//! The forms that one known value takes when texts are quoted, encoded or packed.

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use base64::engine::{Engine, GeneralPurpose};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

/// One text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    pub(crate) text: String,
    /// Whether the character before the needle holds bits of the secret too (base64 off the three-byte grid).
    pub(crate) bits_before: bool,
    /// Whether the character after the needle does.
    pub(crate) bits_after: bool,
}

/// What RFC 3986 leaves alone.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What JavaScript's `encodeURIComponent` leaves alone.
const COMPONENT: AsciiSet = UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
/// What encoders of whole paths leave alone.
const PATH: AsciiSet = UNRESERVED.remove(b'/');
/// What HTML forms encode (blanks become `+`, see below).
const FORM: AsciiSet = NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');
/// The query set of the WHATWG URL standard.
const QUERY: AsciiSet = CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
/// The userinfo set of the WHATWG URL standard.
const USERINFO: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'=')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'|');

/// Every form of a value that is searched for, without repeats: raw, in JSON (once and twice), in HTML, in URLs, in
/// hexadecimal and in base64 at each of its three phases.
pub(crate) fn needles(value: &str) -> Vec<Needle> {
    let mut needles = Needles::default();
    needles.plain(value.to_owned());
    for style in JsonStyle::ALL {
        let once = json_escaped(value, style);
        needles.plain(json_escaped(&once, style));
        needles.plain(once);
    }
    needles.plain(html_escaped(value));
    for set in [NON_ALPHANUMERIC, &UNRESERVED, &COMPONENT, &PATH, &QUERY, &USERINFO, &FORM] {
        needles.url(percent_encode(value.as_bytes(), set).to_string());
    }
    needles.url(percent_encode(value.as_bytes(), &FORM).to_string().replace("%20", "+"));
    let hexadecimal: String =
        value.bytes().flat_map(|byte| [byte >> 4, byte & 0xf]).filter_map(|digit| hex_digit(digit.into())).collect();
    needles.plain(hexadecimal.to_ascii_uppercase());
    needles.plain(hexadecimal);
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for phase in 0..3 {
            needles.add(base64_interior(value, phase, engine));
        }
    }
    needles.0
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

/// How an encoder writes JSON strings.
#[derive(Debug, Clone, Copy)]
enum JsonStyle {
    /// Only what must be escaped.
    Minimal,
    /// Also `/`.
    Slashes,
    /// Also `<`, `>` and `&`, as `\u003c`.
    Html,
    /// Also everything that is not ASCII.
    Ascii,
}

impl JsonStyle {
    const ALL: [Self; 4] = [Self::Minimal, Self::Slashes, Self::Html, Self::Ascii];

    fn escapes(self, letter: char) -> bool {
        match self {
            Self::Minimal | Self::Slashes => false,
            Self::Html => matches!(letter, '<' | '>' | '&'),
            Self::Ascii => !letter.is_ascii(),
        }
    }
}

fn json_escaped(value: &str, style: JsonStyle) -> String {
    let mut out = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if matches!(style, JsonStyle::Slashes) => out.push_str("\\/"),
            _ if letter.is_control() && letter.is_ascii() || style.escapes(letter) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    out.push_str("\\u");
                    out.extend([12, 8, 4, 0].into_iter().filter_map(|shift| hex_digit((*unit >> shift) & 0xf)));
                }
            }
            _ => out.push(letter),
        }
    }
    out
}

fn hex_digit(value: u16) -> Option<char> {
    char::from_digit(value.into(), 16)
}

fn html_escaped(value: &str) -> String {
    value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[derive(Default)]
struct Needles(Vec<Needle>);

impl Needles {
    fn add(&mut self, needle: Needle) {
        if !self.0.contains(&needle) {
            self.0.push(needle);
        }
    }

    fn plain(&mut self, text: String) {
        self.add(Needle { text, bits_before: false, bits_after: false });
    }

    /// A percent-encoded text with its digits in both cases.
    fn url(&mut self, upper: String) {
        let mut lower = String::with_capacity(upper.len());
        let mut digits_left = 0;
        for letter in upper.chars() {
            if letter == '%' {
                digits_left = 2;
                lower.push(letter);
            } else if digits_left > 0 {
                digits_left -= 1;
                lower.push(letter.to_ascii_lowercase());
            } else {
                lower.push(letter);
            }
        }
        self.plain(lower);
        self.plain(upper);
    }
}

#[cfg(test)]
mod tests;
