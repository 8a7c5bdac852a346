//! `glob`: files whose path matches a pattern.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ReadFailure;
use super::pattern::{Scope, compile_glob};
use super::root::{EntryKind, Root};
use super::walk::{Found, Purpose, walk};

#[cfg(test)]
mod tests;

/// The tool's name.
pub const NAME: &str = "glob";
/// What the model is told about the tool.
pub const DESCRIPTION: &str = "Finds files whose path below the directory `path` (default: the root) matches a glob. `*` and \
`?` do not match `/`; `**/` matches any directories: `**/*.rs` finds at every depth, `*.rs` only directly in the directory. \
`[ab]` and `{a,b}` work. The paths found are sorted and relative to the root. Hidden files and what .gitignore names are \
left out unless include_ignored is true; total counts all matches.";

/// How many paths one call gives when nothing else is asked for.
const DEFAULT_MAX_RESULTS: u32 = 500;
/// The most paths one call gives.
const MAX_RESULTS: u32 = 10_000;

/// What to find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Glob {
    /// The glob, matched against paths relative to `path`.
    pub pattern: String,
    /// The directory to search, relative to the root. The default is the root itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether to find hidden files and files that .gitignore names too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_ignored: Option<bool>,
    /// The most paths to give. The default is 500; more than 10000 counts as 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<NonZeroU32>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobPaths {
    /// The glob, as it was asked for.
    pub pattern: String,
    /// The files, relative to the root, sorted by the bytes of their path.
    pub paths: Vec<String>,
    /// How many files match, given or not.
    pub total: u64,
    /// Whether paths are missing at the end.
    pub truncated: bool,
    /// How many directories could not be read.
    pub skipped: u64,
}

/// Finds files by their path. Links count when they lead to a file in the root; linked directories are not gone into.
///
/// # Errors
/// A bad pattern, a path that is not a readable directory in the root, or a million entries below it.
pub fn glob(root: &Root, arguments: Glob) -> Result<GlobPaths, ReadFailure> {
    let Glob { pattern, path, include_ignored, max_results } = arguments;
    let matcher = compile_glob(&pattern, Scope::WholePath)?;
    let base = root.resolve(path.as_deref().unwrap_or("."))?;
    let limit = max_results.map_or(DEFAULT_MAX_RESULTS, NonZeroU32::get).min(MAX_RESULTS);
    let mut paths = Vec::new();
    let mut total = 0;
    let purpose = Purpose::Search { include_ignored: include_ignored.unwrap_or(false) };
    let skipped = walk(root, &base, purpose, |found| {
        if matcher.is_match(found.below_base()) && leads_to_a_file(root, &found) {
            total += 1;
            if total <= u64::from(limit) {
                paths.push(found.path);
            }
        }
        Ok(())
    })?;
    let truncated = total > u64::from(limit);
    Ok(GlobPaths { pattern, paths, total, truncated, skipped })
}

fn leads_to_a_file(root: &Root, found: &Found) -> bool {
    match found.kind {
        EntryKind::File => true,
        EntryKind::Symlink => root.resolve(&found.path).is_ok_and(|target| target.kind() == EntryKind::File),
        EntryKind::Dir | EntryKind::Other => false,
    }
}
