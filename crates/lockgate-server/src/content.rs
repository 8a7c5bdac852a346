//! What is in a file now: it is read again only where it may have changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lockgate::contract::ports::Clock as _;
use lockgate::contract::time::Timestamp;
use lockgate::host::clock::SystemClock;
use lockgate::host::private_files::{self, Kept, PrivateFileError, Stamp};

/// How old a file's last change has to be before its stamp is believed: two changes in one tick of the file system's clock have
/// the same one.
const TICK: Duration = Duration::from_secs(2);

/// The content of one file. The same content is the same `Arc`, however often the file was written.
pub(crate) struct Content {
    path: PathBuf,
    kept: Kept,
    most: u64,
    seen: Option<Seen>,
}

/// What was found the last time.
struct Seen {
    stamp: Stamp,
    bytes: Arc<Vec<u8>>,
    /// Whether the stamp tells of every later change.
    is_settled: bool,
}

impl Content {
    pub(crate) fn new(path: PathBuf, kept: Kept, most: u64) -> Self {
        Self { path, kept, most, seen: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it now.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not kept as it has to be. It is looked for again the next time: it may be about to be replaced.
    pub(crate) fn now(&mut self) -> Result<Arc<Vec<u8>>, PrivateFileError> {
        if let Some(before) = &self.seen
            && before.is_settled
            && private_files::stamp(&self.path).is_ok_and(|stamp| stamp == before.stamp)
        {
            return Ok(Arc::clone(&before.bytes));
        }
        let read_at = SystemClock.now();
        let before = self.seen.take();
        let file = private_files::read(&self.path, self.kept, self.most)?;
        let is_settled = file.stamp.modified.is_some_and(|at| {
            let at = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let at = Timestamp::from_millis(i64::try_from(at.as_millis()).unwrap_or(i64::MAX));
            read_at.since(at) > TICK
        });
        let bytes = match before {
            Some(before) if *before.bytes == file.bytes => before.bytes,
            _ => Arc::new(file.bytes),
        };
        self.seen = Some(Seen { stamp: file.stamp, bytes: Arc::clone(&bytes), is_settled });
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
