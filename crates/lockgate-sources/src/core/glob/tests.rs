use super::*;
use crate::core::workspace::Workspace;

fn ask(pattern: &str) -> Glob {
    Glob { pattern: pattern.into(), path: None, include_ignored: None, max_results: None }
}

fn paths(workspace: &Workspace, arguments: Glob) -> Vec<String> {
    glob(&workspace.root, arguments).unwrap().paths
}

#[test]
fn paths_are_sorted_and_relative_to_the_root() {
    let workspace =
        Workspace::with(&[("src/z.rs", ""), ("src/a/b.rs", ""), ("src/a-b.rs", ""), ("main.rs", ""), ("x", "")]);
    let found = glob(&workspace.root, ask("**/*.rs")).unwrap();
    assert_eq!(found.paths, ["main.rs", "src/a-b.rs", "src/a/b.rs", "src/z.rs"]);
    assert_eq!((found.pattern.as_str(), found.total, found.truncated), ("**/*.rs", 4, false));
    assert_eq!(paths(&workspace, ask("*.rs")), ["main.rs"]);
    // The pattern is relative to the directory, the paths are not.
    let below = Glob { path: Some("src".into()), ..ask("*.rs") };
    assert_eq!(paths(&workspace, below), ["src/a-b.rs", "src/z.rs"]);
    assert!(paths(&workspace, ask("*.py")).is_empty());
    // Directories are not files.
    assert!(paths(&workspace, ask("src")).is_empty());
}

#[test]
fn ignored_and_hidden_files_are_asked_for() {
    let workspace = Workspace::with(&[
        (".gitignore", "target/\n"),
        ("target/a.rs", ""),
        (".cache/b.rs", ""),
        ("c.rs", ""),
        (".git/d.rs", ""),
    ]);
    assert_eq!(paths(&workspace, ask("**/*.rs")), ["c.rs"]);
    let all = Glob { include_ignored: Some(true), ..ask("**/*.rs") };
    assert_eq!(paths(&workspace, all), [".cache/b.rs", "c.rs", "target/a.rs"]);
}

#[test]
fn ten_thousand_files_are_counted_and_the_first_are_given() {
    let workspace = Workspace::new();
    for directory in 0..100 {
        let numbers = (directory..10_000).step_by(100);
        workspace.write_many(&format!("d{directory}"), numbers.map(|number| format!("{number:05}.txt")));
    }
    let found = glob(&workspace.root, ask("**/*.txt")).unwrap();
    assert_eq!((found.paths.len(), found.total, found.truncated), (500, 10_000, true));
    assert!(found.paths.is_sorted());
    let three = Glob { max_results: NonZeroU32::new(3), ..ask("**/*7.txt") };
    let found = glob(&workspace.root, three).unwrap();
    assert_eq!((found.paths.len(), found.total, found.truncated), (3, 1000, true));
    assert_eq!(found.paths[0], "d17/00017.txt");
    let exactly = Glob { max_results: NonZeroU32::new(100), path: Some("d7".into()), ..ask("*") };
    let found = glob(&workspace.root, exactly).unwrap();
    assert_eq!((found.paths.len(), found.total, found.truncated), (100, 100, false));
}

#[test]
fn bad_requests_are_refused() {
    let workspace = Workspace::with(&[("file", "")]);
    let code = |arguments| glob(&workspace.root, arguments).unwrap_err().code();
    assert_eq!(code(ask("../**")), "invalid_pattern");
    assert_eq!(code(Glob { path: Some("file".into()), ..ask("*") }), "not_a_directory");
    assert_eq!(code(Glob { path: Some("..".into()), ..ask("*") }), "path_outside_root");
}

#[cfg(unix)]
#[test]
fn links_count_when_they_lead_to_a_file_inside() {
    let workspace = Workspace::with(&[("AGENTS.md", ""), ("docs/x.md", "")]);
    workspace.link("CLAUDE.md", "AGENTS.md");
    workspace.link("out.md", workspace.outside("secret.txt"));
    workspace.link("gone.md", "missing");
    workspace.link("dir.md", "docs");
    assert_eq!(paths(&workspace, ask("**/*.md")), ["AGENTS.md", "CLAUDE.md", "docs/x.md"]);
}
