//! The core read tools over a workspace root: `read_file`, `list_dir`, `glob`, `grep`, and the paging of
//! `read_artifact` (R-188, R-189).
//!
//! Each tool is a plain function from typed arguments to a typed output, so it is tested without the gate. This module
//! owns what the tools do and how they are confined; it does not own how they become registered tools, where artifacts
//! are kept, or anything that writes.
//!
//! ```text
//!  read_file   list_dir   glob   grep             read_artifact
//!      │           └───┐   │   ┌──┘                    │
//!      │              walk (sorted, .gitignore)   text that the caller fetched
//!      ▼                   ▼
//!     root: resolve ─► open ─► confirm where the opened thing lies
//! ```
//!
//! The functions block their thread: whoever registers them says `blocking`. Paths in arguments and results are relative
//! to the root and use `/`; a name that is not Unicode is shown with U+FFFD and cannot be asked for.

mod artifact;
mod error;
mod glob;
mod grep;
mod lines;
mod list_dir;
mod pattern;
mod read_file;
mod read_set;
mod root;
mod text;
mod walk;

#[cfg(test)]
mod confinement;
#[cfg(test)]
mod workspace;

pub use artifact::{ArtifactPage, ReadArtifact, page};
pub use error::{ReadFailure, RootError};
pub use glob::{Glob, GlobPaths, glob};
pub use grep::{Grep, GrepMatch, GrepMatches, grep};
pub use list_dir::{ListDir, Listing, ListingEntry, list_dir};
pub use read_file::{FileText, ReadFile, read_file};
pub use read_set::read_tools;
pub use root::{EntryKind, Root};
pub use text::TextEncoding;

/// What each tool is called and what the model is told about it.
pub mod descriptions {
    pub use super::artifact::{DESCRIPTION as READ_ARTIFACT, NAME as READ_ARTIFACT_NAME};
    pub use super::glob::{DESCRIPTION as GLOB, NAME as GLOB_NAME};
    pub use super::grep::{DESCRIPTION as GREP, NAME as GREP_NAME};
    pub use super::list_dir::{DESCRIPTION as LIST_DIR, NAME as LIST_DIR_NAME};
    pub use super::read_file::{DESCRIPTION as READ_FILE, NAME as READ_FILE_NAME};
}
