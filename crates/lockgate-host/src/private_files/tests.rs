use std::path::PathBuf;

use tempfile::TempDir;

use super::{Kept, PrivateFileError, read, stamp};

fn file(text: &str, mode: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    let _ = mode;
    (folder, path)
}

#[test]
#[cfg(unix)]
fn what_others_may_read_or_write_is_refused() {
    for (mode, kept, wrong) in [
        (0o600, Kept::Secret, None),
        (0o400, Kept::Secret, None),
        (0o640, Kept::Secret, Some(false)),
        (0o604, Kept::Secret, Some(false)),
        (0o620, Kept::Secret, Some(true)),
        (0o644, Kept::Trusted, None),
        (0o664, Kept::Trusted, Some(true)),
        (0o602, Kept::Trusted, Some(true)),
    ] {
        let (_folder, path) = file("x", mode);
        let found = match read(&path, kept, 10) {
            Ok(file) => {
                assert_eq!(file.bytes, b"x");
                None
            }
            Err(PrivateFileError::Open { written, .. }) => Some(written),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(found, wrong, "{mode:o} {kept:?}");
    }
}

#[test]
fn a_long_file_and_a_folder_are_refused() {
    let (folder, path) = file("12345", 0o600);
    assert!(matches!(read(&path, Kept::Secret, 4), Err(PrivateFileError::TooLarge { most: 4, .. })));
    assert!(matches!(read(folder.path(), Kept::Secret, 4), Err(PrivateFileError::NoFile(_))));
    assert!(read(&folder.path().join("none"), Kept::Secret, 4).unwrap_err().is_not_there());
}

#[test]
fn another_content_has_another_stamp() {
    let (_folder, path) = file("one", 0o600);
    let first = read(&path, Kept::Secret, 10).unwrap().stamp;
    assert_eq!(first, stamp(&path).unwrap());
    std::fs::write(&path, "other").unwrap();
    assert_ne!(first, stamp(&path).unwrap());
}
