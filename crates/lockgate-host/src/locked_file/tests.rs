use std::io::ErrorKind;
use std::time::Duration;

use super::{Lock, replace};
use crate::private_files::{Kept, read};

const SOON: Duration = Duration::from_millis(50);

#[test]
fn it_is_replaced_whole_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.json");
    let lock = Lock::wait(&path, "write", SOON).unwrap();
    // Left by a process that was broken off.
    std::fs::write(folder.path().join("secrets.json.new"), "half").unwrap();
    for text in ["one", "another"] {
        replace(&path, text, &lock).unwrap();
        // As a secret: nobody else may read it.
        assert_eq!(read(&path, Kept::Secret, 10).unwrap().bytes, text.as_bytes());
    }
}

#[test]
fn one_holds_the_lock_and_others_wait_with_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.json");
    let held = Lock::wait(&path, "a", SOON).unwrap();
    assert_eq!(Lock::wait(&path, "a", SOON).unwrap_err().kind(), ErrorKind::TimedOut);
    Lock::wait(&path, "b", SOON).unwrap();
    drop(held);
    Lock::wait(&path, "a", SOON).unwrap();
}
