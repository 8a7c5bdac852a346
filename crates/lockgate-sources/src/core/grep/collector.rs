//! Collects what the searcher reports: as many matches as fit, and a count of all.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::GrepMatch;

/// The longest text of one line that is given, in bytes.
const MAX_TEXT_BYTES: usize = 500;
/// How much of a long line is given before its match, in bytes.
const LEAD_BYTES: usize = 100;
/// How much text one answer gives, in bytes; the match that goes beyond it is the last.
const MAX_TOTAL_BYTES: usize = 64 * 1024;

/// What was found so far, over all files.
#[derive(Debug)]
pub(super) struct Collector<'matcher> {
    matcher: &'matcher RegexMatcher,
    limit: usize,
    pub(super) matches: Vec<GrepMatch>,
    pub(super) total_matches: u64,
    pub(super) files_matched: u64,
    /// Set by the first match that was not kept: from then on matches are only counted.
    pub(super) truncated: bool,
    kept_bytes: usize,
    path: String,
    matches_in_file: u64,
    /// Lines before the match that comes next; the searcher reports them only when it has one.
    before: Vec<String>,
}

impl<'matcher> Collector<'matcher> {
    pub(super) fn new(matcher: &'matcher RegexMatcher, limit: usize) -> Self {
        Self {
            matcher,
            limit,
            matches: Vec::new(),
            total_matches: 0,
            files_matched: 0,
            truncated: false,
            kept_bytes: 0,
            path: String::new(),
            matches_in_file: 0,
            before: Vec::new(),
        }
    }

    pub(super) fn matcher(&self) -> &'matcher RegexMatcher {
        self.matcher
    }

    /// What comes next is from the file at `path`.
    pub(super) fn begin(&mut self, path: &str) {
        path.clone_into(&mut self.path);
        self.matches_in_file = 0;
    }

    /// The file that was begun is searched.
    pub(super) fn end(&mut self) {
        self.total_matches += self.matches_in_file;
        self.files_matched += u64::from(self.matches_in_file > 0);
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches_in_file += 1;
        self.truncated |= self.matches.len() >= self.limit || self.kept_bytes >= MAX_TOTAL_BYTES;
        if self.truncated {
            return Ok(true);
        }
        let line = without_end(found.bytes());
        let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let (text, cut) = excerpt(line, at);
        let before = std::mem::take(&mut self.before);
        self.kept_bytes += self.path.len() + text.len() + before.iter().map(String::len).sum::<usize>();
        self.matches.push(GrepMatch {
            path: self.path.clone(),
            line: found.line_number().unwrap_or(0),
            text,
            cut,
            before,
            after: Vec::new(),
        });
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.truncated {
            return Ok(true);
        }
        let (text, _) = excerpt(without_end(context.bytes()), 0);
        match (context.kind(), self.matches.last_mut()) {
            (SinkContextKind::Before, _) => self.before.push(text),
            (SinkContextKind::After, Some(last)) => {
                self.kept_bytes += text.len();
                last.after.push(text);
            }
            _ => {}
        }
        Ok(true)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a line around byte `at` that is given, and whether it is only a part. What is not UTF-8 becomes U+FFFD.
fn excerpt(line: &[u8], at: usize) -> (String, bool) {
    if line.len() <= MAX_TEXT_BYTES {
        return (String::from_utf8_lossy(line).into_owned(), false);
    }
    let start = if at + LEAD_BYTES > MAX_TEXT_BYTES { at - LEAD_BYTES } else { 0 };
    let start = character_boundary(line, start);
    let end = character_boundary(line, (start + MAX_TEXT_BYTES).min(line.len()));
    (String::from_utf8_lossy(line.get(start..end).unwrap_or_default()).into_owned(), true)
}

/// The last place at or before `at` where a character begins.
fn character_boundary(line: &[u8], at: usize) -> usize {
    let continues = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    // A UTF-8 character has at most three bytes after its first; more of them are no UTF-8, and any cut will do.
    (at.saturating_sub(3)..=at).rev().find(|at| !continues(at)).unwrap_or(at)
}
