#![expect(clippy::disallowed_methods, reason = "a test writes files of its own")]

use super::*;

fn content(path: &Path) -> Content {
    Content::new(path.to_owned(), Kept::Anyhow, 16)
}

#[test]
fn the_same_content_is_the_same_whoever_writes_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "one").unwrap();
    let mut content = content(&path);
    let first = content.now().unwrap();
    assert!(Arc::ptr_eq(&first, &content.now().unwrap()));
    // Two changes in one tick of the clock, of one length.
    std::fs::write(&path, "two").unwrap();
    let second = content.now().unwrap();
    assert_eq!(second.as_slice(), b"two");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "two").unwrap();
    assert!(Arc::ptr_eq(&second, &content.now().unwrap()), "another file with the same content is no change");
}

#[test]
fn what_cannot_be_read_is_looked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut content = content(&path);
    assert!(content.now().unwrap_err().is_not_there());
    std::fs::write(&path, "x".repeat(17)).unwrap();
    assert!(matches!(content.now(), Err(PrivateFileError::TooLarge { .. })));
    std::fs::write(&path, "one").unwrap();
    assert_eq!(content.now().unwrap().as_slice(), b"one");
    assert!(matches!(Content::new(folder.path().to_owned(), Kept::Anyhow, 16).now(), Err(PrivateFileError::NoFile(_))));
}
