//! The right to drive a run, among the processes that share the file: one lock file a run.
//!
//! The operating system takes a lock back when its process ends, however it ends: so a lock that can be had means that
//! no driver of the run is alive. A lock file is removed with its lock; the one who gets a lock makes sure that the file is
//! still the one that others would find.
#![expect(clippy::disallowed_methods, reason = "the journal's files are its own")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use lockgate_contract::ids::RunId;
use lockgate_contract::ports::JournalError;

use super::file;

/// How often a lock file may vanish between opening and locking, before something else must be wrong.
const ATTEMPTS: u32 = 100;

/// Takes the right, or nothing when another driver has it.
pub(super) fn take(journal: &Path, run: &RunId) -> Result<Option<Held>, JournalError> {
    let path = lock_path(journal, run);
    for _ in 0..ATTEMPTS {
        let file = open(&path).map_err(|cause| unavailable(&path, &cause))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(unavailable(&path, &cause)),
        }
        if is_the_one(&file, &path) {
            return Ok(Some(Held { path, _file: file }));
        }
    }
    Err(JournalError::unavailable(format_args!("`{}` vanishes whenever it is locked", path.display())))
}

/// A lock with its file.
pub(super) struct Held {
    path: PathBuf,
    _file: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Removed while the lock is held, so that nobody loses a lock that he has. What cannot be removed harms nobody.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A run's id may hold anything; a file's name may not.
fn lock_path(journal: &Path, run: &RunId) -> PathBuf {
    let name: String = run
        .as_str()
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || byte == b'-' {
                char::from(byte).to_string()
            } else {
                format!("_{byte:02x}")
            }
        })
        .collect();
    file::beside(journal, &format!(".{name}.lock"))
}

fn open(path: &Path) -> io::Result<File> {
    file::for_owner_only(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)
}

/// Whether the locked file is still what its name leads to.
#[cfg(unix)]
fn is_the_one(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_the_one(_file: &File, path: &Path) -> bool {
    path.exists()
}

fn unavailable(path: &Path, cause: &io::Error) -> JournalError {
    JournalError::unavailable(format_args!("`{}` cannot be locked: {cause}", path.display()))
}
