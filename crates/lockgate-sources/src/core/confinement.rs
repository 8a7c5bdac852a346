//! Promises that hold for all core tools: nothing outside of the root comes out, and the schemas are closed.

use std::cell::Cell;

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};

use super::workspace::{SECRET, Workspace};
use super::{
    ArtifactPage, FileText, Glob, GlobPaths, Grep, GrepMatches, ListDir, Listing, ReadArtifact, ReadFile, glob, grep,
    list_dir, read_file,
};

/// A root with every kind of way out that a path can find.
#[cfg(unix)]
fn full_of_ways_out() -> Workspace {
    let workspace = Workspace::with(&[("dir/file.txt", "inside"), ("file.txt", "inside")]);
    workspace.link("out", workspace.outside(""));
    workspace.link("secret", workspace.outside("secret.txt"));
    workspace.link("dir/up", "../..");
    workspace.link("dir/in", ".");
    workspace.link("chain", "dir/up");
    workspace.link("slash", "/");
    workspace.link("back", "out/../outside");
    workspace
}

/// Paths made of what the workspace holds, of what lies beside it, and of what a path should not have.
#[cfg(unix)]
fn paths(workspace: &Workspace) -> impl Strategy<Value = String> + use<> {
    let outer = workspace.root.path().parent().unwrap().to_str().unwrap().to_owned();
    let name = prop::sample::select(vec![
        "..",
        ".",
        "",
        "dir",
        "up",
        "in",
        "out",
        "outside",
        "root",
        "secret",
        "secret.txt",
        "file.txt",
        "chain",
        "slash",
        "back",
        "C:",
        "\\",
        "~",
        "%2e%2e",
        "\u{2025}",
        "．．",
        "..\0",
        "*",
    ]);
    let made = (prop::collection::vec(name, 0..8), prop::sample::select(vec!["/", "//", "/./", "\\"]))
        .prop_map(|(names, between)| names.join(between));
    let absolute = made.clone().prop_map(move |path| format!("{outer}/{path}"));
    prop_oneof![8 => made, 1 => absolute, 1 => any::<String>()]
}

#[cfg(unix)]
#[test]
fn no_path_brings_out_what_lies_outside() {
    let workspace = full_of_ways_out();
    let root = &workspace.root;
    // The secret can be found at all: through a root that holds it.
    let outer = super::Root::open(workspace.root.path().parent().unwrap()).unwrap();
    let known = ReadFile { path: "outside/secret.txt".into(), start_line: None, end_line: None, max_bytes: None };
    assert_eq!(read_file(&outer, known).unwrap().text, SECRET);

    let mut config = ProptestConfig::with_cases(1500);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let read = Cell::new(0);
    let outcome = runner.run(&paths(&workspace), |path| {
        let file = ReadFile { path: path.clone(), start_line: None, end_line: None, max_bytes: None };
        if let Ok(file) = read_file(root, file) {
            prop_assert_eq!(file.text, "inside");
            read.set(read.get() + 1);
        }
        let listed = ListDir { path: Some(path.clone()), depth: 5.try_into().ok(), hidden: Some(true) };
        if let Ok(listing) = list_dir(root, listed) {
            prop_assert!(!listing.entries.iter().any(|entry| entry.name.contains("secret.txt")), "{:?}", listing);
        }
        let found =
            Glob { pattern: "**".into(), path: Some(path.clone()), include_ignored: Some(true), max_results: None };
        if let Ok(found) = glob(root, found) {
            prop_assert!(found.paths.iter().all(|path| path.ends_with("file.txt")), "{:?}", found);
        }
        let grepped = Grep { pattern: SECRET.into(), path: Some(path), include_ignored: Some(true), ..Grep::default() };
        if let Ok(found) = grep(root, grepped) {
            prop_assert_eq!(found.total_matches, 0);
        }
        Ok(())
    });
    outcome.unwrap();
    // The paths are not all refused: some lead to what may be read.
    assert!(read.get() > 0);
}

/// Every object of a schema says which members it has, and that it has no others.
fn assert_closed<T: JsonSchema>() {
    fn objects(schema: &serde_json::Value, closed: &mut u32) {
        let serde_json::Value::Object(members) = schema else {
            return;
        };
        if members.contains_key("properties") {
            assert_eq!(members.get("additionalProperties"), Some(&false.into()), "{schema}");
            *closed += 1;
        }
        for (_, value) in members {
            objects(value, closed);
        }
    }
    let mut closed = 0;
    objects(schema_for!(T).as_value(), &mut closed);
    assert!(closed > 0);
}

#[test]
fn schemas_are_closed() {
    assert_closed::<ReadFile>();
    assert_closed::<FileText>();
    assert_closed::<ListDir>();
    assert_closed::<Listing>();
    assert_closed::<Glob>();
    assert_closed::<GlobPaths>();
    assert_closed::<Grep>();
    assert_closed::<GrepMatches>();
    assert_closed::<ReadArtifact>();
    assert_closed::<ArtifactPage>();
}
