#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use super::*;
use crate::core::workspace::Workspace;

fn search(workspace: &Workspace, base: &str, include_ignored: bool) -> Vec<String> {
    let base = workspace.root.resolve(base).unwrap();
    let mut paths = Vec::new();
    let skipped = walk(&workspace.root, &base, Purpose::Search { include_ignored }, |found| {
        if found.kind != EntryKind::Dir {
            paths.push(found.path);
        }
        Ok(())
    });
    assert_eq!(skipped.unwrap(), 0);
    paths
}

#[test]
fn files_come_in_the_order_of_their_paths() {
    let workspace = Workspace::with(&[("a/x", ""), ("a-b", ""), ("a.txt", ""), ("a/b/c", ""), ("é", ""), ("B", "")]);
    let paths = search(&workspace, "", false);
    assert_eq!(paths, ["B", "a-b", "a.txt", "a/b/c", "a/x", "é"]);
    assert!(paths.is_sorted());
}

#[test]
fn ignore_rules_hold_from_the_innermost_outwards() {
    let workspace = Workspace::with(&[
        (".gitignore", "\u{FEFF}*.log\n/target\nlocal/\n# a comment\n[bad\n"),
        ("a.log", ""),
        ("target/out", ""),
        ("src/target/kept", ""),
        ("src/local/ignored", ""),
        ("src/local.txt", ""),
        ("logs/.gitignore", "!important.log\n"),
        ("logs/important.log", ""),
        ("logs/other.log", ""),
    ]);
    assert_eq!(search(&workspace, "", false), ["logs/important.log", "src/local.txt", "src/target/kept"]);
    // The rules above a directory hold inside of it too.
    assert_eq!(search(&workspace, "src", false), ["src/local.txt", "src/target/kept"]);
    assert_eq!(search(&workspace, "logs", false), ["logs/important.log"]);
    assert_eq!(search(&workspace, "", true).len(), 9);
}

#[test]
fn what_somebody_names_is_gone_into() {
    let workspace = Workspace::with(&[
        (".gitignore", "target\n*.tmp\n"),
        ("target/debug/out.tmp", ""),
        ("target/debug/out", ""),
        (".github/workflow.yml", ""),
        (".github/x.tmp", ""),
        (".git/config", ""),
    ]);
    assert!(search(&workspace, "", false).is_empty());
    assert_eq!(search(&workspace, "target/debug", false), ["target/debug/out", "target/debug/out.tmp"]);
    assert_eq!(search(&workspace, ".github", false), [".github/workflow.yml"]);
    assert_eq!(search(&workspace, ".git", false), [".git/config"]);
    assert!(!search(&workspace, "", true).iter().any(|path| path.starts_with(".git/")));
}

#[test]
fn rules_above_the_root_do_not_count() {
    let workspace = Workspace::with(&[("sub/a.txt", ""), (".gitignore", "*.txt\n")]);
    let root = Root::open(workspace.path("sub")).unwrap();
    let base = root.resolve("").unwrap();
    let mut paths = Vec::new();
    walk(&root, &base, Purpose::Search { include_ignored: false }, |found| {
        paths.push(found.path);
        Ok(())
    })
    .unwrap();
    assert_eq!(paths, ["a.txt"]);
}

#[cfg(unix)]
#[test]
fn ignore_files_that_are_no_files_do_not_count() {
    let workspace = Workspace::with(&[("a/x", ""), ("b/x", ""), ("rules", "x\n")]);
    workspace.link("a/.gitignore", "../rules");
    // To open the pipe would never come back.
    workspace.pipe("b/.gitignore");
    assert_eq!(search(&workspace, "", false), ["a/x", "b/x", "rules"]);
}

#[cfg(unix)]
#[test]
fn links_are_shown_and_not_followed() {
    let workspace = Workspace::with(&[("dir/file", "")]);
    workspace.link("dir/loop", "..");
    workspace.link("out", workspace.outside(""));
    assert_eq!(search(&workspace, "", false), ["dir/file", "dir/loop", "out"]);
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = Workspace::with(&[("locked/file", ""), ("open/file", "")]);
    let locked = workspace.path("locked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever runs the tests as the superuser can read it all the same.
    let expected = if std::fs::read_dir(&locked).is_ok() { (2, 0) } else { (1, 1) };
    let base = workspace.root.resolve("").unwrap();
    let mut files = 0;
    let skipped = walk(&workspace.root, &base, Purpose::Search { include_ignored: false }, |found| {
        files += u64::from(found.kind == EntryKind::File);
        Ok(())
    });
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!((files, skipped.unwrap()), expected);
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_swapped_during_the_walk_is_not_shown() {
    let workspace = Workspace::with(&[("a/file", ""), ("b/sub/file", "")]);
    std::fs::create_dir(workspace.outside("sub")).unwrap();
    std::fs::write(workspace.outside("sub/hidden-name"), "").unwrap();
    let base = workspace.root.resolve("").unwrap();
    let mut paths = Vec::new();
    let skipped = walk(&workspace.root, &base, Purpose::Search { include_ignored: false }, |found| {
        if found.path == "b/sub" {
            std::fs::rename(workspace.path("b"), workspace.path("c")).unwrap();
            workspace.link("b", workspace.outside(""));
        }
        paths.push(found.path);
        Ok(())
    });
    assert_eq!(skipped.unwrap(), 1);
    assert_eq!(paths, ["a", "a/file", "b", "b/sub"]);
}
