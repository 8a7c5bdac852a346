//! Changes of a budget from the command line: `max_steps=40`.

use std::str::FromStr;

use lockgate_contract::run::Budget;
use lockgate_sources::mock::TimeSpan;
use thiserror::Error;

/// One changed limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetChange {
    key: &'static str,
    value: u64,
}

/// The text is no change of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidBudgetChange {
    /// It is not `key=value`.
    #[error("`{0}` is not of the form key=value, such as max_steps=40")]
    Form(String),
    /// There is no such limit.
    #[error("there is no budget `{0}`: the budgets are {list}", list = KEYS.join(", "))]
    Key(String),
    /// The value is not of its form.
    #[error("`{value}` is no value for `{key}`: write {expected}")]
    Value {
        /// The limit.
        key: &'static str,
        /// The value.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
}

const KEYS: [&str; 8] = [
    "max_steps",
    "max_valid_actions",
    "max_calls_per_turn",
    "deadline",
    "max_environment_failures",
    "max_repeated_turns",
    "max_retries",
    "max_questions",
];

impl FromStr for BudgetChange {
    type Err = InvalidBudgetChange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, value) = text.split_once('=').ok_or_else(|| InvalidBudgetChange::Form(text.to_owned()))?;
        let key = KEYS
            .into_iter()
            .find(|known| *known == key.trim())
            .ok_or_else(|| InvalidBudgetChange::Key(key.trim().to_owned()))?;
        let value = value.trim();
        let (parsed, expected) = if key == "deadline" {
            let span = value.parse::<TimeSpan>().ok();
            (span.and_then(|span| u64::try_from(span.as_duration().as_millis()).ok()), "a duration such as 30m")
        } else {
            (value.parse::<u32>().ok().map(u64::from), "a whole number")
        };
        match parsed {
            Some(value) => Ok(Self { key, value }),
            None => Err(InvalidBudgetChange::Value { key, value: value.to_owned(), expected }),
        }
    }
}

impl BudgetChange {
    /// The budget with this limit changed.
    #[must_use]
    pub fn apply(&self, budget: &Budget) -> Budget {
        let mut budget = budget.clone();
        let number = u32::try_from(self.value).unwrap_or(u32::MAX);
        match self.key {
            "max_steps" => budget.max_steps = number,
            "max_valid_actions" => budget.max_valid_actions = number,
            "max_calls_per_turn" => budget.max_calls_per_turn = number,
            "deadline" => budget.deadline_ms = self.value,
            "max_environment_failures" => budget.max_environment_failures = number,
            "max_repeated_turns" => budget.max_repeated_turns = number,
            "max_retries" => budget.max_retries = number,
            _ => budget.max_questions = Some(number),
        }
        budget
    }
}

#[cfg(test)]
mod tests;
