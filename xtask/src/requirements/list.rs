//! The list of the requirements, `proof/requirements.toml`: a table a section, and what the tests cannot carry.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The requirements in our own words, in order.
pub(super) struct List {
    pub(super) sections: Vec<Section>,
    /// Number → the capability that it waits for.
    pub(super) waits: BTreeMap<String, String>,
    /// Number → what shows it, where no test can.
    pub(super) checks: BTreeMap<String, Check>,
}

/// Requirements about one thing.
pub(super) struct Section {
    pub(super) title: String,
    /// Number and text.
    pub(super) requirements: Vec<(String, String)>,
}

/// Something outside of the tests that shows a requirement.
pub(super) struct Check {
    /// A path from the root of the checkout.
    pub(super) file: String,
    pub(super) how: String,
}

impl List {
    /// Reads the file: `waits` and `checks` are tables of numbers, every other table is a section.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let tables: Table = text.parse().map_err(|error| format!("the list of requirements: {error}"))?;
        let mut list = Self { sections: Vec::new(), waits: BTreeMap::new(), checks: BTreeMap::new() };
        for (name, table) in tables {
            let lines = lines(&name, table)?;
            match name.as_str() {
                "waits" => list.waits = lines.into_iter().collect(),
                "checks" => {
                    for (number, check) in lines {
                        let (file, how) = check
                            .split_once(": ")
                            .ok_or_else(|| format!("`checks.{number}` is not of the form `path: how`"))?;
                        list.checks.insert(number, Check { file: file.to_owned(), how: how.to_owned() });
                    }
                }
                _ => list.sections.push(Section { title: name, requirements: lines }),
            }
        }
        Ok(list)
    }

    /// Every number with its text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections
            .iter()
            .flat_map(|section| &section.requirements)
            .map(|(number, text)| (number.as_str(), text.as_str()))
    }

    /// Gaps in the numbering, and marks on numbers that do not exist.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (at, (number, _)) in (1..).zip(self.texts()) {
            if number != format!("R-{at:03}") {
                faults.push(format!("the list has {number} where R-{at:03} should stand"));
                break;
            }
        }
        for number in self.waits.keys().chain(self.checks.keys()) {
            if self.texts().all(|(known, _)| known != number) {
                faults.push(format!("the list marks {number}, which it does not have"));
            }
        }
        faults
    }
}

fn lines(name: &str, table: Value) -> Result<Vec<(String, String)>, String> {
    let Value::Table(table) = table else {
        return Err(format!("`{name}` is not a table"));
    };
    table
        .into_iter()
        .map(|(number, text)| match text {
            Value::String(text) => Ok((number, text)),
            _ => Err(format!("`{name}.{number}` is not a text")),
        })
        .collect()
}
