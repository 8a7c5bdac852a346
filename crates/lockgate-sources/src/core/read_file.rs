//! `read_file`: a range of lines of one text file.

use std::io::{self, Read as _};
use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::ReadFailure;
use super::lines::LineWindow;
use super::root::{EntryKind, Root};
use super::text::{TextEncoding, TextReader};

#[cfg(test)]
mod tests;

/// The tool's name.
pub const NAME: &str = "read_file";
/// What the model is told about the tool.
pub const DESCRIPTION: &str = "Reads a text file, whole or a range of lines. Lines are counted from 1 and both ends are \
included. Long text ends after a whole line with truncated = true: go on with start_line = end_line + 1. Reads UTF-8, and \
UTF-16 with a byte order mark; binary files are refused.";

/// How much text one call gives when nothing else is asked for, in bytes.
const DEFAULT_MAX_BYTES: u64 = 128 * 1024;
/// The most text one call gives, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// How far into a file one call reads, in bytes: to reach the lines asked for, and to count all lines.
const MAX_SCANNED_BYTES: u64 = 1 << 30;

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file, relative to the root.
    pub path: String,
    /// The first line to read, counted from 1. The default is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<NonZeroU64>,
    /// The last line to read, itself included. The default is the last line of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<NonZeroU64>,
    /// The most bytes of text to give. The default is 131072; more than 1048576 counts as 1048576.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<NonZeroU64>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileText {
    /// The file, as it was asked for.
    pub path: String,
    /// The lines, with the line ends that the file has; a byte order mark is left out.
    pub text: String,
    /// How the file is encoded.
    pub encoding: TextEncoding,
    /// Whether U+FFFD stands in the text for something that could not be decoded.
    pub lossy: bool,
    /// The first line in the text.
    pub start_line: u64,
    /// The last line in the text; one less than `start_line` when there is none.
    pub end_line: u64,
    /// How many lines the file has; null when it is so large that they were not all counted.
    pub total_lines: Option<u64>,
    /// Whether lines that were asked for are missing at the end of the text.
    pub truncated: bool,
    /// Whether the text is the beginning of one line that is too long to give.
    pub line_cut: bool,
    /// How large the file is, in bytes.
    pub size_bytes: u64,
}

/// Reads lines of a text file. The file is streamed: no more of it is held than what is given back.
///
/// # Errors
/// A path that is not a readable text file in the root, or a range that it does not have.
pub fn read_file(root: &Root, arguments: ReadFile) -> Result<FileText, ReadFailure> {
    scan(root, arguments, MAX_SCANNED_BYTES)
}

fn scan(root: &Root, arguments: ReadFile, max_scanned_bytes: u64) -> Result<FileText, ReadFailure> {
    let ReadFile { path, start_line, end_line, max_bytes } = arguments;
    let start_line = start_line.map_or(1, NonZeroU64::get);
    let end_line = end_line.map_or(u64::MAX, NonZeroU64::get);
    if end_line < start_line {
        return Err(ReadFailure::InvalidRange { start_line, end_line });
    }
    let limit = max_bytes.map_or(DEFAULT_MAX_BYTES, NonZeroU64::get).min(MAX_BYTES);

    let resolved = root.resolve(&path)?;
    if resolved.kind() != EntryKind::File {
        return Err(ReadFailure::not_a_file(&path));
    }
    let opened = root.open_file(&resolved)?;
    let failed = |error| ReadFailure::from_io(&path, error);
    let Some(mut reader) = TextReader::open(opened.file).map_err(failed)? else {
        return Err(ReadFailure::binary_file(&path));
    };

    let mut window = LineWindow::new(start_line, end_line, usize::try_from(limit).unwrap_or(usize::MAX));
    let mut buffer = vec![0; 64 * 1024];
    let mut scanned_bytes = 0;
    let complete = loop {
        if scanned_bytes >= max_scanned_bytes {
            break false;
        }
        match reader.read(&mut buffer) {
            Ok(0) => break true,
            Ok(count) => {
                window.feed(buffer.get(..count).unwrap_or_default());
                scanned_bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    };
    if !complete && !window.reached() {
        return Err(ReadFailure::file_too_large(&path, max_scanned_bytes));
    }
    let seen = window.finish(complete);
    match seen.total_lines {
        // Line 1 of an empty file is the one range that is empty without being wrong.
        Some(total_lines) if start_line > total_lines.max(1) => {
            return Err(ReadFailure::line_not_found(&path, start_line, total_lines));
        }
        _ => {}
    }
    Ok(FileText {
        path,
        text: seen.text,
        encoding: reader.encoding(),
        lossy: seen.lossy,
        start_line,
        end_line: seen.end_line,
        total_lines: seen.total_lines,
        truncated: seen.truncated,
        line_cut: seen.line_cut,
        size_bytes: opened.size_bytes,
    })
}
