//! What the suite writes: a folder a scenario, with the checks that it made.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::files::{below, read};

/// The checks of one run.
pub(super) struct Checks(Vec<Check>, usize);

/// One check.
pub(super) struct Check {
    pub(super) scenario: String,
    pub(super) id: String,
    status: String,
    /// What the suite says about a check that did not pass.
    said: String,
}

impl Checks {
    /// Reads the folder of a run.
    pub(super) fn read(results: &Path) -> Result<Self, String> {
        let mut checks = Vec::new();
        let mut scenarios = BTreeSet::new();
        for path in below(results, "json")? {
            let folder = path.parent().and_then(|folder| folder.strip_prefix(results).ok());
            let scenario = scenario(&folder.unwrap_or(&path).display().to_string());
            let found: Vec<Value> =
                serde_json::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
            checks.extend(found.iter().map(|check| Check::read(&scenario, check)));
            scenarios.insert(scenario);
        }
        Ok(Self(checks, scenarios.len()))
    }

    pub(super) fn scenarios(&self) -> usize {
        self.1
    }

    pub(super) fn passed(&self) -> usize {
        self.of("SUCCESS").count()
    }

    pub(super) fn skipped(&self) -> usize {
        self.of("SKIPPED").count()
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = &Check> {
        self.of("FAILURE")
    }

    /// What the protocol recommends, and was not done.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &Check> {
        self.of("WARNING")
    }

    fn of(&self, status: &'static str) -> impl Iterator<Item = &Check> {
        self.0.iter().filter(move |check| check.status == status)
    }
}

impl Check {
    fn read(scenario: &str, check: &Value) -> Self {
        let text = |name: &str| check[name].as_str().map(str::to_owned);
        Self {
            scenario: scenario.to_owned(),
            id: text("id").unwrap_or_default(),
            status: text("status").unwrap_or_default(),
            said: text("errorMessage").or_else(|| text("description")).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.scenario, self.id, self.said)
    }
}

/// The scenario whose folder this is: `tools-list` for `server-tools-list-2026-11-30T21-04-05-123Z`, which is one of a server's.
pub(super) fn scenario(folder: &str) -> String {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // The time has five of them, and one more stands before it.
    let end = name.char_indices().rev().filter(|(_, letter)| *letter == '-').nth(5).map(|(place, _)| place);
    name[..end.unwrap_or(name.len())].to_owned()
}
