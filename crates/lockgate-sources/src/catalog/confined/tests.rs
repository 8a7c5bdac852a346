use tempfile::TempDir;

use super::*;

/// A folder `catalog` with a file and a folder inside, and a file beside it.
fn workspace() -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let root = files::resolve(outer.path()).unwrap();
    let folder = root.join("catalog");
    files::create_dir_all(&folder.join("data")).unwrap();
    files::append_and_sync(&folder.join("data/rows.json"), b"{}").unwrap();
    files::append_and_sync(&root.join("secret.json"), b"{}").unwrap();
    (outer, folder)
}

fn refusal(folder: &Path, path: &str) -> String {
    confine(folder, "rows", path).unwrap_err().to_string()
}

#[test]
fn relative_paths_inside_are_taken_whether_or_not_they_exist() {
    let (_outer, folder) = workspace();
    for path in ["data/rows.json", "./data/./rows.json", "data/new.jsonl", "new/deep/er.count", "x..y"] {
        let confined = confine(&folder, "rows", path).unwrap();
        assert_eq!(confined, folder.join(path.replace("./", "")), "{path}");
    }
}

#[test]
fn paths_that_leave_are_refused() {
    let (_outer, folder) = workspace();
    for (path, reason) in [
        ("../secret.json", "it climbs with `..`"),
        ("data/../../secret.json", "it climbs with `..`"),
        ("data/../data/rows.json", "it climbs with `..`"),
        ("/etc/hostname", "it is absolute"),
        ("", "it names no file"),
        (".", "it names no file"),
    ] {
        assert_eq!(refusal(&folder, path), format!("`rows = \"{path}\"` is refused: {reason}"));
    }
    let problem = confine(&folder, "rows", "/etc/hostname").unwrap_err();
    assert_eq!(problem.hint().as_deref(), Some("use a relative path to a place inside the catalog's folder"));
}

#[cfg(unix)]
#[test]
fn links_that_leave_are_refused_and_links_inside_are_followed() {
    use std::os::unix::fs::symlink;

    let (outer, folder) = workspace();
    symlink("data", folder.join("inside")).unwrap();
    symlink(outer.path(), folder.join("outside")).unwrap();
    symlink("../secret.json", folder.join("secret")).unwrap();
    symlink("../nothing", folder.join("broken")).unwrap();
    assert_eq!(confine(&folder, "rows", "inside/rows.json").unwrap(), folder.join("data/rows.json"));
    let leaves = "a symbolic link on it leads outside of the catalog's folder";
    for path in ["outside/secret.json", "outside/new.json", "secret"] {
        assert_eq!(refusal(&folder, path), format!("`rows = \"{path}\"` is refused: {leaves}"));
    }
    assert!(refusal(&folder, "broken").starts_with("`rows = \"broken\"` is refused: "));
    assert!(refusal(&folder, "data/rows.json/below").starts_with("`rows = \"data/rows.json/below\"` is refused: "));
}
