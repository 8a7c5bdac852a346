#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::io::Read as _;

use super::*;
use crate::core::workspace::{SECRET, Workspace};

fn code(root: &Root, path: &str) -> &'static str {
    match root.resolve(path) {
        Ok(_) => "ok",
        Err(failure) => failure.code(),
    }
}

fn text(root: &Root, path: &str) -> Result<String, &'static str> {
    let resolved = root.resolve(path).map_err(|failure| failure.code())?;
    let mut opened = root.open_file(&resolved).map_err(|failure| failure.code())?;
    let mut text = String::new();
    opened.file.read_to_string(&mut text).unwrap();
    Ok(text)
}

#[test]
fn a_root_is_an_existing_directory() {
    let workspace = Workspace::with(&[("file.txt", "x")]);
    let missing = Root::open(workspace.path("missing")).unwrap_err();
    assert!(matches!(missing, RootError::Unreadable { .. }), "{missing:?}");
    let file = Root::open(workspace.path("file.txt")).unwrap_err();
    assert!(matches!(file, RootError::NotADirectory { .. }), "{file:?}");
}

#[test]
fn plain_paths_resolve_whatever_their_spelling() {
    let workspace = Workspace::with(&[("a/b/c.txt", "deep"), ("日本語/ファイル.txt", "unicode")]);
    for path in ["a/b/c.txt", "./a//b/./c.txt", "a/../a/b/c.txt", "a/b/../b/c.txt"] {
        assert_eq!(text(&workspace.root, path).as_deref(), Ok("deep"), "{path}");
    }
    assert_eq!(text(&workspace.root, "日本語/ファイル.txt").as_deref(), Ok("unicode"));
    for path in ["", ".", "a/..", "./"] {
        let resolved = workspace.root.resolve(path).unwrap();
        assert_eq!((resolved.kind(), workspace.root.relative(&resolved).as_str()), (EntryKind::Dir, ""), "{path}");
    }
}

#[test]
fn paths_that_leave_the_root_by_their_text_are_refused() {
    let workspace = Workspace::with(&[("a/file.txt", "x")]);
    let absolute = workspace.path("a/file.txt");
    for path in [
        "..",
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "../root/a/file.txt",
        "/etc/passwd",
        "//host/share",
    ] {
        assert_eq!(code(&workspace.root, path), "path_outside_root", "{path}");
    }
    assert_eq!(code(&workspace.root, absolute.to_str().unwrap()), "path_outside_root");
    for path in ["C:\\Windows", "C:/Windows", "c:file.txt", "\\\\host\\share", "\\\\?\\C:\\x"] {
        assert_eq!(code(&workspace.root, path), "path_outside_root", "{path}");
    }
}

#[test]
fn paths_that_no_file_can_have_are_refused() {
    let workspace = Workspace::with(&[("a/file.txt", "x")]);
    let long = "x/".repeat(3000);
    let long_name = "x".repeat(300);
    for path in ["a\0/file.txt", "a\\file.txt", "..\\outside", &long, &long_name] {
        assert_eq!(code(&workspace.root, path), "invalid_path", "{path:?}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let workspace = Workspace::with(&[("a/file.txt", "x")]);
    for path in ["missing", "a/missing/file.txt", "a/file.txt/more", "a/file.txt/..", "missing/../a"] {
        assert_eq!(code(&workspace.root, path), "not_found", "{path}");
    }
}

#[test]
fn only_regular_files_are_opened() {
    let workspace = Workspace::with(&[("a/file.txt", "x")]);
    assert_eq!(text(&workspace.root, "a"), Err("not_a_file"));
    let file = workspace.root.resolve("a/file.txt").unwrap();
    assert_eq!(workspace.root.entries(&file, false, 10).unwrap_err().code(), "not_a_directory");
}

#[test]
fn a_directory_with_too_many_entries_is_refused() {
    let workspace = Workspace::with(&[("a", ""), ("b", ""), ("c", "")]);
    let root = workspace.root.resolve("").unwrap();
    assert_eq!(workspace.root.entries(&root, false, 3).unwrap().len(), 3);
    assert_eq!(workspace.root.entries(&root, false, 2).unwrap_err().code(), "too_many_entries");
}

#[test]
fn messages_repeat_only_what_was_given() {
    let workspace = Workspace::new();
    let machine = workspace.root.path().to_str().unwrap();
    for path in ["missing", "../x", "a\\b", "/etc/passwd"] {
        let message = workspace.root.resolve(path).unwrap_err().to_string();
        assert!(message.contains(path) && !message.contains(machine), "{message}");
    }
    let message = workspace.root.resolve(&format!("line\nbreak\u{1b}{}", "é".repeat(200))).unwrap_err().to_string();
    assert!(message.starts_with("`line\\nbreak\\u{1b}é"), "{message}");
    assert!(message.len() < 300 && !message.contains(char::is_control), "{message}");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::fs;

    #[test]
    fn links_that_stay_inside_are_followed() {
        let workspace = Workspace::with(&[("a/b/file.txt", "inside")]);
        workspace.link("file", "a/b/file.txt");
        workspace.link("a/up", "../a/b");
        workspace.link("chain", "a/up/file.txt");
        workspace.link("a/absolute", workspace.path("a/b/file.txt"));
        for path in ["file", "a/up/file.txt", "chain", "a/absolute", "a/up/../b/file.txt"] {
            assert_eq!(text(&workspace.root, path).as_deref(), Ok("inside"), "{path}");
        }
    }

    #[test]
    fn a_link_may_name_the_root_as_it_was_opened() {
        let workspace = Workspace::with(&[("file.txt", "inside")]);
        std::os::unix::fs::symlink(workspace.root.path(), workspace.outside("alias")).unwrap();
        let root = Root::open(workspace.outside("alias")).unwrap();
        workspace.link("by-alias", workspace.outside("alias/file.txt"));
        assert_eq!(text(&root, "by-alias").as_deref(), Ok("inside"));
        // Opened by its own name, the root does not know the other one.
        assert_eq!(text(&workspace.root, "by-alias"), Err("path_outside_root"));
    }

    #[test]
    fn links_that_lead_outside_are_refused() {
        let workspace = Workspace::with(&[("dir/file.txt", "x")]);
        workspace.link("file", workspace.outside("secret.txt"));
        workspace.link("relative", "../outside/secret.txt");
        workspace.link("dir/out", "../../outside");
        workspace.link("chain", "dir/second");
        workspace.link("dir/second", "../file");
        workspace.link("parent", "..");
        workspace.link("sideways", "../root/dir/file.txt");
        workspace.link("slash", "/");
        workspace.link("process", "/proc/self/root/etc/passwd");
        let paths = [
            "file",
            "relative",
            "dir/out/secret.txt",
            "dir/out",
            "chain",
            "parent/outside/secret.txt",
            "parent/root/dir/file.txt",
            "sideways",
            "slash",
            "slash/etc/passwd",
            "process",
            "dir/out/../root/dir/file.txt",
        ];
        for path in paths {
            assert_eq!(text(&workspace.root, path), Err("path_outside_root"), "{path}");
        }
    }

    #[test]
    fn a_link_does_not_tell_whether_something_outside_exists() {
        let workspace = Workspace::new();
        workspace.link("there", workspace.outside("secret.txt"));
        workspace.link("not-there", workspace.outside("missing.txt"));
        workspace.link("not-there-relative", "../outside/missing.txt");
        let there = workspace.root.resolve("there").unwrap_err().to_string();
        for path in ["not-there", "not-there-relative"] {
            let message = workspace.root.resolve(path).unwrap_err().to_string();
            assert_eq!(message.replace(path, "there"), there);
        }
    }

    #[test]
    fn dangling_and_endless_links_are_told_apart() {
        let workspace = Workspace::new();
        workspace.link("dangling", "missing/file.txt");
        workspace.link("one", "two");
        workspace.link("two", "one");
        workspace.link("self", "self/self");
        assert_eq!(code(&workspace.root, "dangling"), "not_found");
        assert_eq!(code(&workspace.root, "one"), "invalid_path");
        assert_eq!(code(&workspace.root, "self"), "invalid_path");
    }

    #[test]
    fn a_sibling_whose_name_begins_like_the_root_is_outside() {
        let workspace = Workspace::new();
        let sibling = format!("{}-sibling", workspace.root.path().display());
        fs::create_dir(&sibling).unwrap();
        fs::write(format!("{sibling}/file.txt"), SECRET).unwrap();
        workspace.link("link", format!("{sibling}/file.txt"));
        assert_eq!(text(&workspace.root, "link"), Err("path_outside_root"));
    }

    #[test]
    fn a_directory_that_is_swapped_for_a_link_after_the_check_is_caught() {
        let workspace = Workspace::with(&[("dir/secret.txt", "inside"), ("dir/sub/x", "")]);
        let file = workspace.root.resolve("dir/secret.txt").unwrap();
        let directory = workspace.root.resolve("dir").unwrap();
        let middle = workspace.root.resolve("dir/sub").unwrap();
        fs::create_dir(workspace.outside("sub")).unwrap();
        fs::rename(workspace.path("dir"), workspace.path("moved")).unwrap();
        workspace.link("dir", workspace.outside(""));
        assert_eq!(workspace.root.open_file(&file).unwrap_err().code(), "path_outside_root");
        assert_eq!(workspace.root.entries(&directory, true, 10).unwrap_err().code(), "not_a_directory");
        assert_eq!(workspace.root.entries(&middle, true, 10).unwrap_err().code(), "path_outside_root");
    }

    #[test]
    fn a_file_that_is_swapped_for_a_link_after_the_check_is_caught() {
        let workspace = Workspace::with(&[("file.txt", "inside")]);
        let file = workspace.root.resolve("file.txt").unwrap();
        fs::remove_file(workspace.path("file.txt")).unwrap();
        workspace.link("file.txt", workspace.outside("secret.txt"));
        assert_eq!(workspace.root.open_file(&file).unwrap_err().code(), "not_a_file");
    }

    #[test]
    fn pipes_and_devices_are_never_opened() {
        let workspace = Workspace::new();
        if !workspace.pipe("pipe") {
            return;
        }
        assert_eq!(workspace.root.resolve("pipe").unwrap().kind(), EntryKind::Other);
        // To open it would never come back: nobody writes into it.
        assert_eq!(text(&workspace.root, "pipe"), Err("not_a_file"));
        let devices = Root::open("/dev").unwrap();
        assert_eq!(text(&devices, "null"), Err("not_a_file"));
    }

    #[test]
    fn names_that_are_not_unicode_are_listed() {
        use std::os::unix::ffi::OsStrExt as _;
        let workspace = Workspace::new();
        let name = OsStr::from_bytes(b"caf\xe9");
        if fs::write(workspace.root.path().join(name), "x").is_err() {
            // Some file systems take Unicode names only.
            return;
        }
        let root = workspace.root.resolve("").unwrap();
        let entries = workspace.root.entries(&root, true, 10).unwrap();
        assert_eq!((entries[0].name.as_os_str(), entries[0].size_bytes), (name, Some(1)));
    }
}

#[test]
fn what_the_system_says_becomes_a_request_failure_or_an_environment_failure() {
    use io::ErrorKind;
    let code = |kind: ErrorKind| ReadFailure::from_io("x", kind.into()).code();
    assert_eq!(code(ErrorKind::NotFound), "not_found");
    assert_eq!(code(ErrorKind::PermissionDenied), "permission_denied");
    assert_eq!(code(ErrorKind::IsADirectory), "not_a_file");
    for kind in [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::TimedOut, ErrorKind::StaleNetworkFileHandle] {
        let failure = ReadFailure::from_io("x", kind.into());
        assert!(failure.is_environment() && failure.code() == "environment_error", "{kind}");
    }
}
