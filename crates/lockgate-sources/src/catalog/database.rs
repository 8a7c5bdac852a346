//! A catalog in SQLite: one row of the table `tools` for each tool.

use std::io;
use std::path::Path;

use lockgate_contract::document::{Document, Limits};
use lockgate_host::files;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::refused_row;
use crate::error::{Problem, SourceError};

/// What every SQLite database begins with (SQLite file format, section 1.3).
const HEADER: &[u8] = b"SQLite format 3\0";
/// The columns that hold JSON text.
const JSON: [&str; 6] = ["target", "scopes", "tenants", "agents", "input_schema", "output_schema"];
/// The columns that hold a truth value, which SQLite has only as a number.
const TRUTH: [&str; 2] = ["enabled", "completes_run"];

/// Whether the file is a SQLite database, whatever it is called.
pub(super) fn is_database(path: &Path) -> io::Result<bool> {
    Ok(files::read_start(path, HEADER.len() as u64)? == HEADER)
}

/// The rows, in order of name. A column that is `NULL` is a key that is absent.
pub(super) fn read_rows(path: &Path) -> Result<Vec<Document>, SourceError> {
    let failed = |source| SourceError::Database { path: path.to_owned(), source };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let mut statement = connection.prepare("SELECT * FROM tools ORDER BY name").map_err(failed)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).map_err(failed)?;
    let mut documents = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut members = Members(Vec::with_capacity(columns.len()));
        let mut problem = None;
        for (index, column) in columns.iter().enumerate() {
            match value(column, row.get_ref(index).map_err(failed)?) {
                Ok(None) => {}
                Ok(Some(value)) => members.0.push((column, value)),
                Err(found) => problem = problem.or(Some(found)),
            }
        }
        let document = Document::from_serialize(&members)
            .map_err(|error| refused_row(path, &Document::null(), documents.len() + 1, invalid(error.to_string())))?;
        if let Some(problem) = problem {
            return Err(refused_row(path, &document, documents.len() + 1, problem));
        }
        documents.push(document);
    }
    Ok(documents)
}

/// A row as an object.
struct Members<'a>(Vec<(&'a str, Document)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// What a column says, as the same key of a TOML row would. JSON text keeps its exact numbers.
fn value(column: &str, value: ValueRef<'_>) -> Result<Option<Document>, Problem> {
    let value = match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(truth @ (0 | 1)) if TRUTH.contains(&column) => Document::boolean(truth == 1),
        _ if TRUTH.contains(&column) => return Err(invalid(format!("the column `{column}` must hold 0 or 1"))),
        ValueRef::Integer(number) => Document::integer(number),
        ValueRef::Real(number) => {
            Document::from_serialize(&number).map_err(|error| invalid(format!("the column `{column}`: {error}")))?
        }
        ValueRef::Text(bytes) => text(column, bytes)?,
        ValueRef::Blob(_) => return Err(invalid(format!("the column `{column}` must hold text, not a blob"))),
    };
    Ok(Some(value))
}

fn text(column: &str, bytes: &[u8]) -> Result<Document, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| invalid(format!("the column `{column}` is not UTF-8")))?;
    if JSON.contains(&column) {
        Document::parse(text, Limits::OWN)
            .map_err(|error| invalid(format!("the column `{column}` does not hold JSON: {error}")))
    } else {
        Ok(Document::string(text))
    }
}

fn invalid(detail: String) -> Problem {
    Problem::Invalid { detail }
}
