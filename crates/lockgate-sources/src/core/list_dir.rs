//! `list_dir`: what a directory holds.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ReadFailure;
use super::root::{EntryKind, Root};
use super::walk::{Purpose, walk};

#[cfg(test)]
mod tests;

/// The tool's name.
pub const NAME: &str = "list_dir";
/// What the model is told about the tool.
pub const DESCRIPTION: &str = "Lists what a directory holds, sorted by name: files with their size in bytes, directories, \
links (not followed). Names are relative to the directory. depth says how many levels to show (default 1). Names that \
begin with a dot are left out unless hidden is true; ignored files are shown. At most 1000 entries are given; total counts \
them all.";

/// The most entries one call gives.
const MAX_LISTED: usize = 1000;

/// What to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDir {
    /// The directory, relative to the root. The default is the root itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many levels to show. The default is 1: the directory's own entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<NonZeroU32>,
    /// Whether to show names that begin with a dot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
}

/// What a directory holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The directory, as it was asked for.
    pub path: String,
    /// The entries, sorted by the bytes of their name.
    pub entries: Vec<ListingEntry>,
    /// How many entries there are, given or not.
    pub total: u64,
    /// Whether entries are missing at the end.
    pub truncated: bool,
    /// How many directories below could not be read.
    pub skipped: u64,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListingEntry {
    /// The entry's path, relative to the directory that was listed.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// How large a file is, in bytes; absent for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// Lists a directory.
///
/// # Errors
/// A path that is not a readable directory in the root, or a million entries below it.
pub fn list_dir(root: &Root, arguments: ListDir) -> Result<Listing, ReadFailure> {
    let ListDir { path, depth, hidden } = arguments;
    let path = path.unwrap_or_else(|| ".".to_owned());
    let base = root.resolve(&path)?;
    let purpose = Purpose::Listing { hidden: hidden.unwrap_or(false), depth: depth.map_or(1, NonZeroU32::get) };
    let mut total = 0;
    // The smallest names so far. The walk's order is that of files; a listing names directories too.
    let mut smallest = BTreeMap::new();
    let skipped = walk(root, &base, purpose, |found| {
        total += 1;
        smallest.insert(found.below_base().to_owned(), (found.kind, found.size_bytes));
        if smallest.len() > MAX_LISTED {
            smallest.pop_last();
        }
        Ok(())
    })?;
    let entries: Vec<_> =
        smallest.into_iter().map(|(name, (kind, size_bytes))| ListingEntry { name, kind, size_bytes }).collect();
    let truncated = (entries.len() as u64) < total;
    Ok(Listing { path, entries, total, truncated, skipped })
}
