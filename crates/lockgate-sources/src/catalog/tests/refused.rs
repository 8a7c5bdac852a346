//! What catalogs may not hold, and what is said about it.

use super::*;

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
        assert_eq!((message.as_str(), advice.as_deref()), (expected, hint), "{text}");
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
fn one_bad_row_refuses_the_whole_catalog() {
    let (message, _) = refused(&format!("{TOML}\n[[tool]]\nname = \"z\"\nkind = \"?\""));
    assert_eq!(message, "tool `z` of the catalog `tools.catalog`: unknown kind `?`");
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
