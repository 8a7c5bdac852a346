//! Lines that come from a program, none longer than it may be.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Lines, one after the other.
pub(super) struct Lines<R> {
    reader: R,
    longest: usize,
    line: Vec<u8>,
}

/// What came.
pub(super) enum Line {
    /// A whole line.
    Text(String),
    /// One that is not UTF-8, as far as it can be shown.
    Bytes(String),
    /// One that is longer than it may be, and was passed over.
    TooLong,
    /// One that is so long that nobody waits for its end.
    Endless,
}

/// A line that is so many times as long as it may be is taken for one that never ends.
const ENDLESS: usize = 12;

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, line: Vec::new() }
    }

    /// The next line; nothing at the end. What comes after the last line's end is no line.
    pub(super) async fn next(&mut self) -> Option<Line> {
        self.line.clear();
        let (mut is_too_long, mut passed_over) = (false, 0);
        loop {
            let buffer = self.reader.fill_buf().await.ok().filter(|buffer| !buffer.is_empty())?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if self.line.len() + part.len() > self.longest {
                is_too_long = true;
                self.line = Vec::new();
            } else if !is_too_long {
                self.line.extend_from_slice(part);
            }
            if is_too_long {
                passed_over += part.len();
                if passed_over / ENDLESS > self.longest {
                    return Some(Line::Endless);
                }
            }
            let taken = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if is_too_long {
            return Some(Line::TooLong);
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Some(match String::from_utf8(std::mem::take(&mut self.line)) {
            Ok(text) => Line::Text(text),
            Err(error) => Line::Bytes(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        })
    }
}
