//! What catalogs hold, whichever way they are stored.

use lockgate_contract::effect::{Effect, Permission};

use super::*;

const SQL: &str = r#"
CREATE TABLE tools (
  name TEXT PRIMARY KEY, version TEXT, description TEXT, kind TEXT, target TEXT, effect TEXT, replay TEXT,
  permission TEXT, permission_reason TEXT, scopes TEXT, tenants TEXT, agents TEXT, domain TEXT, completes_run INTEGER,
  timeout TEXT, on_duplicate TEXT, error_text TEXT, input_schema TEXT, output_schema TEXT, enabled INTEGER
);
INSERT INTO tools VALUES (
  'create', '2.0', 'Creates.', 'record', '{"file": "create.jsonl", "returns": {"id": 7}}', 'write', 'never',
  'ask', 'it matters', '["a:write", "b"]', '["demo"]', '["helper"]', 'ops', 1,
  '2s', 'reject', 'vouched',
  '{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9007199254740993}}}', '{"type": "object"}', 1
);
INSERT INTO tools (name, kind, target, effect, input_schema) VALUES (
  'find', 'table',
  '{"rows": "rows.json", "key": "id", "missing": {"code": "row_not_found", "message": "no such row"}}', 'read',
  '{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}'
);
INSERT INTO tools (name, kind, enabled) VALUES ('idle', 'no_such_kind', 0);
"#;

#[test]
fn rows_become_tools() {
    let (_folder, path) = toml_catalog(TOML);
    let catalog = Catalog::load(&path).unwrap();
    assert_eq!(catalog.names().collect::<Vec<_>>(), ["create", "find"]);
    let specs = catalog.into_specs(&Resolvers::new(), &|_| 0).unwrap();
    let [create, find] = specs.as_slice() else { panic!("{specs:?}") };
    assert_eq!((create.name(), create.version(), create.source()), ("create", "2.0", "catalog:tools.catalog"));
    assert_eq!((create.effect(), create.permission()), (Effect::Write, Permission::Ask));
    assert_eq!(create.permission_reason(), Some("it matters"));
    assert_eq!(create.timeout(), Some(std::time::Duration::from_secs(2)));
    assert_eq!((find.effect(), find.permission()), (Effect::Read, Permission::Allow));
    assert!(specs.iter().all(|spec| spec.handler().is_some())); // R-041
}

#[test]
fn a_database_equals_a_toml_file() {
    let (_folder, toml) = toml_catalog(TOML);
    let (_other, database) = sql_catalog(SQL);
    let definitions = |path| {
        let specs = specs(path, &Resolvers::new()).unwrap();
        specs.iter().map(|spec| (spec.name().to_owned(), spec.definition())).collect::<Vec<_>>()
    };
    assert_eq!(definitions(&toml), definitions(&database));
    assert_eq!(definitions(&toml).len(), 2);
}

#[test]
fn a_database_is_only_read() {
    let (folder, path) = sql_catalog(SQL);
    let before = files::read(&path).unwrap();
    specs(&path, &Resolvers::new()).unwrap();
    assert_eq!(files::read(&path).unwrap(), before);
    assert!(!files::is_there(&folder.path().join("tools.catalog-journal")).unwrap());
}

#[test]
fn an_empty_file_is_a_catalog_without_tools() {
    let (_folder, path) = toml_catalog("");
    assert!(specs(&path, &Resolvers::new()).unwrap().is_empty());
}

#[test]
fn tools_is_another_name_for_tool() {
    let text = "[[tools]]\nname = \"a\"\nkind = \"mock\"\n[[tool]]\nname = \"b\"\nkind = \"mock\"";
    let (_folder, path) = toml_catalog(text);
    let catalog = Catalog::load(&path).unwrap();
    assert_eq!(catalog.names().collect::<Vec<_>>(), ["b", "a"]);
}

#[test]
fn a_name_may_return_when_the_other_row_is_not_enabled() {
    let row = "[[tool]]\nname = \"a\"\nkind = \"mock\"\n";
    let (_folder, path) = toml_catalog(&format!("{row}enabled = false\n{row}"));
    assert_eq!(specs(&path, &Resolvers::new()).unwrap().len(), 1);
}

#[test]
fn the_incident_example_loads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/incident/tools.toml");
    let specs = specs(&path, &Resolvers::new()).unwrap();
    let found: Vec<_> =
        specs.iter().map(|spec| (spec.name(), spec.version(), spec.effect(), spec.permission())).collect();
    assert_eq!(
        found,
        [
            ("lookup_incident", "1.0", Effect::Read, Permission::Allow),
            ("lookup_service_owner", "1.0", Effect::Read, Permission::Allow),
            ("create_ticket", "1.0", Effect::Write, Permission::Ask),
            ("notify_service_owner", "1.0", Effect::External, Permission::Ask),
        ]
    );
    for spec in &specs {
        let closed = spec.input_schema().root().get("additionalProperties").and_then(|open| open.as_bool());
        assert_eq!(closed, Some(false), "{}", spec.name());
    }
}
