use super::*;

#[test]
fn it_takes_room_and_gives_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let reserve = Reserve::of(&folder.path().join("journal.db"));
    assert!(!reserve.give_up(), "there is none yet");
    reserve.make().unwrap();
    let path = folder.path().join("journal.db.reserve");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE as u64);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert!(found.blocks() * 512 >= SIZE as u64, "{} blocks", found.blocks());
    }
    // Another process has the same one.
    let other = Reserve::of(&folder.path().join("journal.db"));
    other.make().unwrap();
    assert!(other.give_up());
    assert!(!path.exists());
    assert!(!reserve.give_up(), "the other one gave it up");
    reserve.make().unwrap();
    assert!(path.exists());
}

#[test]
fn half_of_it_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db.reserve");
    std::fs::write(&path, vec![1; SIZE / 2]).unwrap();
    let reserve = Reserve::of(&folder.path().join("journal.db"));
    assert!(!reserve.give_up());
    reserve.make().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE as u64);
}

#[test]
fn what_cannot_be_made_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("journal.db.reserve")).unwrap();
    let reserve = Reserve::of(&folder.path().join("journal.db"));
    assert!(reserve.make().is_err());
    assert!(!reserve.give_up());
}
