//! Catalogs: static rows that become tools by a resolution step at start-up (R-041).
//!
//! ```text
//! tools.toml   [[tool]] ─┐            load: read, typed, names once     into_specs: kind ─► resolver ─► handler
//! any SQLite   tools ────┴─► rows ──────────────────────────────────►  Catalog ──────────────────────────► ToolSpecs
//! ```
//!
//! A catalog is a TOML file with one `[[tool]]` table for each tool, or a SQLite database with a table `tools` whose
//! columns have the same names (`target`, `scopes`, `tenants`, `agents` and the schemas as JSON text). Which of the two
//! it is, the file's first bytes tell. A row names its *kind*; the kind is looked up in the explicit table of
//! [`Resolvers`], never resolved from the name itself (R-019, R-020). Everything a handler needs is opened and checked
//! here, so that nothing is resolved when a model calls.
//!
//! This module owns the rows and the kinds `table`, `record`, `mock` and `native`. The catalog is trusted configuration;
//! still, a target's paths stay inside the catalog's folder.

mod confined;
mod database;
mod lookup;
mod record;
mod resolver;
mod row;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lockgate_contract::document::Document;
use lockgate_contract::tool::ToolSpec;
use lockgate_host::files;

use self::row::Row;
use crate::error::{Problem, RowLabel, SourceError};

pub use self::resolver::{Resolver, Resolvers, Target};

/// The rows of one catalog file, read and typed, not yet resolved.
#[derive(Debug, Clone)]
pub struct Catalog {
    path: PathBuf,
    /// Absolute, without symbolic links: where the paths of targets start.
    folder: PathBuf,
    rows: Vec<Row>,
}

impl Catalog {
    /// Reads a catalog. Rows with `enabled = false` are left out. The database is only read.
    pub fn load(path: &Path) -> Result<Self, SourceError> {
        let unreadable = |source| SourceError::Unreadable { path: path.to_owned(), source };
        let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = files::resolve(parent.unwrap_or(Path::new("."))).map_err(unreadable)?;
        let rows = if database::is_database(path).map_err(unreadable)? {
            database::read_rows(path)?
        } else {
            text::read_rows(path, &files::read_to_string(path).map_err(unreadable)?)?
        };
        Ok(Self { path: path.to_owned(), folder, rows: admit(path, &rows)? })
    }

    /// The names of the tools, in the order of the file (of a database: in order of name).
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(Row::name)
    }

    /// The tools. `entered_before` says how often the handler of a name was already entered in this run; kinds whose
    /// handlers do the same each time do not ask.
    pub fn into_specs(
        self,
        resolvers: &Resolvers,
        entered_before: &dyn Fn(&str) -> u32,
    ) -> Result<Vec<ToolSpec>, SourceError> {
        let source = format!("catalog:{}", self.path.file_name().unwrap_or_default().to_string_lossy());
        let specs = self.rows.into_iter().map(|row| {
            row.spec(&self.folder, &source, resolvers, entered_before).map_err(|problem| SourceError::Row {
                path: self.path.clone(),
                row: RowLabel::Named(row.name().to_owned()),
                problem: Box::new(problem),
            })
        });
        specs.collect()
    }
}

/// The rows that are enabled, typed, each name once.
fn admit(path: &Path, rows: &[Document]) -> Result<Vec<Row>, SourceError> {
    let mut admitted = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, document) in rows.iter().enumerate() {
        let number = index + 1;
        let refused = |problem| refused_row(path, document, number, problem);
        if row::is_disabled(document) {
            continue;
        }
        let row = Row::read(document).map_err(refused)?;
        if let Some(&first) = places.get(row.name()) {
            return Err(refused(Problem::DuplicateName { first }));
        }
        places.insert(row.name().to_owned(), number);
        admitted.push(row);
    }
    Ok(admitted)
}

fn refused_row(path: &Path, document: &Document, number: usize, problem: Problem) -> SourceError {
    let name = document.root().get("name").and_then(|name| name.as_str()).filter(|name| !name.is_empty());
    let row = name.map_or(RowLabel::Numbered(number), |name| RowLabel::Named(name.into_owned()));
    SourceError::Row { path: path.to_owned(), row, problem: Box::new(problem) }
}

#[cfg(test)]
mod tests;
