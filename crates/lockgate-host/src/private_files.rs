//! Files that others may not touch: those with secrets, and those that say who may come in.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;

/// Who, beside its owner, may do what with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Nobody may read or write it.
    Secret,
    /// Anybody may read it, nobody may write it.
    Trusted,
    /// Whoever may: it is looked at for its content alone.
    Anyhow,
}

/// A file's content, and what tells it from another one.
#[derive(Debug)]
pub struct PrivateFile {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// How it was found.
    pub stamp: Stamp,
}

/// What changes with a file's content, and costs no reading of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    /// When it was last written, where the system keeps that.
    pub modified: Option<SystemTime>,
    place: [i64; 3],
}

/// Why a file is not read.
#[derive(Debug, Error)]
pub enum PrivateFileError {
    /// The system does not give it.
    #[error("`{}` cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("`{}` is no file", .0.display())]
    NoFile(PathBuf),
    /// Others may read or write it.
    #[error("others than its owner may {} `{}` (mode {mode:o})", if *.written { "write" } else { "read" }, .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Whether they may write it.
        written: bool,
    },
    /// It is another user's.
    #[error("`{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    /// It is longer than any such file has to be.
    #[error("`{}` is longer than {most} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How long it may be.
        most: u64,
    },
}

impl PrivateFileError {
    /// Whether there is no such file.
    pub fn is_not_there(&self) -> bool {
        matches!(self, Self::Unreadable { cause, .. } if cause.kind() == io::ErrorKind::NotFound)
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { path, written, .. } => {
                Some(format!("`chmod {} {}`", if *written { "go-w" } else { "600" }, path.display()))
            }
            Self::Foreign(path) => Some(format!("`chown` `{}` to the user that this program runs as", path.display())),
            Self::Unreadable { .. } | Self::NoFile(_) | Self::TooLarge { .. } => None,
        }
    }
}

/// Reads a file of at most so many bytes, if it is kept as it has to be. What is looked at is the file that is read, and no
/// other one that takes its name meanwhile. Systems without permissions of that kind are taken at their word.
///
/// # Errors
///
/// Why not.
pub fn read(path: &Path, kept: Kept, most: u64) -> Result<PrivateFile, PrivateFileError> {
    let unreadable = |cause| PrivateFileError::Unreadable { path: path.to_owned(), cause };
    // Opening a pipe would wait for whoever writes into it.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(PrivateFileError::NoFile(path.to_owned()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    check(path, &metadata, kept)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(PrivateFileError::TooLarge { path: path.to_owned(), most });
    }
    Ok(PrivateFile { bytes, stamp: Stamp::of(&metadata) })
}

/// How the file is found now.
///
/// # Errors
///
/// It is not there, or the system does not say.
pub fn stamp(path: &Path) -> io::Result<Stamp> {
    Ok(Stamp::of(&std::fs::metadata(path)?))
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok(), place: place(metadata) }
    }
}

/// Which file it is, and when anything about it last changed: a change of its permissions counts, too.
#[cfg(unix)]
fn place(metadata: &Metadata) -> [i64; 3] {
    use std::os::unix::fs::MetadataExt as _;

    [metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()]
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> [i64; 3] {
    [0; 3]
}

#[cfg(unix)]
fn check(path: &Path, metadata: &Metadata, kept: Kept) -> Result<(), PrivateFileError> {
    use std::os::unix::fs::MetadataExt as _;

    if kept == Kept::Anyhow {
        return Ok(());
    }
    let owner = metadata.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return Err(PrivateFileError::Foreign(path.to_owned()));
    }
    let mode = metadata.mode() & 0o7777;
    let (written, forbidden) = (mode & 0o022 != 0, if kept == Kept::Secret { 0o077 } else { 0o022 });
    if mode & forbidden != 0 {
        return Err(PrivateFileError::Open { path: path.to_owned(), mode, written });
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on the systems that have such permissions")]
fn check(_: &Path, _: &Metadata, _: Kept) -> Result<(), PrivateFileError> {
    Ok(())
}

#[cfg(test)]
mod tests;
