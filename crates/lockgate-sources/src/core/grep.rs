//! `grep`: lines that match a regular expression.

use std::num::NonZeroU32;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ReadFailure;
use super::pattern::{MAX_PATTERN_BYTES, Scope, compile_glob};
use super::root::{EntryKind, Resolved, Root};
use super::text::TextReader;
use super::walk::{Purpose, walk};

mod collector;
#[cfg(test)]
mod tests;

use collector::Collector;

/// The tool's name.
pub const NAME: &str = "grep";
/// What the model is told about the tool.
pub const DESCRIPTION: &str = "Searches text files for lines that match a regular expression (Rust syntax, no look-around or \
back-references), below `path` (a directory or one file; default: the root). glob narrows the files: `*.rs` at every depth, \
`src/**/*.rs` by path. literal takes the pattern as plain text. Matches are sorted by path and line; a line of context that \
stands near two matches is given once. Binary and hidden files and what .gitignore names are left out; include_ignored \
takes in the latter two. total_matches counts all matching lines.";

/// How many matches one call gives when nothing else is asked for.
const DEFAULT_MAX_RESULTS: u32 = 200;
/// The most matches one call gives.
const MAX_RESULTS: u32 = 2000;
/// The most lines of context on each side of a match.
const MAX_CONTEXT_LINES: u32 = 20;
/// How much memory a compiled pattern may take, in bytes; the same for the cache of its automaton.
const MAX_REGEX_BYTES: usize = 10 * 1024 * 1024;
/// How deep the groups of a pattern may nest.
const MAX_REGEX_NESTING: u32 = 100;
/// The longest line that is searched, in bytes; a file with a longer one counts as skipped.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// What to search for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// The regular expression, matched within single lines.
    pub pattern: String,
    /// The directory or file to search, relative to the root. The default is the root itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only search files that match this glob, relative to `path`; without a `/` it is matched against the file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    /// Whether the pattern is plain text rather than a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal: Option<bool>,
    /// How many lines to give before and after each match. The default is 0; more than 20 counts as 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_lines: Option<u32>,
    /// Whether to search hidden files and files that .gitignore names too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_ignored: Option<bool>,
    /// The most matches to give. The default is 200; more than 2000 counts as 2000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<NonZeroU32>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepMatches {
    /// The pattern, as it was asked for.
    pub pattern: String,
    /// The matching lines, sorted by path and line.
    pub matches: Vec<GrepMatch>,
    /// How many lines match, given or not.
    pub total_matches: u64,
    /// How many files hold a matching line.
    pub files_matched: u64,
    /// Whether matches are missing at the end.
    pub truncated: bool,
    /// How many files and directories could not be searched: unreadable, or with a line longer than 16 MiB.
    pub skipped: u64,
}

/// One matching line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepMatch {
    /// The file, relative to the root.
    pub path: String,
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The line without its end. Of a long line only the part around its first match.
    pub text: String,
    /// Whether `text` is only a part of the line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The lines before, unless a match above gave them already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after, up to the next match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Searches text files for matching lines, in time linear in what is searched. Links are not followed, except when `path`
/// itself names one.
///
/// # Errors
/// A bad pattern, a path that is neither a readable directory nor a readable file in the root, or a million entries below.
pub fn grep(root: &Root, arguments: Grep) -> Result<GrepMatches, ReadFailure> {
    let matcher = compile(&arguments)?;
    let filter = arguments.glob.as_deref().map(|glob| compile_glob(glob, Scope::FileName)).transpose()?;
    let passes = |path: &str| filter.as_ref().is_none_or(|filter| filter.is_match(path));
    let base = root.resolve(arguments.path.as_deref().unwrap_or("."))?;

    let limit = arguments.max_results.map_or(DEFAULT_MAX_RESULTS, NonZeroU32::get).min(MAX_RESULTS);
    let collector = Collector::new(&matcher, limit as usize);
    let mut search =
        Search { root, searcher: searcher(arguments.context_lines.unwrap_or(0)), collector, skipped_files: 0 };
    let purpose = Purpose::Search { include_ignored: arguments.include_ignored.unwrap_or(false) };
    let skipped_directories = match base.kind() {
        EntryKind::File => {
            let path = root.relative(&base);
            let name = path.rsplit('/').next().unwrap_or(&path);
            if passes(name) {
                search.named_file(&path, &base)?;
            }
            0
        }
        _ => walk(root, &base, purpose, |found| {
            if found.kind == EntryKind::File && passes(found.below_base()) {
                search.found_file(&found.path, &found.resolved)?;
            }
            Ok(())
        })?,
    };
    let Search { collector, skipped_files, .. } = search;
    Ok(GrepMatches {
        pattern: arguments.pattern,
        matches: collector.matches,
        total_matches: collector.total_matches,
        files_matched: collector.files_matched,
        truncated: collector.truncated,
        skipped: skipped_files + skipped_directories,
    })
}

struct Search<'search> {
    root: &'search Root,
    searcher: Searcher,
    collector: Collector<'search>,
    skipped_files: u64,
}

impl Search<'_> {
    /// Searches the one file that was asked for.
    fn named_file(&mut self, path: &str, file: &Resolved) -> Result<(), ReadFailure> {
        if self.file(path, file)? { Ok(()) } else { Err(ReadFailure::binary_file(path)) }
    }

    /// Searches a file that the walk found. One that is gone, locked or swapped by now is no failure of the search.
    fn found_file(&mut self, path: &str, file: &Resolved) -> Result<(), ReadFailure> {
        match self.file(path, file) {
            Ok(_) | Err(ReadFailure::NotFound { .. }) => Ok(()),
            Err(failure @ ReadFailure::Environment { .. }) => Err(failure),
            Err(_) => {
                self.skipped_files += 1;
                Ok(())
            }
        }
    }

    /// Searches a file; false when it is binary.
    fn file(&mut self, path: &str, file: &Resolved) -> Result<bool, ReadFailure> {
        let opened = self.root.open_file(file)?;
        let failed = |error| ReadFailure::from_io(path, error);
        let Some(reader) = TextReader::open(opened.file).map_err(failed)? else {
            return Ok(false);
        };
        self.collector.begin(path);
        let searched = self.searcher.search_reader(self.collector.matcher(), reader, &mut self.collector);
        self.collector.end();
        match searched {
            Ok(()) => {}
            // Not the system's word: the searcher gave up on a line that is too long.
            Err(error) if error.raw_os_error().is_none() => self.skipped_files += 1,
            Err(error) => return Err(failed(error)),
        }
        Ok(true)
    }
}

fn compile(arguments: &Grep) -> Result<RegexMatcher, ReadFailure> {
    let pattern = &arguments.pattern;
    if pattern.is_empty() {
        return Err(ReadFailure::invalid_pattern(pattern, "it is empty"));
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(ReadFailure::invalid_pattern(pattern, "it is too long"));
    }
    if pattern.contains('\n') {
        return Err(ReadFailure::invalid_pattern(
            pattern,
            "it is matched within single lines and may not hold a line end",
        ));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(arguments.case_insensitive.unwrap_or(false))
        .fixed_strings(arguments.literal.unwrap_or(false))
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .nest_limit(MAX_REGEX_NESTING)
        .build(pattern)
        .map_err(|error| ReadFailure::invalid_pattern(pattern, reason(&error)))
}

/// The last line of the compiler's message says what is wrong; those above draw the pattern.
fn reason(error: &grep_regex::Error) -> String {
    let message = error.to_string();
    let last = message.lines().next_back().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn searcher(context_lines: u32) -> Searcher {
    let context_lines = context_lines.min(MAX_CONTEXT_LINES) as usize;
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(context_lines)
        .after_context(context_lines)
        .heap_limit(Some(MAX_LINE_BYTES))
        // Both were settled when the file was opened as text.
        .binary_detection(BinaryDetection::none())
        .bom_sniffing(false)
        .build()
}
