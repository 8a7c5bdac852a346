//! The workspace root: the only door to its files, and the only file of this module that calls the file system.
//!
//! A path passes three guards:
//!
//! 1. **resolve** goes down name by name and reads each symbolic link itself. It never looks at anything above the root,
//!    so a link that leads outside is refused without telling whether its target exists.
//! 2. **open** takes regular files and directories only: opening a pipe could wait for ever, a device could act.
//! 3. **confirm** asks where the opened thing really lies. A directory that was swapped for a link between 1 and 2 is
//!    caught here: on Linux from the open descriptor itself, elsewhere by resolving the path a second time (which leaves
//!    a window of two system calls).
//!
//! Not guarded against: a hard link or a mount inside the root is part of the root; whoever can make those already
//! holds both sides.

#![expect(clippy::disallowed_methods, reason = "opening is guarded here: the host's plain reads would follow links")]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{ReadFailure, RootError};

mod steps;
#[cfg(test)]
mod tests;

use steps::{Step, steps_of_given, steps_of_target};

/// How many symbolic links one path may pass through, as on Linux.
const MAX_LINKS: usize = 40;

/// A directory that tools are confined to. It is resolved once, when it is opened.
#[derive(Debug, Clone)]
pub struct Root {
    path: PathBuf,
    /// The absolute path it was opened by: links inside the root may be written with either name.
    alias: PathBuf,
}

/// What a directory entry is. Symbolic links are named as such and not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// Something that exists inside the root, reached without any link left in its path.
#[derive(Debug, Clone)]
pub(super) struct Resolved {
    path: PathBuf,
    /// What messages call it: the path as given, or relative to the root.
    given: String,
    kind: EntryKind,
}

/// One name in a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
    /// Of regular files, and only when asked for.
    pub(super) size_bytes: Option<u64>,
}

/// A regular file of the root, open for reading.
#[derive(Debug)]
pub(super) struct OpenedFile {
    pub(super) file: File,
    pub(super) size_bytes: u64,
}

impl Root {
    /// Opens `path` as a root.
    ///
    /// # Errors
    /// When it does not exist, cannot be looked at, or is not a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RootError> {
        let given = path.as_ref();
        let unreadable = |source| RootError::Unreadable { path: given.to_owned(), source };
        let path = fs::canonicalize(given).map_err(unreadable)?;
        if !fs::symlink_metadata(&path).map_err(unreadable)?.is_dir() {
            return Err(RootError::NotADirectory { path: given.to_owned() });
        }
        let alias = std::path::absolute(given).map_err(unreadable)?;
        Ok(Self { path, alias })
    }

    /// Where the root lies on this machine. For people, never for the model.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds what `given`, a path relative to the root, names.
    pub(super) fn resolve(&self, given: &str) -> Result<Resolved, ReadFailure> {
        // The steps still to go, the next one last.
        let mut pending = steps_of_given(given)?;
        pending.reverse();
        // INVARIANT: `at` is the root or lies below it, and holds no link.
        let mut at = self.path.clone();
        let mut kind = EntryKind::Dir;
        let mut links = 0;
        while let Some(step) = pending.pop() {
            let name = match step {
                Step::Up if at == self.path => return Err(ReadFailure::outside(given)),
                Step::Up if kind != EntryKind::Dir => return Err(ReadFailure::not_found(given)),
                Step::Up => {
                    at.pop();
                    continue;
                }
                Step::Down(name) => name,
            };
            let next = at.join(&name);
            let metadata = fs::symlink_metadata(&next).map_err(|error| ReadFailure::from_io(given, error))?;
            if !metadata.is_symlink() {
                at = next;
                kind = kind_of(&metadata);
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(ReadFailure::invalid_path(given, "passes through too many symbolic links"));
            }
            let target = fs::read_link(&next).map_err(|error| ReadFailure::from_io(given, error))?;
            let (from_root, steps) = self.link_steps(&target).ok_or_else(|| ReadFailure::outside(given))?;
            if from_root {
                at.clone_from(&self.path);
            }
            pending.extend(steps.into_iter().rev());
        }
        Ok(Resolved { path: at, given: given.to_owned(), kind })
    }

    /// Opens a regular file.
    pub(super) fn open_file(&self, resolved: &Resolved) -> Result<OpenedFile, ReadFailure> {
        let failed = |error| ReadFailure::from_io(&resolved.given, error);
        // Before opening: to open a pipe would wait until somebody writes into it.
        if !fs::symlink_metadata(&resolved.path).map_err(failed)?.is_file() {
            return Err(ReadFailure::not_a_file(&resolved.given));
        }
        let file = File::open(&resolved.path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(ReadFailure::not_a_file(&resolved.given));
        }
        self.confirm(&file, resolved)?;
        Ok(OpenedFile { file, size_bytes: metadata.len() })
    }

    /// Everything in a directory, in no order; an error when it holds more than `limit` names.
    pub(super) fn entries(&self, directory: &Resolved, sizes: bool, limit: u64) -> Result<Vec<Entry>, ReadFailure> {
        let failed = |error| ReadFailure::from_io(&directory.given, error);
        if !fs::symlink_metadata(&directory.path).map_err(failed)?.is_dir() {
            return Err(ReadFailure::not_a_directory(&directory.given));
        }
        let pinned = self.pin(directory)?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(&pinned.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if u64::try_from(entries.len()).unwrap_or(u64::MAX) >= limit {
                return Err(ReadFailure::too_many_entries(&directory.given, limit));
            }
            let kind = match entry.file_type() {
                Ok(file_type) => kind_of_type(file_type),
                // Gone between the listing and the look.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            let size_bytes = (sizes && kind == EntryKind::File)
                .then(|| entry.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len()))
                .flatten();
            entries.push(Entry { name: entry.file_name(), kind, size_bytes });
        }
        Ok(entries)
    }

    /// The path of something in the root, relative to it, with `/` between names; empty for the root itself.
    pub(super) fn relative(&self, resolved: &Resolved) -> String {
        let relative = resolved.path.strip_prefix(&self.path).unwrap_or(Path::new(""));
        let names: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
        names.join("/")
    }

    /// The directories from the root down to `directory`, itself left out.
    pub(super) fn above(&self, directory: &Resolved) -> Vec<Resolved> {
        let mut above: Vec<_> = directory
            .path
            .ancestors()
            .skip(1)
            .take_while(|ancestor| ancestor.starts_with(&self.path))
            .map(|ancestor| Resolved {
                path: ancestor.to_owned(),
                given: directory.given.clone(),
                kind: EntryKind::Dir,
            })
            .collect();
        above.reverse();
        above
    }

    /// Where a link's target leads: whether from the root (or else from the link's own directory), and by which steps.
    /// Nothing when it is an absolute path that is not written as lying in the root.
    fn link_steps(&self, target: &Path) -> Option<(bool, Vec<Step>)> {
        let (from_root, target) = if target.has_root() || target.is_absolute() {
            let inside = target.strip_prefix(&self.path).or_else(|_| target.strip_prefix(&self.alias));
            (true, inside.ok()?)
        } else {
            (false, target)
        };
        let steps = steps_of_target(target)?;
        Some((from_root, steps))
    }

    /// Refuses a file that turned out to lie outside of the root once it was open.
    #[cfg(target_os = "linux")]
    fn confirm(&self, file: &File, resolved: &Resolved) -> Result<(), ReadFailure> {
        let lies_at = fs::read_link(descriptor_path(file)).map_err(|source| ReadFailure::Environment { source })?;
        self.confirm_path(&lies_at, resolved)
    }

    #[cfg(not(target_os = "linux"))]
    fn confirm(&self, _file: &File, resolved: &Resolved) -> Result<(), ReadFailure> {
        let lies_at = fs::canonicalize(&resolved.path).map_err(|error| ReadFailure::from_io(&resolved.given, error))?;
        self.confirm_path(&lies_at, resolved)
    }

    fn confirm_path(&self, lies_at: &Path, resolved: &Resolved) -> Result<(), ReadFailure> {
        if lies_at.starts_with(&self.path) { Ok(()) } else { Err(ReadFailure::outside(&resolved.given)) }
    }

    /// Holds on to a directory that was confirmed, so that what is listed is what was confirmed.
    #[cfg(target_os = "linux")]
    fn pin(&self, directory: &Resolved) -> Result<Pinned, ReadFailure> {
        let handle = File::open(&directory.path).map_err(|error| ReadFailure::from_io(&directory.given, error))?;
        self.confirm(&handle, directory)?;
        Ok(Pinned { path: descriptor_path(&handle), _handle: handle })
    }

    #[cfg(not(target_os = "linux"))]
    fn pin(&self, directory: &Resolved) -> Result<Pinned, ReadFailure> {
        let lies_at =
            fs::canonicalize(&directory.path).map_err(|error| ReadFailure::from_io(&directory.given, error))?;
        self.confirm_path(&lies_at, directory)?;
        Ok(Pinned { path: lies_at })
    }
}

impl Resolved {
    /// What it is; never a link.
    pub(super) fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Its full path on this machine, for matching ignore rules; never for the model.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An entry of this directory, of which a listing said what it is.
    pub(super) fn child(&self, name: &OsStr, shown_as: &str, kind: EntryKind) -> Self {
        Self { path: self.path.join(name), given: shown_as.to_owned(), kind }
    }
}

/// A directory that stays the same one for as long as this lives.
struct Pinned {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    _handle: File,
}

fn kind_of(metadata: &Metadata) -> EntryKind {
    kind_of_type(metadata.file_type())
}

fn kind_of_type(file_type: fs::FileType) -> EntryKind {
    if file_type.is_symlink() {
        EntryKind::Symlink
    } else if file_type.is_dir() {
        EntryKind::Dir
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
