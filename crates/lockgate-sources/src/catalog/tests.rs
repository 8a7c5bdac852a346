use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

mod loaded;
mod refused;
mod resolvers;

const TOML: &str = r#"
[[tool]]
name = "create"
version = "2.0"
description = "Creates."
kind = "record"
target = { file = "create.jsonl", returns = { id = 7 } }
effect = "write"
replay = "never"
permission = "ask"
permission_reason = "it matters"
scopes = ["a:write", "b"]
tenants = ["demo"]
agents = ["helper"]
domain = "ops"
completes_run = true
timeout = "2s"
on_duplicate = "reject"
error_text = "vouched"
input_schema = { type = "object", properties = { n = { type = "integer", maximum = 9007199254740993 } } }
output_schema = { type = "object" }

[[tool]]
name = "find"
kind = "table"
target = { rows = "rows.json", key = "id", missing = { code = "row_not_found", message = "no such row" } }
effect = "read"
input_schema = { type = "object", properties = { id = { type = "string" } }, required = ["id"] }

[[tool]]
name = "idle"
kind = "no_such_kind"
enabled = false
"#;

/// A folder with a catalog of this text under the name `tools.catalog`, and `rows.json` beside it.
fn toml_catalog(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.catalog");
    files::append_and_sync(&path, text.as_bytes()).unwrap();
    files::append_and_sync(&folder.path().join("rows.json"), br#"{"a": {"n": 1}}"#).unwrap();
    (folder, path)
}

/// The same, but a database made by these statements.
fn sql_catalog(statements: &str) -> (TempDir, PathBuf) {
    let (folder, _) = toml_catalog("");
    let database = tempfile::tempdir().unwrap();
    let made = database.path().join("made.db");
    Connection::open(&made).unwrap().execute_batch(statements).unwrap();
    let path = folder.path().join("tools.catalog");
    files::append_and_sync(&path, &files::read(&made).unwrap()).unwrap();
    (folder, path)
}

fn specs(path: &Path, resolvers: &Resolvers) -> Result<Vec<ToolSpec>, SourceError> {
    Catalog::load(path)?.into_specs(resolvers, &|_| 0)
}

/// The message, with the temporary folder cut out.
fn message(folder: &TempDir, error: &SourceError) -> String {
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}
