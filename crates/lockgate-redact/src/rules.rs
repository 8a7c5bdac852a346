//! Tokens that are recognised by their own shape.

mod table;

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::boundary::starts_word;
use crate::effort::Effort;
use crate::finding::{Finding, Rank};
use crate::placeholder::is_example_token;

pub(crate) use table::RULES;

/// One kind of token, as data.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The label of the marker; several rules may share one.
    pub(crate) label: &'static str,
    /// Literals of which one stands in every such token; they go into the prefilter.
    pub(crate) literals: &'static [&'static str],
    /// What of the token stands before the literal.
    pub(crate) lead: Lead,
    /// What may stand before the token.
    pub(crate) boundary: Boundary,
    /// The token, from its first character on; its first group, if there is one, is the part that is secret.
    pub(crate) pattern: &'static str,
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

/// A rule that is ready to run. Its pattern is compiled when a text first has one of its literals: all of them would
/// cost every start of the program two milliseconds.
pub(crate) struct CompiledRule {
    rule: &'static Rule,
    /// Empty inside when the pattern does not compile, which the tests of the table rule out.
    pattern: OnceLock<Option<Regex>>,
}

impl CompiledRule {
    pub(crate) const fn new(rule: &'static Rule) -> Self {
        Self { rule, pattern: OnceLock::new() }
    }

    /// The token whose literal stands at `at`. `found_until` says whether another finding ends at a place; there a
    /// token may begin too.
    pub(crate) fn find<'a>(
        &self,
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
        let run_end = effort.end_of_run(bytes, start);
        if !effort.allows(run_end - start) {
            return Some(Finding::part(text, start..run_end, self.rule.label, Rank::Shape));
        }
        let secret = self.secret_part(rest)?;
        let range = start + secret.start..start + secret.end;
        (!is_example_token(&text[range.clone()])).then(|| Finding::part(text, range, self.rule.label, Rank::Shape))
    }

    /// Which part of a text that begins with the token is secret.
    fn secret_part(&self, rest: &str) -> Option<Range<usize>> {
        let Some(pattern) = self.pattern.get_or_init(|| Regex::new(self.rule.pattern).ok()) else {
            // Without its pattern a rule takes the whole word: too much goes rather than a secret stays.
            return Some(0..rest.find(char::is_whitespace).unwrap_or(rest.len()));
        };
        let captures = pattern.captures(rest)?;
        captures.get(1).or_else(|| captures.get(0)).map(|secret| secret.range())
    }
}

#[cfg(test)]
mod tests;
