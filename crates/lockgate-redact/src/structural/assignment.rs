//! `key=value` and `key: value` where the key's name says that the value is a secret: environment files, YAML, JSON
//! inside other texts, query strings, headers, source code.
//!
//! Texts of machines are full of such keys with harmless values (`password: String`, `token = self.token`,
//! `password: must have 8 characters`), so a value without quotes must look like a secret; a value in quotes, or of an
//! environment variable, is one unless it is a placeholder.

use std::ops::Range;

use crate::boundary::skip_escape;
use crate::effort::Effort;
use crate::finding::{Finding, Rank};
use crate::key_names::{KeyKind, classify, is_variable_name};
use crate::placeholder::is_placeholder;
use crate::structural::authorization;

/// How far a key or a value is followed.
const LONGEST_KEY: usize = 96;
pub(crate) const LONGEST_VALUE: usize = 8192;

/// The value of the key of which a stem stands at `at`.
pub(crate) fn find<'t>(text: &'t str, at: usize, effort: &mut Effort) -> Option<Finding<'t>> {
    let key = key_around(text.as_bytes(), at)?;
    let kind = classify(&text[key.clone()])?;
    // `Error::Token => "…"` names a variant.
    if text[..key.start].ends_with("::") {
        return None;
    }
    let separator = separator_after(text.as_bytes(), &key)?;
    let value = Assignment { text, key, kind, separator }.secret(effort)?;
    Some(Finding::part(text, value, kind.label(), Rank::Context))
}

/// The whole key name around a place inside it.
fn key_around(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = bytes[..at].iter().rev().take(LONGEST_KEY).take_while(part).count();
    let after = bytes[at..].iter().take(LONGEST_KEY).take_while(part).count();
    let start = skip_escape(bytes, at - before);
    (start <= at && after < LONGEST_KEY).then_some(start..at + after)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    Colon,
    /// The `>` of an element's opening tag.
    Tag,
}

#[derive(Debug, Clone, Copy)]
struct Separator {
    sign: Sign,
    /// Where the value, or its opening quote, begins.
    end: usize,
    /// Whether the key stands in quotes.
    quoted_key: bool,
    /// Whether a blank stands on either side of the sign.
    spaced: bool,
}

fn separator_after(bytes: &[u8], key: &Range<usize>) -> Option<Separator> {
    let mut at = key.end;
    let quote = quote_at(bytes, at);
    // `"a sentence about a secret": …` has a key of many words.
    if quote.is_some() && key.start.checked_sub(1).is_some_and(|before| bytes[before] == b' ') {
        return None;
    }
    at += quote.map_or(0, Quote::len);
    if quote.is_some() && bytes.get(at) == Some(&b']') {
        at += 1;
    }
    let blanks = blanks_at(bytes, at);
    at += blanks;
    let (sign, length) = match bytes.get(at..)? {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => return None,
        // In source code, what stands before `=>` without quotes or a colon is a pattern.
        [b'=', b'>', ..] if quote.is_none() && !bytes[..key.start].ends_with(b":") => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => (Sign::Equals, 2),
        [b'=', ..] => (Sign::Equals, 1),
        [b':', ..] => (Sign::Colon, 1),
        [b'>', ..] if bytes[..key.start].ends_with(b"<") => (Sign::Tag, 1),
        _ => return None,
    };
    at += length;
    let blanks_behind = blanks_at(bytes, at);
    Some(Separator { sign, end: at + blanks_behind, quoted_key: quote.is_some(), spaced: blanks + blanks_behind > 0 })
}

/// A quote sign as it stands in a text, perhaps escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    Plain(u8),
    Escaped(u8),
}

impl Quote {
    fn len(self) -> usize {
        match self {
            Self::Plain(_) => 1,
            Self::Escaped(_) => 2,
        }
    }
}

fn quote_at(bytes: &[u8], at: usize) -> Option<Quote> {
    match bytes.get(at..)? {
        [b'\\', sign @ (b'"' | b'\''), ..] => Some(Quote::Escaped(*sign)),
        [sign @ (b'"' | b'\'' | b'`'), ..] => Some(Quote::Plain(*sign)),
        _ => None,
    }
}

fn blanks_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take(16).take_while(|&&byte| byte == b' ' || byte == b'\t').count()
}

struct Assignment<'t> {
    text: &'t str,
    key: Range<usize>,
    kind: KeyKind,
    separator: Separator,
}

impl Assignment<'_> {
    /// Which part of the text is the secret, if there is one.
    fn secret(&self, effort: &mut Effort) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let start = self.separator.end;
        if self.separator.sign == Sign::Tag {
            // Only with its closing tag: `Vec<Token>` opens no element.
            let length = bytes[start..].iter().take(LONGEST_VALUE).position(|&byte| byte == b'<')?;
            let closing = self.text[start + length..].strip_prefix("</")?;
            return closing
                .starts_with(&self.text[self.key.clone()])
                .then(|| self.accept(start..start + length, true))?;
        }
        // `b"…"`, `f'…'` and the like.
        let prefix = usize::from(
            bytes.get(start).is_some_and(|byte| matches!(byte, b'b' | b'f' | b'r' | b'u' | b'@'))
                && matches!(quote_at(bytes, start + 1), Some(Quote::Plain(_))),
        );
        let quote = quote_at(bytes, start + prefix);
        let whole_line = matches!(self.kind, KeyKind::Authorization | KeyKind::Cookie);
        let value = match quote {
            Some(quote) => self.quoted(start + prefix + quote.len(), quote)?,
            None if whole_line => self.rest_of_line(start),
            None => start..self.end_of_unquoted(start),
        };
        if !effort.allows(value.len()) {
            return Some(value);
        }
        let convincing = quote.is_some() || whole_line || self.is_convincing(&value);
        convincing.then(|| self.accept(value, quote.is_some()))?
    }

    /// What goes of a whole value.
    fn accept(&self, value: Range<usize>, quoted: bool) -> Option<Range<usize>> {
        let text = &self.text[value.clone()];
        if is_placeholder(text) {
            return None;
        }
        match self.kind {
            KeyKind::Authorization => {
                let found = authorization::credential(text, quoted && self.separator.quoted_key)?;
                Some(value.start + found.start..value.start + found.end)
            }
            KeyKind::Cookie if !quoted && !begins_with_pair(text) => None,
            _ if text.eq_ignore_ascii_case(&self.text[self.key.clone()]) => None,
            KeyKind::Password if is_directory_variable(&self.text[self.key.clone()], text) => None,
            _ => Some(value),
        }
    }

    /// The inside of quotes. A value that was cut off ends with its line.
    fn quoted(&self, start: usize, quote: Quote) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let first = bytes.get(start)?;
        // In `"label=",` the quote behind the sign closes; it opens nothing.
        let closes = !self.separator.quoted_key && (first.is_ascii_whitespace() || b",;:)]}+.".contains(first));
        if closes || self.is_remark() {
            return None;
        }
        let mut at = start;
        let limit = self.text.floor_char_boundary(start.saturating_add(LONGEST_VALUE));
        while at < limit {
            match (quote, bytes[at]) {
                (_, b'\n' | b'\r') => break,
                (Quote::Plain(sign), byte) if byte == sign => break,
                (Quote::Escaped(sign), b'\\') if bytes.get(at + 1) == Some(&sign) => break,
                // A bare quote ends the string around an escaped one.
                (Quote::Escaped(sign), byte) if byte == sign => break,
                (_, b'\\') if at + 1 < limit => at += 1 + self.text[at + 1..].chars().next().map_or(0, char::len_utf8),
                _ => at += 1,
            }
        }
        Some(start..self.text.floor_char_boundary(at.min(limit)))
    }

    /// `unexpected token: "…"`: a message about a piece of text.
    fn is_remark(&self) -> bool {
        let before = &self.text[..self.key.start];
        let words_before =
            before.strip_suffix(' ').is_some_and(|before| before.ends_with(|last: char| last.is_ascii_alphabetic()));
        &self.text[self.key.clone()] == "token" && self.separator.sign == Sign::Colon && words_before
    }

    fn rest_of_line(&self, start: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let limit = self.text.floor_char_boundary(start.saturating_add(LONGEST_VALUE));
        // In `-H "Authorization: …"` the quote before the key ends the value; without one, quotes belong to it.
        let around = self
            .key
            .start
            .checked_sub(1)
            .map(|before| bytes[before])
            .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let line = &bytes[start..limit];
        let line = &line[..memchr::memchr3(b'\n', b'\r', b'\\', line).unwrap_or(line.len())];
        let quote = match around {
            Some(sign) => memchr::memchr(sign, line),
            None => memchr::memchr2(b'"', b'\'', line),
        };
        start..start + quote.unwrap_or(line.len())
    }

    /// `NAME=value` without blanks, as in environment files.
    fn is_variable(&self) -> bool {
        is_variable_name(&self.text[self.key.clone()]) && self.separator.sign == Sign::Equals && !self.separator.spaced
    }

    fn end_of_unquoted(&self, start: usize) -> usize {
        let variable = self.is_variable();
        let ends = |byte: &u8| *byte <= b' ' || b"\"'`\\".contains(byte) || (!variable && b",;&<>)}]|".contains(byte));
        let limit = self.text.floor_char_boundary(start.saturating_add(LONGEST_VALUE));
        let value = &self.text.as_bytes()[start..limit];
        start + value.iter().position(ends).unwrap_or(value.len())
    }

    /// Whether a value without quotes looks like a secret.
    fn is_convincing(&self, value: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let end = value.end;
        let value = &self.text[value.clone()];
        let before = self.key.start.checked_sub(1).map(|before| bytes[before]);
        let variable = self.is_variable();
        let shape = Shape::of(value);
        let is_code = if variable { value.is_empty() || value.starts_with(['$', '(', '<']) } else { shape.is_code };
        if is_code || (shape.is_number && value.len() < 6) {
            return false;
        }
        let in_query = matches!(before, Some(b'?' | b'&' | b';'));
        let at_line_start = matches!(before, None | Some(b'\n' | b'"' | b'\''));
        let behind = bytes.get(end).copied();
        match self.separator.sign {
            Sign::Equals if variable || in_query => true,
            Sign::Equals if !self.separator.spaced => {
                !shape.is_path_of_names
                    && (shape.has_digit || shape.has_symbol || (at_line_start && !matches!(behind, Some(b',' | b')'))))
            }
            _ => {
                let line_ends = self.line_ends_at(end);
                let length_needed = if line_ends { 6 } else { 8 };
                // `TOKEN: u32_alias = …` has a type where a value would be.
                let typed = self.text[end..].trim_start_matches([' ', '\t']).starts_with(['=', '{', '|', '<']);
                !typed
                    && before != Some(b'/')
                    && !value.contains("::")
                    && !shape.is_number
                    && !shape.is_path_of_names
                    && !shape.is_location
                    && shape.has_letter
                    && (shape.has_digit || shape.has_symbol)
                    && value.len() >= length_needed
            }
        }
    }

    /// Whether nothing but a comma, a closing quote or a comment follows in the line.
    fn line_ends_at(&self, at: usize) -> bool {
        let rest = &self.text.as_bytes()[at..];
        let rest = rest.strip_prefix(b",").unwrap_or(rest);
        let blanks = rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        matches!(rest.get(blanks), None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'#'))
    }
}

/// What an unquoted value looks like.
#[expect(clippy::struct_excessive_bools, reason = "each answers one question about a text, on its own")]
struct Shape {
    has_letter: bool,
    has_digit: bool,
    /// One of the signs that passwords and tokens have and names do not.
    has_symbol: bool,
    /// Digits and dots only.
    is_number: bool,
    /// A call, an index, an interpolation.
    is_code: bool,
    /// Names joined by dots, as in `settings.token2`.
    is_path_of_names: bool,
    /// A URL or a path of files.
    is_location: bool,
}

impl Shape {
    fn of(value: &str) -> Self {
        let has = |test: fn(u8) -> bool| value.bytes().any(test);
        let is_name = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && part.len() <= 24
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        Self {
            has_letter: has(|byte| byte.is_ascii_alphabetic()),
            has_digit: has(|byte| byte.is_ascii_digit()),
            has_symbol: has(|byte| b"!#%^+=~?/".contains(&byte)),
            is_number: value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
            is_code: value.is_empty()
                || value.starts_with(['$', '&', '*', '[', '{', '('])
                || has(|byte| b"([{".contains(&byte)),
            is_path_of_names: value.contains('.') && value.split('.').all(is_name),
            is_location: value.starts_with(['/', '~'])
                || value.starts_with("./")
                || value.starts_with("../")
                || value.contains("://"),
        }
    }
}

/// `PWD` is the working directory more often than a password.
pub(crate) fn is_directory_variable(key: &str, value: &str) -> bool {
    let directory =
        value.starts_with(['/', '~', '.']) || value.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    directory && key.as_bytes().last_chunk::<3>().is_some_and(|end| end.eq_ignore_ascii_case(b"pwd"))
}

/// `name=value`, the beginning of a cookie.
fn begins_with_pair(text: &str) -> bool {
    text.trim_start().split_once('=').is_some_and(|(name, value)| {
        !name.is_empty() && !value.is_empty() && !name.contains([' ', '(', '.', '"', '\''])
    })
}

#[cfg(test)]
mod tests;
