//! Tokens that are recognised by their own shape.

mod example;
mod file;

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::{Regex, RegexBuilder};

use crate::boundary::starts_word;
use crate::effort::Effort;
use crate::error::RedactError;
use crate::finding::{Finding, Rank};
use crate::placeholder::is_example_token;

pub(crate) use file::read;

/// The rules of the program itself, `rules.toml`.
static BUILT_IN: LazyLock<Result<Vec<Arc<Rule>>, RedactError>> =
    LazyLock::new(|| file::read_built_in(include_str!("../rules.toml")));

/// The rules of the program itself, or what is wrong with them, which their tests rule out.
pub(crate) fn built_in() -> Result<&'static [Arc<Rule>], &'static RedactError> {
    BUILT_IN.as_deref()
}

/// How far a rule of a user's file looks, in bytes, from the first character of the token on.
const LONGEST: usize = 4096;
/// The most memory that one compiled pattern may take.
const PATTERN_SIZE: usize = 512 * 1024;

/// One kind of token, as data.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The label of the marker; several rules may share one.
    pub(crate) label: Box<str>,
    /// Literals of which one stands in every such token; they go into the prefilter.
    pub(crate) literals: Vec<Box<str>>,
    /// What of the token stands before the literal.
    pub(crate) lead: Lead,
    /// What may stand before the token.
    pub(crate) boundary: Boundary,
    /// The token, from its first character on; its first group, if there is one, is the part that is secret.
    pub(crate) pattern: Box<str>,
    /// How far the pattern may look.
    pub(crate) reach: Reach,
}

/// What of a token stands before its literal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lead {
    /// So many bytes.
    Bytes(usize),
    /// All digits that stand there.
    Digits,
}

/// What may stand before a token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Boundary {
    /// Anything.
    Any,
    /// No letter, digit or underscore, unless they end an escape.
    Word,
    /// No hyphen either: for prefixes that could be the end of a hyphenated word (`task-list`, `cache-key-…`).
    WordOrHyphen,
}

/// How far a pattern may look. No pattern sees a line break, so that a text can be scrubbed line by line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach {
    /// To the end of the run of bytes that tokens are made of, which the program's own patterns never leave.
    Run,
    /// To the end of the line, and [`LONGEST`] bytes at most.
    Line,
}

/// A rule that is ready to run. Its pattern is compiled when a text first has one of its literals: all of them would
/// cost every start of the program two milliseconds.
pub(crate) struct CompiledRule {
    rule: Arc<Rule>,
    /// Empty inside when the pattern does not compile, which is ruled out where rules are read.
    pattern: OnceLock<Option<Regex>>,
}

impl CompiledRule {
    pub(crate) const fn new(rule: Arc<Rule>) -> Self {
        Self { rule, pattern: OnceLock::new() }
    }

    /// The token whose literal stands at `at`. `found_until` says whether another finding ends at a place; there a
    /// token may begin too.
    pub(crate) fn find<'a>(
        &'a self,
        text: &'a str,
        at: usize,
        effort: &mut Effort,
        found_until: impl Fn(usize) -> bool,
    ) -> Option<Finding<'a>> {
        let bytes = text.as_bytes();
        let start = match self.rule.lead {
            Lead::Bytes(count) => at.checked_sub(count)?,
            Lead::Digits => at - bytes[..at].iter().rev().take(16).take_while(|byte| byte.is_ascii_digit()).count(),
        };
        let hyphen_before = start.checked_sub(1).is_some_and(|before| bytes[before] == b'-');
        let begins = match self.rule.boundary {
            Boundary::Any => true,
            Boundary::Word => starts_word(bytes, start) || found_until(start),
            Boundary::WordOrHyphen => !hyphen_before && (starts_word(bytes, start) || found_until(start)),
        };
        if !begins {
            return None;
        }
        let rest = text.get(start..)?;
        let end = match self.rule.reach {
            Reach::Run => effort.end_of_run(bytes, start),
            Reach::Line => start + end_of_line(rest),
        };
        if !effort.allows(end - start) {
            return Some(Finding::part(text, start..end, &self.rule.label, Rank::Shape));
        }
        let secret = self.secret_part(&text[start..end])?;
        let range = start + secret.start..start + secret.end;
        (!is_example_token(&text[range.clone()])).then(|| Finding::part(text, range, &self.rule.label, Rank::Shape))
    }

    /// Which part of a text that begins with the token is secret.
    fn secret_part(&self, rest: &str) -> Option<Range<usize>> {
        let Some(pattern) = self.pattern.get_or_init(|| compile(&self.rule.pattern).ok()) else {
            // Without its pattern a rule takes the whole word: too much goes rather than a secret stays.
            return Some(0..rest.find(char::is_whitespace).unwrap_or(rest.len()));
        };
        let captures = pattern.captures(rest)?;
        captures.get(1).or_else(|| captures.get(0)).map(|secret| secret.range())
    }

    /// Whether this rule alone finds something in a text.
    fn finds(&self, text: &str) -> bool {
        let mut effort = Effort::for_text(text.len());
        self.rule.literals.iter().any(|literal| {
            text.match_indices(&**literal).any(|(at, _)| self.find(text, at, &mut effort, |_| false).is_some())
        })
    }
}

/// A pattern that matches where a text begins, and nowhere else.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&format!("^(?:{pattern})")).size_limit(PATTERN_SIZE).nest_limit(32).build()
}

fn end_of_line(rest: &str) -> usize {
    let end = rest.floor_char_boundary(LONGEST);
    memchr::memchr2(b'\n', b'\r', &rest.as_bytes()[..end]).unwrap_or(end)
}

#[cfg(test)]
mod tests;
