use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::tool::Handler;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::catalog::{Resolver, Target};

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

fn refused(text: &str) -> (String, Option<String>) {
    let (folder, path) = toml_catalog(text);
    let error = specs(&path, &Resolvers::new()).unwrap_err();
    (message(&folder, &error), error.hint())
}

fn refused_database(statements: &str) -> String {
    let (folder, path) = sql_catalog(statements);
    message(&folder, &specs(&path, &Resolvers::new()).unwrap_err())
}

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
fn rows_are_refused_with_name_and_file_and_what_to_do() {
    let named = |rest: &str| format!("[[tool]]\nname = \"a\"\n{rest}");
    for (text, expected, hint) in [
        (
            named("kind = \"tabel\""),
            "tool `a` of the catalog `tools.catalog`: unknown kind `tabel`",
            Some("did you mean `table`?"),
        ),
        (
            named("kind = \"python\""),
            "tool `a` of the catalog `tools.catalog`: unknown kind `python`",
            Some("the kinds are `mock`, `record`, `table`, `native`"),
        ),
        (named(""), "tool `a` of the catalog `tools.catalog`: missing field `kind`", None),
        (
            named("kind = \"mock\"\npermision = \"allow\""),
            "tool `a` of the catalog `tools.catalog`: unknown key `permision`",
            Some("did you mean `permission`?"),
        ),
        (
            named("kind = \"mock\"\nenabled = \"yes\""),
            "tool `a` of the catalog `tools.catalog`: invalid type: string \"yes\", expected a boolean at `/enabled`",
            None,
        ),
        (
            named("kind = \"mock\"\nscopes = \"a\""),
            "tool `a` of the catalog `tools.catalog`: invalid type: string \"a\", expected a sequence at `/scopes`",
            None,
        ),
        (
            named("kind = \"mock\"\ntarget = { behavior = [] }"),
            "tool `a` of the catalog `tools.catalog`: unknown key `behavior` in `/target`",
            Some("did you mean `behaviour`?"),
        ),
        (
            named("kind = \"mock\"\ntarget = { behaviour = [{}] }"),
            "tool `a` of the catalog `tools.catalog`: behaviour entry 1 says nothing",
            Some(
                "an entry has one of `returns`, `fails`, `environment_error`, `panics`, `errors`, `sleeps`, `echoes`, `returns_text`, `returns_raw`, `returns_hex`",
            ),
        ),
        (
            named("kind = \"mock\"\ntarget = { count_file = \"../a.count\" }"),
            "tool `a` of the catalog `tools.catalog`: `count_file = \"../a.count\"` is refused: it climbs with `..`",
            Some("use a relative path to a place inside the catalog's folder"),
        ),
        (
            named("kind = \"native\"\ntarget = { key = \"ship\" }"),
            "tool `a` of the catalog `tools.catalog`: there is no native handler `ship`",
            Some("native handlers are registered by the program that embeds Lockgate; this one registered none"),
        ),
        (
            named("kind = \"mock\"\n[[tool]]\nname = \"a\"\nkind = \"record\""),
            "tool `a` of the catalog `tools.catalog`: row 1 has the same name",
            Some("rename one of them, or set `enabled = false` on the one that is not wanted"),
        ),
        ("[[tool]]\nkind = \"mock\"".to_owned(), "row 1 of the catalog `tools.catalog`: missing field `name`", None),
        (
            "[[tool]]\nname = \"\"\nkind = \"mock\"".to_owned(),
            "tool `` of the catalog `tools.catalog`: the name is empty",
            Some("every tool needs a name of its own"),
        ),
        ("tool = [1]".to_owned(), "row 1 of the catalog `tools.catalog`: a tool must be a table", None),
        (
            "[[tol]]\nname = \"a\"".to_owned(),
            "the catalog `tools.catalog`: unknown key `tol`",
            Some("did you mean `tool`?"),
        ),
        (
            "[tool]\nname = \"a\"".to_owned(),
            "the catalog `tools.catalog`: `tool` is one table; each tool is written under a line `[[tool]]`, with two brackets",
            None,
        ),
    ] {
        let (message, advice) = refused(&text);
        assert_eq!((message.as_str(), advice.as_deref()), (expected, hint), "{text}"); // R-041
    }
}

#[test]
fn schemas_that_cannot_be_enforced_are_refused_with_name_and_file() {
    for (schema, expected) in [
        (
            "input_schema = { type = \"strnig\" }",
            "tool `a` of the catalog `tools.catalog`: the input schema is refused: ",
        ),
        (
            "input_schema = { type = \"array\" }",
            "tool `a` of the catalog `tools.catalog`: the input schema is refused: ",
        ),
        (
            "output_schema = { minimum = \"1\" }",
            "tool `a` of the catalog `tools.catalog`: the output schema is refused: ",
        ),
        (
            "input_schema = \"{}\"",
            "tool `a` of the catalog `tools.catalog`: the input schema is refused: it must be a table",
        ),
    ] {
        let (message, _) = refused(&format!("[[tool]]\nname = \"a\"\nkind = \"mock\"\n{schema}"));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn one_bad_row_refuses_the_whole_catalog() {
    let (message, _) = refused(&format!("{TOML}\n[[tool]]\nname = \"z\"\nkind = \"?\""));
    assert_eq!(message, "tool `z` of the catalog `tools.catalog`: unknown kind `?`");
}

#[test]
fn a_name_may_return_when_the_other_row_is_not_enabled() {
    let row = "[[tool]]\nname = \"a\"\nkind = \"mock\"\n";
    let (_folder, path) = toml_catalog(&format!("{row}enabled = false\n{row}"));
    assert_eq!(specs(&path, &Resolvers::new()).unwrap().len(), 1);
}

#[test]
fn files_that_are_no_catalog_are_refused() {
    let (folder, path) = toml_catalog("[[tool]\n");
    let error = Catalog::load(&path).unwrap_err();
    let shown = message(&folder, &error);
    assert!(shown.starts_with("the catalog `tools.catalog` is neither TOML nor a SQLite database: "), "{shown}");
    assert!(shown.contains("line 1"), "{shown}");
    let absent = folder.path().join("absent.toml");
    let error = Catalog::load(&absent).unwrap_err();
    assert!(message(&folder, &error).starts_with("the catalog `absent.toml` cannot be read: "), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn database_columns_are_as_strict_as_keys() {
    let table = "CREATE TABLE tools (name TEXT, kind TEXT, target TEXT, enabled, version";
    for (statements, expected) in [
        (
            format!("{table}); INSERT INTO tools VALUES ('a', 'mock', '{{', 1, '1')"),
            "tool `a` of the catalog `tools.catalog`: the column `target` does not hold JSON: the text is not JSON, at byte 1",
        ),
        (
            format!("{table}); INSERT INTO tools VALUES ('a', 'mock', '{{}}', 2, '1')"),
            "tool `a` of the catalog `tools.catalog`: the column `enabled` must hold 0 or 1",
        ),
        (
            format!("{table}); INSERT INTO tools VALUES ('a', 'mock', '{{}}', 1, 1.0)"),
            "tool `a` of the catalog `tools.catalog`: invalid type: number `1.0`, expected a string at `/version`",
        ),
        (
            format!("{table}); INSERT INTO tools VALUES ('a', 'mock', '{{}}', 1, x'31')"),
            "tool `a` of the catalog `tools.catalog`: the column `version` must hold text, not a blob",
        ),
        (
            format!("{table}, permision TEXT); INSERT INTO tools VALUES ('a', 'mock', '{{}}', 1, '1', 'deny')"),
            "tool `a` of the catalog `tools.catalog`: unknown key `permision`",
        ),
        (
            format!("{table}); INSERT INTO tools VALUES (NULL, 'mock', '{{}}', 1, '1')"),
            "row 1 of the catalog `tools.catalog`: missing field `name`",
        ),
        (
            format!("{table}); INSERT INTO tools VALUES ('a', 'mock', '{{}}', 1, '1'), ('a', 'mock', '{{}}', 1, '1')"),
            "tool `a` of the catalog `tools.catalog`: row 1 has the same name",
        ),
        (
            "CREATE TABLE tool (name TEXT)".to_owned(),
            "the catalog `tools.catalog` is a SQLite database whose table `tools` cannot be read: no such table: tools",
        ),
    ] {
        assert_eq!(refused_database(&statements), expected, "{statements}");
    }
}

#[test]
fn native_rows_get_the_handler_of_their_key() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let handler = move || {
        count.fetch_add(1, Ordering::Relaxed);
        Handler::typed(|(): ()| async { Ok(true) }).blocking()
    };
    let resolvers = Resolvers::new().native("ship_order", handler).unwrap();
    let row = |name: &str, key: &str| {
        format!("[[tool]]\nname = \"{name}\"\nkind = \"native\"\ntarget = {{ key = \"{key}\" }}\n")
    };
    let (_folder, path) = toml_catalog(&(row("a", "ship_order") + &row("b", "ship_order")));
    let found = specs(&path, &resolvers).unwrap();
    assert!(found.iter().all(|spec| spec.handler().is_some_and(Handler::may_block)));
    assert_eq!((found.len(), made.load(Ordering::Relaxed)), (2, 2));

    let (folder, path) = toml_catalog(&row("a", "ship_oder"));
    let error = specs(&path, &resolvers).unwrap_err();
    assert_eq!(
        message(&folder, &error),
        "tool `a` of the catalog `tools.catalog`: there is no native handler `ship_oder`"
    );
    assert_eq!(error.hint().as_deref(), Some("did you mean `ship_order`?"));
}

#[test]
fn nothing_is_registered_twice() {
    struct Other;
    impl Resolver for Other {
        fn resolve(&self, _: &Target<'_>) -> Result<Handler, Problem> {
            Ok(Handler::typed(|(): ()| async { Ok(true) }))
        }
    }
    let handler = || Handler::typed(|(): ()| async { Ok(true) });
    for kind in ["table", "native"] {
        let error = Resolvers::new().kind(kind, Other).unwrap_err();
        assert_eq!(error.to_string(), format!("the kind `{kind}` is registered already"));
    }
    let error = Resolvers::new().native("a", handler).unwrap().native("a", handler).unwrap_err();
    assert_eq!(error.to_string(), "the native handler `a` is registered already");

    let resolvers = Resolvers::new().kind("other", Other).unwrap();
    let (_folder, path) = toml_catalog("[[tool]]\nname = \"a\"\nkind = \"other\"");
    assert_eq!(specs(&path, &resolvers).unwrap().len(), 1);
}

#[test]
fn a_kind_may_ask_how_often_its_tool_was_entered() {
    struct Asks(Arc<AtomicUsize>);
    impl Resolver for Asks {
        fn resolve(&self, target: &Target<'_>) -> Result<Handler, Problem> {
            self.0.store(target.entered_before() as usize, Ordering::Relaxed);
            Ok(Handler::typed(|(): ()| async { Ok(true) }))
        }
    }
    let heard = Arc::new(AtomicUsize::new(0));
    let resolvers = Resolvers::new().kind("asks", Asks(Arc::clone(&heard))).unwrap();
    let (_folder, path) = toml_catalog("[[tool]]\nname = \"a\"\nkind = \"asks\"");
    let before = |name: &str| u32::from(name == "a") * 3;
    Catalog::load(&path).unwrap().into_specs(&resolvers, &before).unwrap();
    assert_eq!(heard.load(Ordering::Relaxed), 3);
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
