use super::*;
use crate::core::workspace::Workspace;

fn list(workspace: &Workspace, path: &str, depth: u32, hidden: bool) -> Listing {
    let arguments = ListDir { path: Some(path.into()), depth: NonZeroU32::new(depth), hidden: Some(hidden) };
    list_dir(&workspace.root, arguments).unwrap()
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn entries_are_sorted_with_kind_and_size() {
    let workspace = Workspace::with(&[("b.txt", "four"), ("a/inner", ""), (".env", "x"), ("empty", "")]);
    let listing = list_dir(&workspace.root, ListDir::default()).unwrap();
    let entry = |name: &str, kind, size_bytes| ListingEntry { name: name.into(), kind, size_bytes };
    let expected = [
        entry("a", EntryKind::Dir, None),
        entry("b.txt", EntryKind::File, Some(4)),
        entry("empty", EntryKind::File, Some(0)),
    ];
    assert_eq!(listing.entries, expected);
    assert_eq!((listing.path.as_str(), listing.total, listing.truncated, listing.skipped), (".", 3, false, 0));
}

#[test]
fn hidden_names_and_depth_are_asked_for() {
    let workspace =
        Workspace::with(&[(".git/config", ""), ("src/a/deep.rs", ""), ("src-gen", ""), (".gitignore", "src\n")]);
    assert_eq!(names(&list(&workspace, "", 1, false)), ["src", "src-gen"]);
    assert_eq!(names(&list(&workspace, "", 1, true)), [".git", ".gitignore", "src", "src-gen"]);
    assert_eq!(names(&list(&workspace, "", 2, false)), ["src", "src-gen", "src/a"]);
    assert_eq!(names(&list(&workspace, "", 9, false)), ["src", "src-gen", "src/a", "src/a/deep.rs"]);
    assert_eq!(names(&list(&workspace, "src", 2, false)), ["a", "a/deep.rs"]);
}

#[test]
fn ten_thousand_entries_are_counted_and_the_first_are_given() {
    let workspace = Workspace::new();
    workspace.write_many("many", (0..10_000).map(|number| format!("{number:05}.txt")));
    let listing = list(&workspace, "many", 1, false);
    assert_eq!((listing.entries.len(), listing.total, listing.truncated), (1000, 10_000, true));
    assert_eq!((names(&listing)[0], names(&listing)[999]), ("00000.txt", "00999.txt"));
}

#[test]
fn only_directories_of_the_root_are_listed() {
    let workspace = Workspace::with(&[("file", "")]);
    let code = |path: &str| {
        let arguments = ListDir { path: Some(path.into()), ..ListDir::default() };
        list_dir(&workspace.root, arguments).unwrap_err().code()
    };
    assert_eq!(code("file"), "not_a_directory");
    assert_eq!(code("missing"), "not_found");
    assert_eq!(code("../outside"), "path_outside_root");
}

#[cfg(unix)]
#[test]
fn links_are_named_as_links() {
    let workspace = Workspace::with(&[("dir/file", "x")]);
    workspace.link("out", workspace.outside(""));
    workspace.link("in", "dir");
    let listing = list(&workspace, "", 3, false);
    let kinds: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    let expected = [
        ("dir", EntryKind::Dir),
        ("dir/file", EntryKind::File),
        ("in", EntryKind::Symlink),
        ("out", EntryKind::Symlink),
    ];
    assert_eq!(kinds, expected);
    // Named by the caller, a link that stays inside is followed.
    assert_eq!(names(&list(&workspace, "in", 1, false)), ["file"]);
    let out = ListDir { path: Some("out".into()), ..ListDir::default() };
    assert_eq!(list_dir(&workspace.root, out).unwrap_err().code(), "path_outside_root");
}
