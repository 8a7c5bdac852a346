//! Why rules do not load.

use std::fmt;

use thiserror::Error;

/// Rules that did not load. Whatever was in force before stays in force.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct RulesRefused {
    defects: Vec<Defect>,
}

impl RulesRefused {
    /// Refused for these reasons.
    pub(super) fn new(defects: Vec<Defect>) -> Self {
        Self { defects }
    }

    /// Everything that is wrong, in the order of the files.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// What to do about the first of them.
    pub fn hint(&self) -> Option<&str> {
        self.defects.first()?.hint.as_deref()
    }
}

/// Every defect on a line of its own.
impl fmt::Display for RulesRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, defect) in self.defects.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            defect.fmt(f)?;
        }
        Ok(())
    }
}

/// One thing that is wrong, or doubtful, with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Defect {
    pub(super) fn new(file: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: line.into(), text: text.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The file, the line, what is wrong.
impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "`{}`, line {line}: {}", self.file, self.text),
            None => write!(f, "`{}`: {}", self.file, self.text),
        }
    }
}
