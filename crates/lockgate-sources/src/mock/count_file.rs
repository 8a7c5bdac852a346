//! The evidence on disk that a handler was entered.

use std::io;
use std::path::{Path, PathBuf};

use lockgate_contract::tool::{Failure, ToolEnvironmentError};
use lockgate_host::files;

/// A file that gets one byte, synced, each time a handler is entered. Its length is the count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountFile {
    path: PathBuf,
}

impl CountFile {
    /// The file need not be there yet, nor its folder.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Adds one. Blocks the thread until the byte is on the disk.
    pub(crate) fn add_one(&self) -> io::Result<()> {
        append_line(&self.path, b".")
    }
}

/// Appends durably, and makes the folder first where it is absent.
pub(crate) fn append_line(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::create_dir_all(folder)?;
    }
    files::append_and_sync(path, bytes)
}

/// Writes on the pool of threads that may block, so that a slow disk holds up nobody else. What was begun is finished
/// even if the caller goes away.
///
/// A disk that does not take the record is the environment's failure: the handler does nothing then, but whether the
/// record itself is there is not known.
pub(crate) async fn on_disk(write: impl FnOnce() -> io::Result<()> + Send + 'static) -> Result<(), Failure> {
    let failure = |error: &dyn std::error::Error| {
        Failure::from(ToolEnvironmentError::new(format!("the call could not be written down: {error}")))
    };
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failure(&error)),
        Err(error) => Err(failure(&error)),
    }
}
