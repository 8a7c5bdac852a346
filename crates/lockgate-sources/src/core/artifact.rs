//! `read_artifact`: pages through an output that was too large to be given whole (Z-11). Only the paging is here; the
//! stored text comes from the run's artifact store.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ReadFailure;

#[cfg(test)]
mod tests;

/// The tool's name.
pub const NAME: &str = "read_artifact";
/// What the model is told about the tool.
pub const DESCRIPTION: &str = "Reads a page of a stored output that was too large to be given whole. artifact is the handle \
from the result's meta. Go on with offset = next_offset until next_offset is null. Offsets are in bytes.";

/// How much text one page holds when nothing else is asked for, in bytes.
const DEFAULT_MAX_BYTES: u64 = 32 * 1024;
/// The most text one page holds, in bytes.
const MAX_BYTES: u64 = 128 * 1024;

/// Which page to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArtifact {
    /// The handle of the stored output.
    pub artifact: String,
    /// Where to begin, in bytes. The default is 0; inside of a character it counts as where that character begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The most bytes of text to give. The default is 32768; more than 131072 counts as 131072.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<NonZeroU64>,
}

/// A page of a stored output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactPage {
    /// The handle of the stored output.
    pub artifact: String,
    /// The text of the page: whole characters, and always at least one unless the output ends here.
    pub text: String,
    /// Where the page begins, in bytes.
    pub offset: u64,
    /// Where the next page begins; null when this one is the last.
    pub next_offset: Option<u64>,
    /// How long the whole output is, in bytes.
    pub total_bytes: u64,
}

/// The page of `full_text` that `arguments` ask for. Following `next_offset` from 0 gives the whole text, once.
///
/// # Errors
/// An offset past the end of the text.
pub fn page(full_text: &str, arguments: ReadArtifact) -> Result<ArtifactPage, ReadFailure> {
    let ReadArtifact { artifact, offset, max_bytes } = arguments;
    let total_bytes = full_text.len() as u64;
    let offset = offset.unwrap_or(0);
    let start = match usize::try_from(offset) {
        Ok(offset) if offset <= full_text.len() => full_text.floor_char_boundary(offset),
        _ => return Err(ReadFailure::OffsetPastEnd { offset, total_bytes }),
    };
    let limit = max_bytes.map_or(DEFAULT_MAX_BYTES, NonZeroU64::get).min(MAX_BYTES);
    let rest = full_text.get(start..).unwrap_or_default();
    let fitting = rest.floor_char_boundary(usize::try_from(limit).unwrap_or(usize::MAX));
    // One character always goes out, however small the page: otherwise a reader would turn it for ever.
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let text = rest.get(..fitting.max(first)).unwrap_or_default();
    let end = start + text.len();
    Ok(ArtifactPage {
        artifact,
        text: text.to_owned(),
        offset: start as u64,
        next_offset: (end < full_text.len()).then_some(end as u64),
        total_bytes,
    })
}
