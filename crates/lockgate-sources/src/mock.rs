//! Tools with scripted behaviour, for trying agents offline and for tests: one `[[tools.mock]]` table of the run file.
//!
//! ```text
//! MockTool   as it stands in the file        into_spec     refuses what cannot be meant
//!   Declaration   what the tool says it is  ──────────►  ToolSpec
//!   Acting        behaviour, count file     ──────────►  Script   which entry is next ─► Step
//! ```
//!
//! This module owns what a mock may be told to do. Who calls it, and how its failures are settled, is the gate's.

mod behaviour;
mod count_file;
mod declaration;
mod script;
mod step;
mod table;
mod time_span;

use std::path::Path;

use lockgate_contract::document::Document;
use lockgate_contract::tool::{Output, Reconciled, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use self::behaviour::Entry;
use crate::error::{Problem, SourceError};

pub(crate) use self::behaviour::present;
pub(crate) use self::count_file::{CountFile, append_line, on_disk};
pub(crate) use self::declaration::Declaration;
pub(crate) use self::script::Script;
pub(crate) use self::table::{check_keys, decode, read};
pub use self::time_span::{InvalidTimeSpan, TimeSpan};

/// One `[[tools.mock]]` table: a tool with scripted behaviour.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MockTool {
    #[schemars(flatten)]
    declaration: Declaration,
    #[schemars(flatten)]
    acting: Acting,
    #[schemars(flatten)]
    asked: Asked,
}

/// How a mock acts: in a run file, and as the target of a catalog row of kind `mock`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Acting {
    /// What it does, one entry each time the handler is entered in one run (over restarts too); the last one repeats.
    /// Absent: it returns `{}`.
    #[serde(default = "behaviour::returning_nothing")]
    pub(crate) behaviour: Vec<Entry>,
    /// A file, relative to this one, that gets one byte, synced, each time the handler is entered.
    #[serde(default)]
    pub(crate) count_file: Option<String>,
}

/// What a mock says about attempts whose results were lost.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Asked {
    /// What it finds out about an attempt whose result was lost. Absent: it cannot be asked.
    #[serde(default)]
    reconcile: Option<Found>,
}

/// What a mock finds out about a lost attempt. One of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Found {
    /// It took effect, and this is its output.
    #[serde(deserialize_with = "present")]
    #[schemars(with = "serde_json::Value")]
    done: Option<Document>,
    /// It did not take effect.
    not_done: bool,
    /// It cannot be told.
    unsure: bool,
}

impl Found {
    fn check(&self) -> Result<(), Problem> {
        let said = usize::from(self.done.is_some()) + usize::from(self.not_done) + usize::from(self.unsure);
        if said == 1 {
            return Ok(());
        }
        let detail = "`reconcile` must say one of `done`, `not_done` and `unsure`".to_owned();
        Err(Problem::Invalid { detail })
    }

    fn answer(&self) -> Reconciled {
        match &self.done {
            Some(output) => Reconciled::Done(Output::new(output.clone())),
            None if self.not_done => Reconciled::NotDone,
            None => Reconciled::Unsure,
        }
    }
}

impl MockTool {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// The tool. `base_dir` is the run file's folder; `entered_before` is how often the handler was already entered in
    /// this run, so that a resumed run goes on with the right entry.
    ///
    /// The count goes on inside the handler, so each run needs a spec of its own.
    pub fn into_spec(self, base_dir: &Path, entered_before: u32) -> Result<ToolSpec, SourceError> {
        let tool = self.declaration.name.clone();
        self.build(base_dir, entered_before).map_err(|problem| SourceError::Mock { tool, problem: Box::new(problem) })
    }

    fn build(self, base_dir: &Path, entered_before: u32) -> Result<ToolSpec, Problem> {
        let builder = self.declaration.builder()?.source("mock");
        let count_file = self.acting.count_file.map(|path| CountFile::new(base_dir.join(path)));
        let script = Script::new(self.acting.behaviour, count_file, entered_before)?;
        let mut builder = builder.handler(script.into_handler());
        if let Some(found) = self.asked.reconcile {
            found.check()?;
            builder = builder.reconcile(move |_arguments, _context| std::future::ready(Ok(found.answer())));
        }
        Ok(builder.build()?)
    }
}

/// Read whole and then taken apart, because serde's own `flatten` lets unknown keys pass and forgets how numbers were
/// written.
impl<'de> Deserialize<'de> for MockTool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Document::deserialize(deserializer)?;
        let read = || {
            check_keys::<Self>(document.root(), "")?;
            Ok(Self { declaration: decode(&document)?, acting: decode(&document)?, asked: decode(&document)? })
        };
        read().map_err(|problem: Problem| {
            let tool = document.root().get("name").and_then(|name| name.as_str()).unwrap_or_default().into_owned();
            let hint = problem.hint();
            let error = SourceError::Mock { tool, problem: Box::new(problem) };
            serde::de::Error::custom(hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}")))
        })
    }
}

#[cfg(test)]
mod tests;
