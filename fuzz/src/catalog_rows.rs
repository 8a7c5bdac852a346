//! One row of a catalog that is a database: a field for each column, in the order of [`COLUMNS`].

use std::path::Path;

use lockgate::sources::catalog::{Catalog, Resolvers};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

/// The columns, all of them of any type.
const COLUMNS: [&str; 17] = [
    "name",
    "kind",
    "target",
    "version",
    "description",
    "effect",
    "permission",
    "replay",
    "timeout",
    "scopes",
    "tenants",
    "agents",
    "domain",
    "completes_run",
    "enabled",
    "input_schema",
    "output_schema",
];

/// Stores the rows and loads the database as a catalog.
pub fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    super::catalog::put_rows(folder.path());
    let path = folder.path().join("tools.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
    connection.execute(&format!("CREATE TABLE tools ({})", COLUMNS.join(", ")), []).unwrap();
    let places = vec!["?"; COLUMNS.len()].join(", ");
    for fields in super::fields::split(bytes).iter().take(4) {
        let nothing: &[u8] = b"n";
        let fields = (0..COLUMNS.len()).map(|index| value(fields.get(index).copied().unwrap_or(nothing)));
        connection
            .execute(&format!("INSERT INTO tools VALUES ({places})"), rusqlite::params_from_iter(fields))
            .unwrap();
    }
    drop(connection);
    super::catalog::load(&path);
}

/// What a field stores: its first byte says as what.
fn value(field: &[u8]) -> ToSqlOutput<'_> {
    let Some((kind, rest)) = field.split_first() else { return ToSqlOutput::Owned(Value::Null) };
    let number = std::str::from_utf8(rest).unwrap_or_default();
    match kind {
        b'n' => ToSqlOutput::Owned(Value::Null),
        b'i' => ToSqlOutput::Owned(Value::Integer(number.parse().unwrap_or_default())),
        b'r' => ToSqlOutput::Owned(Value::Real(number.parse().unwrap_or_default())),
        b'b' => ToSqlOutput::Borrowed(ValueRef::Blob(rest)),
        // Text need not be UTF-8 for SQLite.
        _ => ToSqlOutput::Borrowed(ValueRef::Text(rest)),
    }
}

/// The rows of the incident example.
pub fn seeds(root: &Path) -> Vec<Vec<u8>> {
    let catalog = Catalog::load(&root.join("examples/incident/tools.toml")).unwrap();
    let text = |text: &str| format!("t{text}");
    let rows = catalog.into_specs(&Resolvers::new(), &|_| 0).unwrap().into_iter().map(|spec| {
        vec![
            text(spec.name()),
            text("record"),
            text(r#"{"count_file":"rows.count","returns":{"ok":true}}"#),
            text(spec.version()),
            text(spec.description()),
            text(spec.effect().word()),
            text(spec.permission().word()),
            text(spec.replay().word()),
            text("2s"),
            text(&serde_json::to_string(spec.scopes()).unwrap()),
            text("[]"),
            "n".to_owned(),
            "n".to_owned(),
            "i0".to_owned(),
            "i1".to_owned(),
            text(spec.input_schema().text()),
            spec.output_schema().map_or_else(|| "n".to_owned(), |schema| text(schema.text())),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut seeds: Vec<Vec<u8>> = rows.iter().map(|row| super::fields::join(std::slice::from_ref(row))).collect();
    seeds.push(super::fields::join(&rows));
    seeds
}
