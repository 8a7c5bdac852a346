//! Reads rules from a file: the program's own, and those of its users.

use std::sync::Arc;

use serde::Deserialize;

use super::example::filled;
use super::{Boundary, CompiledRule, Lead, Reach, Rule, compile};
use crate::error::RedactError;

/// A file that is longer, in bytes, is no list of rules.
const LONGEST_FILE: usize = 256 * 1024;
const MOST_RULES: usize = 256;
const LONGEST_ID: usize = 64;
const MOST_KEYWORDS: usize = 16;
/// A shorter keyword would stand in every text.
const SHORTEST_KEYWORD: usize = 3;
const LONGEST_KEYWORD: usize = 64;
const LONGEST_PATTERN: usize = 1024;
const MOST_CHARACTERS: usize = 1024;
const LONGEST_LEAD: usize = 256;
/// What a class of characters may be made of, beside letters and digits.
const CLASS_SIGNS: &[u8] = b"-_+/=.~%:!@#$*";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    version: u32,
    #[serde(default, rename = "rule")]
    rules: Vec<RuleTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    id: String,
    keywords: Vec<String>,
    #[serde(default)]
    lead: LeadWord,
    #[serde(default)]
    boundary: BoundaryWord,
    pattern: Option<String>,
    charset: Option<String>,
    min_length: Option<usize>,
    positive: Vec<String>,
    negative: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`lead` is a number of bytes or \"digits\"")]
enum LeadWord {
    Bytes(usize),
    Word(DigitsWord),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum DigitsWord {
    Digits,
}

impl Default for LeadWord {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum BoundaryWord {
    Any,
    #[default]
    Word,
    WordOrHyphen,
}

/// The rules of the program itself: their tests try their examples.
pub(super) fn read_built_in(text: &str) -> Result<Vec<Arc<Rule>>, RedactError> {
    let of_file = |problem| RedactError::RuleFile { file: "rules.toml".to_owned(), problem };
    let file = parse(text).map_err(of_file)?;
    file.rules
        .into_iter()
        .map(|table| {
            let rule = table.id.clone();
            let checked = table.into_rule(Reach::Run);
            checked.map(Arc::new).map_err(|problem| RedactError::Rule { file: "rules.toml".to_owned(), rule, problem })
        })
        .collect()
}

/// The rules of a user's file, each with its pattern compiled and its examples tried. `file` is for errors.
pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Arc<Rule>>, RedactError> {
    let of_file = |problem| RedactError::RuleFile { file: file.to_owned(), problem };
    if text.len() > LONGEST_FILE {
        return Err(of_file(format!("it has {} bytes; at most {LONGEST_FILE} are read", text.len())));
    }
    let tables = parse(text).map_err(of_file)?.rules;
    if tables.is_empty() {
        return Err(of_file("it has no `[[rule]]`".to_owned()));
    }
    if tables.len() > MOST_RULES {
        return Err(of_file(format!("it has {} rules; at most {MOST_RULES} are read", tables.len())));
    }
    tables
        .into_iter()
        .map(|table| {
            let id = table.id.clone();
            read_rule(table).map_err(|problem| RedactError::Rule { file: file.to_owned(), rule: id, problem })
        })
        .collect()
}

fn parse(text: &str) -> Result<RuleFile, String> {
    let file: RuleFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", error.message())
    })?;
    if file.version != 1 {
        return Err(format!("its `version` is {}; this program reads version 1", file.version));
    }
    Ok(file)
}

fn read_rule(table: RuleTable) -> Result<Arc<Rule>, String> {
    let (positive, negative) = (table.positive.clone(), table.negative.clone());
    let rule = Arc::new(table.into_rule(Reach::Line)?);
    let compiled = CompiledRule::new(Arc::clone(&rule));
    for example in &positive {
        if !compiled.finds(&filled(example)) {
            return Err(format!("it finds nothing in its positive example `{example}`"));
        }
    }
    for example in &negative {
        if compiled.finds(&filled(example)) {
            return Err(format!("it finds something in its negative example `{example}`"));
        }
    }
    for literal in &rule.literals {
        if !positive.iter().any(|example| filled(example).contains(&**literal)) {
            return Err(format!("no positive example has its keyword `{literal}`"));
        }
    }
    Ok(rule)
}

impl RuleTable {
    fn into_rule(self, reach: Reach) -> Result<Rule, String> {
        self.check()?;
        let own = matches!(reach, Reach::Line);
        let shortest = if own { SHORTEST_KEYWORD } else { 2 };
        if let Some(keyword) = self.keywords.iter().find(|keyword| keyword.len() < shortest) {
            return Err(format!("its keyword `{keyword}` is shorter than {shortest} bytes: it would stand everywhere"));
        }
        let pattern = self.pattern()?;
        // The program's own patterns are compiled when they are needed.
        if own {
            let compiled = compile(&pattern).map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "its pattern is too big: use smaller repetitions".to_owned(),
                other => format!("its pattern cannot be used: {}", last_line(&other.to_string())),
            })?;
            if compiled.is_match("") {
                return Err("its pattern matches the empty text".to_owned());
            }
        }
        Ok(Rule {
            label: self.id.into(),
            literals: self.keywords.into_iter().map(Into::into).collect(),
            lead: match self.lead {
                LeadWord::Bytes(count) => Lead::Bytes(count),
                LeadWord::Word(DigitsWord::Digits) => Lead::Digits,
            },
            boundary: match self.boundary {
                BoundaryWord::Any => Boundary::Any,
                BoundaryWord::Word => Boundary::Word,
                BoundaryWord::WordOrHyphen => Boundary::WordOrHyphen,
            },
            pattern: pattern.into(),
            reach,
        })
    }

    fn check(&self) -> Result<(), String> {
        let usable = (1..=LONGEST_ID).contains(&self.id.len())
            && self.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !usable {
            return Err(format!("its `id` is not 1 to {LONGEST_ID} characters out of `a` to `z`, digits and `_`"));
        }
        if !(1..=MOST_KEYWORDS).contains(&self.keywords.len()) {
            return Err(format!("it has {} keywords; it needs 1 to {MOST_KEYWORDS}", self.keywords.len()));
        }
        if let Some(keyword) = self.keywords.iter().find(|keyword| keyword.len() > LONGEST_KEYWORD) {
            return Err(format!("its keyword `{keyword}` is longer than {LONGEST_KEYWORD} bytes"));
        }
        if self.keywords.iter().any(|keyword| keyword.contains(['\n', '\r'])) {
            return Err("a keyword holds a line break; rules look at one line".to_owned());
        }
        if matches!(self.lead, LeadWord::Bytes(count) if count > LONGEST_LEAD) {
            return Err(format!("its `lead` is more than {LONGEST_LEAD} bytes"));
        }
        if self.positive.is_empty() || self.negative.is_empty() {
            return Err("it needs at least one `positive` and one `negative` example".to_owned());
        }
        Ok(())
    }

    /// The pattern as it is written, or what a class of characters stands for.
    fn pattern(&self) -> Result<String, String> {
        match (&self.pattern, &self.charset, self.min_length) {
            (Some(pattern), None, None) if pattern.len() <= LONGEST_PATTERN => Ok(pattern.clone()),
            (Some(pattern), None, None) => {
                Err(format!("its pattern has {} bytes; at most {LONGEST_PATTERN} are read", pattern.len()))
            }
            (None, Some(class), Some(length)) => {
                let usable = !class.is_empty()
                    && class.bytes().all(|byte| byte.is_ascii_alphanumeric() || CLASS_SIGNS.contains(&byte));
                if !usable {
                    return Err(format!(
                        "its `charset` may hold letters, digits, ranges of them and `{}`",
                        String::from_utf8_lossy(CLASS_SIGNS)
                    ));
                }
                if !matches!(self.lead, LeadWord::Bytes(0)) {
                    return Err("a rule with `charset` begins with its keyword: it has no `lead`".to_owned());
                }
                if !(1..=MOST_CHARACTERS).contains(&length) {
                    return Err(format!("its `min_length` is not 1 to {MOST_CHARACTERS}"));
                }
                let keywords: Vec<String> = self.keywords.iter().map(|keyword| regex::escape(keyword)).collect();
                Ok(format!("(?:{})[{class}]{{{length},}}", keywords.join("|")))
            }
            _ => Err("it needs either a `pattern`, or a `charset` with a `min_length`".to_owned()),
        }
    }
}

/// What is wrong with a pattern stands in the last line; before it, the pattern is shown.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default().trim_start_matches("error: ")
}
