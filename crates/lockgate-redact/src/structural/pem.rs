//! PEM private keys (RFC 7468), whole or cut off at either end.

use std::ops::Range;

use crate::finding::{Finding, Rank};

/// The label of the marker.
pub(crate) const LABEL: &str = "private_key";

/// What every marker begins with. Nothing reaches across one: what stood there was looked at with the rest when it went.
const MARKER: &str = "[redacted:";

/// No private key is longer.
const LONGEST: usize = 64 * 1024;
/// The dashes around a PEM label.
const DASHES: &str = "-----";
/// What stands between them is never longer.
const LONGEST_LABEL: usize = 40;
/// A line of a key's body is at least so long, unless it is the last.
const SHORTEST_LINE: usize = 16;

/// What stands in the first and in the last line of every key.
pub(crate) const WORDS: &[u8] = b"PRIVATE KEY";

/// The key in whose first or last line [`WORDS`] stand at `at`.
pub(crate) fn find(text: &str, at: usize) -> Option<Finding<'_>> {
    let (is_first, line) = line_around(text, at)?;
    let range =
        if is_first { line.start..end_of_key(text, line.end) } else { start_of_key(text, line.start)..line.end };
    // A first line with nothing behind it is a search pattern or a sentence, not a key.
    let bare = range == line;
    (!bare).then(|| Finding::part(text, range, LABEL, Rank::Shape))
}

/// The first (`true`) or last line of a key around [`WORDS`] at `at`.
fn line_around(text: &str, at: usize) -> Option<(bool, Range<usize>)> {
    let before_start = text.ceil_char_boundary(at.saturating_sub(LONGEST_LABEL));
    let start = before_start + text[before_start..at].rfind(DASHES)?;
    let end = at + within(&text[at..], LONGEST_LABEL).find(DASHES)? + DASHES.len();
    if text[start..end].contains(MARKER) {
        return None;
    }
    match text[start..at].strip_prefix(DASHES)?.split(' ').next()? {
        "BEGIN" => Some((true, start..end)),
        "END" => Some((false, start..end)),
        _ => None,
    }
}

/// Where the body of the key begins in whose first line [`WORDS`] stand at `at`.
pub(crate) fn body_start(text: &str, at: usize) -> Option<usize> {
    line_around(text, at).filter(|(is_first, _)| *is_first).map(|(_, line)| line.end)
}

/// Whether the key with this body, as far as it has come, can be another one when more comes.
pub(crate) fn may_go_on(body: &str) -> bool {
    if body.len() > LONGEST + LONGEST_LABEL + DASHES.len() || body.contains("-----BEGIN") {
        return false;
    }
    body.find("-----END").is_none_or(|end| {
        let label = &body[end + "-----END".len()..];
        label.len() < LONGEST_LABEL + DASHES.len() && !label.contains(DASHES)
    })
}

/// What a part of a line is to a key whose last line comes below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// Nothing: the key may go on above it.
    Blank,
    /// Perhaps the last row of the body, which may be short.
    Short,
    /// Perhaps a row of the body.
    Long,
    /// No part of a key: it begins below.
    Other,
}

/// What the parts of a line are, in order.
pub(crate) fn rows(line: &str) -> impl Iterator<Item = Row> {
    Lines(line, 0..line.len()).map(|part| match content(&line[part]) {
        "" => Row::Blank,
        content if !is_base64(content) => Row::Other,
        content if content.len() < SHORTEST_LINE => Row::Short,
        _ => Row::Long,
    })
}

/// The end of the last line, or the last place that still looks like a key when that line was cut off.
fn end_of_key(text: &str, body_start: usize) -> usize {
    let body = within(&text[body_start..], LONGEST);
    // Another key ends this one, also where it has been replaced: else each look would find more than the one before.
    let body = &body[..body.find("-----BEGIN").unwrap_or(body.len())];
    let body = &body[..body.find(MARKER).unwrap_or(body.len())];
    let whole = body.find("-----END").filter(|&end| {
        // Source code that names both lines has no key between them.
        Lines(body, 0..end).any(|line| is_long_base64(content(&body[line])))
    });
    if let Some(found) = whole {
        let label = found + "-----END".len();
        let close = within(&body[label..], LONGEST_LABEL).find(DASHES).map_or(0, |close| close + DASHES.len());
        return body_start + label + close;
    }
    let mut end = 0;
    for line in Lines(body, 0..body.len()) {
        let content = content(&body[line.clone()]);
        if content.is_empty() || is_header(content) {
            continue;
        }
        let short = content.len() < SHORTEST_LINE;
        if !is_base64(content) || (short && end == 0) {
            break;
        }
        end = line.end;
        if short {
            break;
        }
    }
    body_start + end
}

/// The first place that looks like a key, upwards from its last line.
fn start_of_key(text: &str, last_line: usize) -> usize {
    let from = earliest_start(text, last_line);
    let body = &text[from..last_line];
    let mut start = last_line;
    for line in Lines(body, 0..body.len()).rev() {
        let content = content(&body[line.clone()]);
        if content.is_empty() {
            continue;
        }
        // Only the last line of a body may be short.
        if !is_base64(content) || (content.len() < SHORTEST_LINE && start < last_line) {
            break;
        }
        start = from + line.start;
    }
    start
}

/// What stands before this is no part of the key with this last line.
///
/// No line of a key holds dashes: what stands before the line behind them is looked at by nobody, and so, in a text of
/// nothing but last lines, everything once.
fn earliest_start(text: &str, last_line: usize) -> usize {
    let from = text.ceil_char_boundary(last_line.saturating_sub(LONGEST));
    match text[from..last_line].rfind(DASHES).map(|dashes| from + dashes + DASHES.len()) {
        Some(behind) => text[behind..last_line].find(SEPARATORS).map_or(last_line, |line_end| behind + line_end),
        None => from,
    }
}

/// The lines of a text, by their places. An escaped line break (`\n` as two characters) or a quote ends one too.
struct Lines<'t>(&'t str, Range<usize>);

const SEPARATORS: [char; 4] = ['\n', '\\', '"', '\''];

impl Lines<'_> {
    /// How long the separator at `at` is.
    fn separator(&self, at: usize) -> usize {
        let escape = self.0[at..].starts_with("\\n") || self.0[at..].starts_with("\\r");
        if escape { 2 } else { 1 }
    }
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.1.clone();
        if rest.is_empty() {
            return None;
        }
        let end = self.0[rest.clone()].find(SEPARATORS).map(|length| rest.start + length);
        self.1.start = end.map_or(rest.end, |end| (end + self.separator(end)).min(rest.end));
        Some(rest.start..end.unwrap_or(rest.end))
    }
}

impl DoubleEndedIterator for Lines<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let rest = self.1.clone();
        if rest.is_empty() {
            return None;
        }
        let separator = self.0[rest.clone()].rfind(SEPARATORS).map(|length| rest.start + length);
        self.1.end = separator.unwrap_or(rest.start);
        Some(separator.map_or(rest.start, |at| (at + self.separator(at)).min(rest.end))..rest.end)
    }
}

fn within(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

/// A line without what viewers put before it: blanks, line numbers, quote and diff marks.
fn content(line: &str) -> &str {
    let line = line.trim();
    let unmarked = line.trim_start_matches(['>', '|', '+', '-', ' ', '\t']);
    let unnumbered = unmarked.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let unnumbered = unnumbered.trim_start_matches([':', '|', '\t', ' ', '→']);
    if line.starts_with("-----") {
        line
    } else if unnumbered.len() < unmarked.len() && !is_base64(unmarked) {
        unnumbered.trim()
    } else {
        unmarked.trim()
    }
}

fn is_base64(content: &str) -> bool {
    content.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

fn is_long_base64(content: &str) -> bool {
    content.len() >= SHORTEST_LINE && is_base64(content)
}

/// A header inside the block, as in `Proc-Type: 4,ENCRYPTED` (RFC 1421) or `Version: …` (RFC 9580).
fn is_header(content: &str) -> bool {
    ["Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: ", "Hash: ", "Charset: "]
        .iter()
        .any(|name| content.starts_with(name))
}

#[cfg(test)]
mod tests;
