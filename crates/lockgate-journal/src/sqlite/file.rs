//! The file itself: where it is, and for whom.
#![expect(
    clippy::disallowed_methods,
    reason = "the journal's file is its own: its mode and its durability are decided here"
)]

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::OpenError;

/// Makes sure that there is a file, and answers with its absolute path.
///
/// What is made is for the owner alone: events hold what users and tools said. SQLite gives its own files beside it
/// (`-wal`, `-shm`) the same mode. What exists already keeps its mode.
pub(super) fn prepare(path: &Path) -> Result<PathBuf, OpenError> {
    // Absolute, so that a later change of the working directory does not lead a reopened journal elsewhere.
    let path = std::path::absolute(path).map_err(access("find", path))?;
    if path.is_dir() {
        return Err(OpenError::NotAFile(path));
    }
    if let Some(folder) = path.parent() {
        let missing: Vec<&Path> = folder.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
        make_folder(folder).map_err(access("make the folder", folder))?;
        // The names of new folders must survive a power cut as well. The file's own name is on the disk with the first
        // commit: SQLite syncs the folder when it makes its `-wal`.
        for parent in missing.into_iter().filter_map(Path::parent) {
            sync_folder(parent).map_err(access("sync the folder", parent))?;
        }
    }
    if make_file(&path)?.is_file() { Ok(path) } else { Err(OpenError::NotAFile(path)) }
}

/// Makes the file where there is none.
///
/// INVARIANT: a file that is there is not opened. Closing it would take away the locks that SQLite has on it for another
/// journal of this process (POSIX: they belong to the process, and end with any of its descriptors): some other process
/// would then find itself alone, and throw a `-wal` away that is being written.
fn make_file(path: &Path) -> Result<Metadata, OpenError> {
    /// What is made here is closed again before anybody else here finds it there.
    static MAKING: Mutex<()> = Mutex::new(());

    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match std::fs::metadata(path) {
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            let file = for_owner_only(OpenOptions::new().read(true).write(true).create(true).truncate(false))
                .open(path)
                .map_err(access("read and write", path))?;
            file.metadata().map_err(access("examine", path))
        }
        found => found.map_err(access("examine", path)),
    }
}

/// Whether the journal lies on a medium that nobody can write.
pub(super) fn is_on_read_only_medium(journal: &Path) -> bool {
    let probe = beside(journal, ".probe");
    match for_owner_only(OpenOptions::new().write(true).create(true).truncate(false)).open(&probe) {
        Ok(_) => {
            let _ = std::fs::remove_file(probe);
            false
        }
        Err(cause) => cause.kind() == io::ErrorKind::ReadOnlyFilesystem,
    }
}

/// The name of a file beside the journal.
pub(super) fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut name = journal.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    journal.with_file_name(name)
}

fn access(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    move |cause| OpenError::Access { action, path: path.to_owned(), cause: cause.to_string() }
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn for_owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    options.mode(0o600)
}

#[cfg(not(unix))]
pub(super) fn for_owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
