//! The kind `table`: answers from a file of rows.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Kind, Limits, Node};
use lockgate_contract::effect::EffectState;
use lockgate_contract::nearest::nearest;
use lockgate_contract::outcome::ToolCode;
use lockgate_contract::tool::{Failure, Handler, Output};
use lockgate_host::files;
use lockgate_registry::schema::Schema;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Target;
use crate::error::Problem;

/// The target of a row of kind `table`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TableTarget {
    /// A JSON file with one object: from key to row. Relative to the catalog.
    rows: String,
    /// The argument that holds the key.
    key: String,
    /// The business failure for a key that is not there.
    missing: Missing,
}

/// The business failure for a key that is not there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Missing {
    /// The tool's own code.
    code: String,
    /// For the model.
    message: String,
}

/// The rows in memory, as they were when the program started. An answer is the row's very text, digit for digit.
#[derive(Debug)]
pub(super) struct Lookup {
    rows: HashMap<String, Document>,
    key: String,
    code: ToolCode,
    message: String,
}

impl Lookup {
    /// Reads and checks the rows.
    pub(super) fn open(target: &Target<'_>) -> Result<Self, Problem> {
        let TableTarget { rows, key, missing } = target.read()?;
        check_argument(&key, target.input_schema())?;
        let path = target.path("rows", &rows)?;
        Ok(Self {
            rows: read_rows(&path, target.output_schema())?,
            key,
            code: ToolCode::new(missing.code)?,
            message: missing.message,
        })
    }

    pub(super) fn into_handler(self) -> Handler {
        let lookup = Arc::new(self);
        Handler::untyped(move |arguments, _context| std::future::ready(lookup.answer(&arguments)))
    }

    fn answer(&self, arguments: &Arguments) -> Result<Output, Failure> {
        let Some(key) = arguments.root().get(&self.key).and_then(|key| key.as_str()) else {
            return Err(Failure::bug(format!(
                "the argument `{}` is missing or no string, and the tool's input schema lets that pass",
                self.key
            )));
        };
        match self.rows.get(key.as_ref()) {
            Some(row) => Ok(Output::new(row.clone())),
            None => Err(Failure::Business {
                code: self.code.clone(),
                message: self.message.clone(),
                retryable: false,
                details: None,
                effect_state: EffectState::None,
            }),
        }
    }
}

/// A schema that lists its properties must list the key. Other schemas are taken on trust.
fn check_argument(key: &str, input_schema: Option<&Document>) -> Result<(), Problem> {
    let properties = input_schema.and_then(|schema| schema.root().get("properties"));
    if input_schema.is_some() && properties.is_none_or(|list| list.get(key).is_some()) {
        return Ok(());
    }
    let valid: Vec<String> = properties.iter().flat_map(Node::members).map(|(key, _)| key.into_owned()).collect();
    let nearest = nearest(key, valid.iter().map(String::as_str));
    let advice = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
    Err(Problem::Invalid {
        detail: format!("`key` names the argument `{key}`, which the input schema does not have{advice}"),
    })
}

/// Each row is an answer, so each must be what the tool says it returns.
fn read_rows(path: &Path, output_schema: Option<&Schema>) -> Result<HashMap<String, Document>, Problem> {
    let refused = |detail: String| Problem::Data { path: path.to_owned(), detail };
    let text = files::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    let document = Document::parse(text, Limits::OUTPUT).map_err(|error| refused(format!("is refused: {error}")))?;
    if document.root().kind() != Kind::Object {
        return Err(refused("must hold one object, from key to row".to_owned()));
    }
    let mut rows = HashMap::with_capacity(document.root().len());
    for (key, row) in document.root().members() {
        let row = row.to_document();
        if let Some(Err(violations)) = output_schema.map(|schema| schema.validate(&row)) {
            return Err(refused(format!("has a row `{key}` that does not fit the output schema: {violations}")));
        }
        rows.insert(key.into_owned(), row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
