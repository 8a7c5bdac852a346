//! The values that the scrubber was told, in all their forms.

use std::ops::Range;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind, Span};

use crate::encodings::{Needle, needles};
use crate::error::RedactError;
use crate::finding::{Finding, Rank};
use crate::secret::SecretValue;
use crate::unescaped::{Escape, Unescaped};

/// How many literals one packed searcher takes.
const PACKED_LIMIT: usize = 64;
/// Up to here a few packed searches are quicker than one walk through an automaton.
const MOST_PACKED: usize = 6;
/// How many escapes around each other are undone: JSON within JSON, a URL within JSON.
const DEPTH: usize = 2;

/// No byte of a value is longer in a text, in bytes, whatever escapes stand around each other.
const LONGEST_ESCAPE: usize = 64;

/// One secret with its name.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: Box<str>,
    /// Trimmed.
    pub(crate) value: SecretValue,
}

/// Finds every form of every known value.
pub(crate) struct KnownValues {
    secrets: Vec<Named>,
    /// Each needle with the index of its secret; a searcher's pattern numbers count through this list.
    needles: Vec<(Needle, usize)>,
    search: Search,
    /// The escapes that can hide one of the secrets.
    escapes: &'static [Escape],
}

enum Search {
    Packed(Vec<Searcher>),
    Automaton(AhoCorasick),
}

impl KnownValues {
    pub(crate) fn new(secrets: Vec<Named>) -> Result<Self, RedactError> {
        let needles: Vec<(Needle, usize)> = secrets
            .iter()
            .enumerate()
            .flat_map(|(index, secret)| needles(secret.value.expose()).into_iter().map(move |needle| (needle, index)))
            .collect();
        let search = match packed(&needles) {
            Some(searchers) => Search::Packed(searchers),
            None => Search::Automaton(
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .build(needles.iter().map(|(needle, _)| needle.text.as_bytes()))
                    .map_err(|source| RedactError::Automaton { count: needles.len(), source: Box::new(source) })?,
            ),
        };
        let has_blank = secrets.iter().any(|secret| secret.value.expose().contains(' '));
        let escapes: &[Escape] = match (secrets.is_empty(), has_blank) {
            (true, _) => &[],
            (false, false) => &[Escape::Percent, Escape::Backslash, Escape::Entity],
            (false, true) => &[Escape::Percent, Escape::Backslash, Escape::Entity, Escape::Form],
        };
        Ok(Self { secrets, needles, search, escapes })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|secret| &*secret.name)
    }

    /// Adds every place of a known value, also of those that overlap, in the text as it stands and with its escapes
    /// undone.
    pub(crate) fn find<'a>(&'a self, text: &str, findings: &mut Vec<Finding<'a>>) {
        self.search(text.as_bytes(), |index, range| findings.push(self.finding(index, range)));
        for &escape in self.escapes {
            if let Some(view) = Unescaped::undo_in(text, escape) {
                self.find_in(&view, DEPTH - 1, findings);
            }
        }
    }

    /// Whether a known value of several lines may go on behind a text that ends with a line break. `line` is its last line.
    ///
    /// No escape reaches across a line break, so the escapes of the last line are undone alone at first.
    pub(crate) fn may_go_on(&self, line: &str, text: &str) -> bool {
        let mut beginnings = self.secrets.iter().flat_map(|secret| {
            let value = secret.value.expose();
            value.match_indices('\n').map(move |(at, _)| &value[..=at])
        });
        beginnings.any(|beginning| {
            let above = &beginning[..beginning.len() - 1];
            let last_line = &beginning[above.rfind('\n').map_or(0, |at| at + 1)..];
            let near = text.len().saturating_sub(beginning.len() * LONGEST_ESCAPE);
            self.ends_with(line, last_line) && self.ends_with(&text[text.ceil_char_boundary(near)..], beginning)
        })
    }

    /// Whether a text, as it stands or with its escapes undone, ends so.
    fn ends_with(&self, text: &str, end: &str) -> bool {
        let views = || self.escapes.iter().filter_map(|&escape| Unescaped::undo_in(text, escape));
        text.ends_with(end)
            || views().any(|view| {
                view.bytes.ends_with(end.as_bytes())
                    || self
                        .escapes
                        .iter()
                        .filter_map(|&escape| view.undo(escape))
                        .any(|inner| inner.bytes.ends_with(end.as_bytes()))
            })
    }

    fn find_in<'a>(&'a self, view: &Unescaped, depth: usize, findings: &mut Vec<Finding<'a>>) {
        self.search(&view.bytes, |index, range| {
            findings.push(self.finding(index, view.place(range.start)..view.place(range.end)));
        });
        if depth > 0 {
            for inner in self.escapes.iter().filter_map(|&escape| view.undo(escape)) {
                self.find_in(&inner, depth - 1, findings);
            }
        }
    }

    fn finding(&self, needle: usize, range: Range<usize>) -> Finding<'_> {
        let secret = &self.secrets[self.needles[needle].1];
        Finding { range, label: &secret.name, rank: Rank::Known, value: secret.value.expose() }
    }

    /// Tells every place of every needle, with the needle's number.
    fn search(&self, text: &[u8], mut tell: impl FnMut(usize, Range<usize>)) {
        let end = text.len();
        match &self.search {
            Search::Packed(searchers) => {
                for (number, searcher) in searchers.iter().enumerate() {
                    let mut start = 0;
                    while let Some(found) = searcher.find_in(text, Span { start, end }) {
                        let index = number * PACKED_LIMIT + found.pattern().as_usize();
                        tell(index, self.place(text, index, found.start()));
                        start = found.start() + 1;
                    }
                }
            }
            Search::Automaton(automaton) => {
                let mut start = 0;
                while let Some(found) = automaton.find(Input::new(text).range(start..end)) {
                    let index = found.pattern().as_usize();
                    tell(index, self.place(text, index, found.start()));
                    start = found.start() + 1;
                }
            }
        }
    }

    /// The whole place of a needle: in base64 also the characters at its edges that hold some bits of the secret.
    fn place(&self, text: &[u8], index: usize, mut start: usize) -> Range<usize> {
        let (needle, _) = &self.needles[index];
        let mut end = start + needle.text.len();
        if needle.bits_before && start.checked_sub(1).is_some_and(|before| is_base64(text[before])) {
            start -= 1;
        }
        if needle.bits_after && text.get(end).copied().is_some_and(is_base64) {
            end += 1;
        }
        start..end
    }
}

/// Packed searchers over at most [`PACKED_LIMIT`] needles each; `None` when there are too many needles or the machine
/// has no vector instructions.
fn packed(needles: &[(Needle, usize)]) -> Option<Vec<Searcher>> {
    if needles.len() > PACKED_LIMIT * MOST_PACKED {
        return None;
    }
    needles
        .chunks(PACKED_LIMIT)
        .map(|chunk| {
            packed::Config::new()
                .match_kind(packed::MatchKind::LeftmostLongest)
                .builder()
                .extend(chunk.iter().map(|(needle, _)| needle.text.as_bytes()))
                .build()
        })
        .collect()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
