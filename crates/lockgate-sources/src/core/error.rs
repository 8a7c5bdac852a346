//! How a core read tool fails, and why a root cannot be opened.

use std::io;
use std::path::PathBuf;

/// The longest piece of what the model sent that a message repeats, in bytes.
const SHOWN_BYTES: usize = 200;

/// Why a core read tool gave no answer.
///
/// Every message is safe for the model: it repeats what the model itself sent (control characters escaped, cut when
/// long) and fixed words, never a path of the machine. The truth behind [`ReadFailure::Environment`] is in its source,
/// which is for people only.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFailure {
    /// The text cannot be a path inside the root: a NUL, a backslash, too long, too many links.
    #[error("`{path}` is not a usable path: it {reason}")]
    InvalidPath {
        /// The path as it was given.
        path: String,
        /// What is wrong with it, in fixed words.
        reason: &'static str,
    },
    /// The path is absolute, climbs above the root, or a symbolic link on it leads outside.
    #[error("`{path}` leads outside of the root; paths are relative to it")]
    PathOutsideRoot {
        /// The path as it was given.
        path: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path as it was given.
        path: String,
    },
    /// A file was needed; a directory, pipe, socket or device is there.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The path as it was given.
        path: String,
    },
    /// A directory was needed; something else is there.
    #[error("`{path}` is not a directory")]
    NotADirectory {
        /// The path as it was given.
        path: String,
    },
    /// The system refused the access.
    #[error("`{path}` may not be read")]
    PermissionDenied {
        /// The path as it was given.
        path: String,
    },
    /// The file is not text.
    #[error("`{path}` is a binary file")]
    BinaryFile {
        /// The path as it was given.
        path: String,
    },
    /// A glob or a regular expression cannot be used.
    #[error("the pattern `{pattern}` cannot be used: {reason}")]
    InvalidPattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The last line asked for stands before the first.
    #[error("lines {start_line} to {end_line} are not a range: the end stands before the start")]
    InvalidRange {
        /// The first line asked for.
        start_line: u64,
        /// The last line asked for.
        end_line: u64,
    },
    /// The first line asked for stands after the end of the file.
    #[error("`{path}` has no line {start_line}: it has {total_lines} lines")]
    LineNotFound {
        /// The path as it was given.
        path: String,
        /// The first line asked for.
        start_line: u64,
        /// How many lines the file has.
        total_lines: u64,
    },
    /// The lines asked for lie deeper in the file than is read.
    #[error("`{path}` is too large: its first {limit_bytes} bytes do not reach the lines asked for")]
    FileTooLarge {
        /// The path as it was given.
        path: String,
        /// How far a file is read, in bytes.
        limit_bytes: u64,
    },
    /// More lies below the directory than one call looks at.
    #[error("`{path}` holds more than {limit} entries; name a directory further down")]
    TooManyEntries {
        /// The path as it was given.
        path: String,
        /// How many entries one call looks at.
        limit: u64,
    },
    /// No stored output has this handle.
    #[error("there is no artifact `{artifact}`")]
    ArtifactNotFound {
        /// The handle as it was given.
        artifact: String,
    },
    /// The page asked for starts after the end of the artifact.
    #[error("the artifact has {total_bytes} bytes; there is nothing at offset {offset}")]
    OffsetPastEnd {
        /// The offset asked for, in bytes.
        offset: u64,
        /// How long the artifact is, in bytes.
        total_bytes: u64,
    },
    /// The disk or the system failed, not the request: this is to become an environment failure, not a tool's answer.
    #[error("the files could not be read")]
    Environment {
        /// What the system said; for people only.
        #[source]
        source: io::Error,
    },
}

impl ReadFailure {
    /// The stable code of this failure. Only `environment_error` is a code of the closed outcome table: that one is to be
    /// reported as an environment failure, every other one as the tool's own business failure.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidPath { .. } => "invalid_path",
            Self::PathOutsideRoot { .. } => "path_outside_root",
            Self::NotFound { .. } => "not_found",
            Self::NotAFile { .. } => "not_a_file",
            Self::NotADirectory { .. } => "not_a_directory",
            Self::PermissionDenied { .. } => "permission_denied",
            Self::BinaryFile { .. } => "binary_file",
            Self::InvalidPattern { .. } => "invalid_pattern",
            Self::InvalidRange { .. } => "invalid_range",
            Self::LineNotFound { .. } => "line_not_found",
            Self::FileTooLarge { .. } => "file_too_large",
            Self::TooManyEntries { .. } => "too_many_entries",
            Self::ArtifactNotFound { .. } => "artifact_not_found",
            Self::OffsetPastEnd { .. } => "offset_past_end",
            Self::Environment { .. } => "environment_error",
        }
    }

    /// Whether the environment failed rather than the request.
    pub const fn is_environment(&self) -> bool {
        matches!(self, Self::Environment { .. })
    }

    pub(super) fn invalid_path(path: &str, reason: &'static str) -> Self {
        Self::InvalidPath { path: shown(path), reason }
    }

    pub(super) fn outside(path: &str) -> Self {
        Self::PathOutsideRoot { path: shown(path) }
    }

    pub(super) fn not_found(path: &str) -> Self {
        Self::NotFound { path: shown(path) }
    }

    pub(super) fn not_a_file(path: &str) -> Self {
        Self::NotAFile { path: shown(path) }
    }

    pub(super) fn not_a_directory(path: &str) -> Self {
        Self::NotADirectory { path: shown(path) }
    }

    pub(super) fn binary_file(path: &str) -> Self {
        Self::BinaryFile { path: shown(path) }
    }

    pub(super) fn too_many_entries(path: &str, limit: u64) -> Self {
        Self::TooManyEntries { path: shown(path), limit }
    }

    pub(super) fn invalid_pattern(pattern: &str, reason: impl Into<String>) -> Self {
        Self::InvalidPattern { pattern: shown(pattern), reason: reason.into() }
    }

    pub(super) fn artifact_not_found(artifact: &str) -> Self {
        Self::ArtifactNotFound { artifact: shown(artifact) }
    }

    pub(super) fn line_not_found(path: &str, start_line: u64, total_lines: u64) -> Self {
        Self::LineNotFound { path: shown(path), start_line, total_lines }
    }

    pub(super) fn file_too_large(path: &str, limit_bytes: u64) -> Self {
        Self::FileTooLarge { path: shown(path), limit_bytes }
    }

    /// What the system's answer about `path` means for the caller. Whatever is not clearly about the request itself
    /// counts as the environment's failure.
    pub(super) fn from_io(path: &str, source: io::Error) -> Self {
        match source.kind() {
            // A name below something that is no directory: there is nothing of that name.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::not_found(path),
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path: shown(path) },
            io::ErrorKind::IsADirectory => Self::not_a_file(path),
            io::ErrorKind::InvalidFilename => Self::invalid_path(path, "has a name that the file system cannot hold"),
            _ => Self::Environment { source },
        }
    }
}

/// Why a directory cannot be a root. For people at configuration time: the path is shown in full.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// The directory does not exist or cannot be looked at.
    #[error("the tool root `{}` cannot be opened", path.display())]
    Unreadable {
        /// The path that was configured.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The path names something else than a directory.
    #[error("the tool root `{}` is not a directory", path.display())]
    NotADirectory {
        /// The path that was configured.
        path: PathBuf,
    },
}

/// What the model sent, fit for one line of a message.
fn shown(given: &str) -> String {
    let cut = &given[..given.floor_char_boundary(SHOWN_BYTES)];
    let mut text = String::with_capacity(cut.len());
    for character in cut.chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    if cut.len() < given.len() {
        text.push('…');
    }
    text
}
