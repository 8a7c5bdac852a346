//! A file with secrets that several processes change: one at a time, and replaced whole. Read it by [`private_files`](crate::private_files).
//!
//! The functions block their thread.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::NewFile;

/// How often a lock is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Puts a text in place of the file's, all at once and durably, for the owner alone. Whoever may do that at the same time is kept away
/// by the [`Lock`].
///
/// # Errors
///
/// It cannot be written.
pub fn replace(path: &Path, text: &str, _lock: &Lock) -> io::Result<()> {
    let beside = beside(path, ".new");
    match std::fs::remove_file(&beside) {
        // Nobody else writes one now: this was left by a process that was broken off.
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = NewFile::create(&beside)?;
    file.write(text.as_bytes())?;
    file.finish()?;
    std::fs::rename(&beside, path)?;
    crate::files::sync_folder_of(path)
}

/// Held by one process, and in it by one place, at a time. The machine takes it back when it is dropped or the process dies.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "it is what is held")] File);

impl Lock {
    /// Waits for the lock of this name beside a file (`PATH.NAME.lock`), and at most this long.
    ///
    /// # Errors
    ///
    /// Another holds it for longer, or it cannot be made.
    pub fn wait(path: &Path, name: &str, patience: Duration) -> io::Result<Self> {
        let path = beside(path, &format!(".{name}.lock"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() >= patience => {
                    let path = path.display();
                    return Err(io::Error::new(ErrorKind::TimedOut, format!("another process holds `{path}`")));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_AGAIN),
            }
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests;
