//! The kind `record`: writes down what it was asked to do, and does nothing.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, SerializeError};
use lockgate_contract::tool::{Failure, Handler, Output};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Target;
use crate::error::Problem;
use crate::mock::{CountFile, append_line, on_disk, present};

/// The target of a row of kind `record`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordTarget {
    /// A file that gets one JSON line, synced, for each call: `{"tool": …, "arguments": …}`. Relative to the catalog.
    /// Absent: the arguments are in the journal alone.
    #[serde(default)]
    file: Option<String>,
    /// What it answers. Absent: `{"recorded": true}`.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "serde_json::Value")]
    returns: Option<Document>,
    /// A file that gets one byte, synced, each time the handler is entered. Relative to the catalog.
    #[serde(default)]
    count_file: Option<String>,
}

/// What the tool does when it is called.
#[derive(Debug)]
pub(super) struct Record {
    tool: String,
    file: Option<PathBuf>,
    count_file: Option<CountFile>,
    returns: Document,
}

/// One line of the file.
#[derive(Serialize)]
struct Line<'a> {
    tool: &'a str,
    arguments: &'a Document,
}

impl Record {
    /// Checks where it is to write.
    pub(super) fn open(target: &Target<'_>) -> Result<Self, Problem> {
        let RecordTarget { file, returns, count_file } = target.read()?;
        Ok(Self {
            tool: target.tool().to_owned(),
            file: file.map(|path| target.path("file", &path)).transpose()?,
            count_file: target.count_file(count_file.as_deref())?,
            returns: match returns {
                Some(value) => value,
                None => recorded().map_err(|error| Problem::Invalid { detail: error.to_string() })?,
            },
        })
    }

    pub(super) fn into_handler(self) -> Handler {
        let record = Arc::new(self);
        Handler::untyped(move |arguments, _context| Arc::clone(&record).enter(arguments))
    }

    async fn enter(self: Arc<Self>, arguments: Arguments) -> Result<Output, Failure> {
        let answer = Output::new(self.returns.clone());
        let line = self.line(&arguments)?;
        on_disk(move || self.write(&line)).await?;
        Ok(answer)
    }

    fn write(&self, line: &str) -> io::Result<()> {
        if let Some(count_file) = &self.count_file {
            count_file.add_one()?;
        }
        self.file.as_ref().map_or(Ok(()), |file| append_line(file, line.as_bytes()))
    }

    /// The arguments stand in the line digit for digit.
    fn line(&self, arguments: &Arguments) -> Result<String, SerializeError> {
        let line = Document::from_serialize(&Line { tool: &self.tool, arguments: arguments.document() })?;
        // A line break that is part of JSON text is white space between its tokens: inside strings it is escaped.
        Ok(line.text().replace(['\n', '\r'], " ") + "\n")
    }
}

/// The answer of a row that declares none.
fn recorded() -> Result<Document, SerializeError> {
    #[derive(Serialize)]
    struct Recorded {
        recorded: bool,
    }
    Document::from_serialize(&Recorded { recorded: true })
}

#[cfg(test)]
mod tests;
