//! A catalog in TOML: one `[[tool]]` table for each tool. `[[tools]]`, as the table of a SQLite catalog is called, is the
//! same.

use std::path::Path;

use lockgate_contract::document::{Document, Kind};
use schemars::JsonSchema;

use crate::error::{Problem, SourceError};
use crate::mock::check_keys;

/// The whole file.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares the keys of the file; the rows are read one by one, so that errors name them")]
struct File {
    /// The tools.
    tool: Vec<serde_json::Value>,
    /// The same under another name.
    tools: Vec<serde_json::Value>,
}

/// The rows, in the order of the file.
pub(super) fn read_rows(path: &Path, text: &str) -> Result<Vec<Document>, SourceError> {
    let file: Document = toml::from_str(text).map_err(|error| SourceError::NotToml {
        path: path.to_owned(),
        detail: error.to_string().trim_end().to_owned(),
    })?;
    let refused = |problem| SourceError::Catalog { path: path.to_owned(), problem: Box::new(problem) };
    check_keys::<File>(file.root(), "").map_err(refused)?;
    let mut all = Vec::new();
    for rows in ["tool", "tools"].iter().filter_map(|key| file.root().get(key)) {
        if rows.kind() != Kind::Array {
            return Err(refused(Problem::Invalid {
                detail: "`tool` is one table; each tool is written under a line `[[tool]]`, with two brackets"
                    .to_owned(),
            }));
        }
        all.extend(rows.elements().map(|row| row.to_document()));
    }
    Ok(all)
}
