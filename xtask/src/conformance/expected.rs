//! Failures that are explained.

use toml::{Table, Value};

/// All of them.
pub(super) struct Expected(Vec<Failure>);

/// A failure that has to happen.
struct Failure {
    subject: String,
    /// Nothing: every revision.
    revision: Option<String>,
    scenario: String,
    /// Nothing: any of the scenario's checks.
    check: Option<String>,
    reason: String,
}

impl Expected {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let file: Table = text.parse().map_err(|error| format!("xtask: the expected failures: {error}"))?;
        let failures = match file.get("failure") {
            Some(Value::Array(failures)) => failures.iter().map(Failure::read).collect::<Result<_, _>>()?,
            Some(_) => return Err("xtask: `failure` is a list of tables".to_owned()),
            None => Vec::new(),
        };
        Ok(Self(failures))
    }

    /// Why a check may fail, if it may.
    pub(super) fn reason(&self, subject: &str, revision: &str, scenario: &str, check: &str) -> Option<&str> {
        let found = self.0.iter().find(|failure| failure.is_of(subject, revision) && failure.is(scenario, check))?;
        Some(&found.reason)
    }

    /// What had to fail and did not, given each failed check and its scenario.
    pub(super) fn that_passed(&self, subject: &str, revision: &str, failed: &[(&str, &str)]) -> Vec<String> {
        let passed = self.0.iter().filter(|failure| {
            failure.is_of(subject, revision) && !failed.iter().any(|(scenario, check)| failure.is(scenario, check))
        });
        let name = |failure: &Failure| match &failure.check {
            Some(check) => format!("{}:{check}", failure.scenario),
            None => failure.scenario.clone(),
        };
        passed.map(name).collect()
    }
}

impl Failure {
    fn read(failure: &Value) -> Result<Self, String> {
        const FIELDS: [&str; 5] = ["subject", "revision", "scenario", "check", "reason"];
        let table = failure.as_table().ok_or("xtask: `failure` is a list of tables")?;
        if let Some(field) = table.keys().find(|field| !FIELDS.contains(&field.as_str())) {
            return Err(format!("xtask: an expected failure has no `{field}`; it has {}", FIELDS.join(", ")));
        }
        let text = |field: &str| table.get(field).and_then(Value::as_str).map(str::to_owned);
        let needed =
            |field: &str| text(field).ok_or_else(|| format!("xtask: an expected failure has no `{field}`: {table}"));
        Ok(Self {
            subject: needed("subject")?,
            revision: text("revision"),
            scenario: needed("scenario")?,
            check: text("check"),
            reason: needed("reason")?,
        })
    }

    fn is_of(&self, subject: &str, revision: &str) -> bool {
        self.subject == subject && self.revision.as_deref().is_none_or(|only| only == revision)
    }

    fn is(&self, scenario: &str, check: &str) -> bool {
        self.scenario == scenario && self.check.as_deref().is_none_or(|only| only == check)
    }
}
