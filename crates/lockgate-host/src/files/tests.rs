use super::*;

#[test]
fn a_files_digest_is_over_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "abc").unwrap();
    let digest = content_digest(&path).unwrap().to_string();
    assert_eq!(digest, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); // FIPS 180-4
    assert!(content_digest(folder.path()).is_err());
    assert!(content_digest(&folder.path().join("none")).is_err());
}

#[test]
fn appending_makes_the_file_and_adds_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.count");
    append_and_sync(&path, b"a").unwrap();
    append_and_sync(&path, b"bc").unwrap();
    assert_eq!(read_to_string(&path).unwrap(), "abc");
    assert_eq!(read(&path).unwrap(), b"abc");
    assert_eq!(read_start(&path, 2).unwrap(), b"ab");
    assert_eq!(read_start(&path, 9).unwrap(), b"abc");
}

#[test]
fn appending_makes_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("counts");
    let error = append_and_sync(&inside.join("a"), b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    create_dir_all(&inside).unwrap();
    append_and_sync(&inside.join("a"), b"x").unwrap();
    assert_eq!(read(&inside.join("a")).unwrap(), b"x");
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes");
    append_and_sync(&path, b"\xff").unwrap();
    assert_eq!(read_to_string(&path).unwrap_err().kind(), ErrorKind::InvalidData);
}

#[cfg(unix)]
#[test]
fn resolving_follows_links_and_a_link_to_nowhere_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = resolve(folder.path()).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("broken")).unwrap();
    std::os::unix::fs::symlink("file", root.join("link")).unwrap();
    append_and_sync(&root.join("file"), b"x").unwrap();
    assert_eq!(resolve(&root.join("link")).unwrap(), root.join("file"));
    assert!(is_there(&root.join("broken")).unwrap());
    assert!(!is_there(&root.join("absent")).unwrap());
}

#[test]
fn a_new_file_is_there_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let mut file = NewFile::create(&path).unwrap();
    file.write(b"one\r\n").unwrap();
    file.write(b"two").unwrap();
    file.finish().unwrap();
    assert_eq!(lines(&path).unwrap().map(Result::unwrap).collect::<Vec<_>>(), ["one\r", "two"]);
    assert_eq!(NewFile::create(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let unfinished = folder.path().join("unfinished");
    drop(NewFile::create(&unfinished).unwrap());
    assert!(!is_there(&unfinished).unwrap());
}

#[test]
fn names_come_sorted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b", "a", "c.d"] {
        append_and_sync(&folder.path().join(name), b"x").unwrap();
    }
    assert_eq!(names_in(folder.path()).unwrap(), ["a", "b", "c.d"]);
    assert_eq!(names_in(&folder.path().join("absent")).unwrap_err().kind(), ErrorKind::NotFound);
}

// Other systems take no such name.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_is_an_error() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    append_and_sync(&folder.path().join("a"), b"x").unwrap();
    append_and_sync(&folder.path().join(std::ffi::OsStr::from_bytes(b"b\xff")), b"x").unwrap();
    let error = names_in(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(error.to_string(), "the name `b\u{fffd}` is not UTF-8");
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules");
    assert_eq!(replace(&path, b"old", b"new").unwrap_err().kind(), ErrorKind::NotFound);
    append_and_sync(&path, b"old, and longer").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    let before = std::fs::metadata(&path).unwrap().permissions();
    assert_eq!(replace(&path, b"another", b"new").unwrap_err().kind(), ErrorKind::ResourceBusy);
    assert_eq!(names_in(folder.path()).unwrap(), ["rules"]);
    replace(&path, b"old, and longer", b"new").unwrap();
    assert_eq!((read(&path).unwrap(), std::fs::metadata(&path).unwrap().permissions()), (b"new".to_vec(), before));
    assert_eq!(names_in(folder.path()).unwrap(), ["rules"]);
    // Somebody else is about to replace it: one of both has to come later.
    append_and_sync(&folder.path().join("rules.new"), b"another's").unwrap();
    assert_eq!(replace(&path, b"new", b"third").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        (read(&path).unwrap(), read(&folder.path().join("rules.new")).unwrap()),
        (b"new".to_vec(), b"another's".to_vec())
    );
}
