//! Lines, none longer than it may be.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// One line.
pub(super) enum Line {
    /// Its text, without the line's end. Never blank.
    Text(String),
    /// It is longer than allowed: it was skipped.
    TooLong,
    /// It is no UTF-8.
    NotText,
    /// There are no more.
    End,
}

/// Reads lines.
pub(super) struct Lines<R> {
    input: R,
    most: usize,
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Of at most so many bytes each.
    pub(super) fn new(input: R, most: usize) -> Self {
        Self { input, most, line: Vec::new() }
    }

    /// The next line that is not blank.
    pub(super) async fn next(&mut self) -> std::io::Result<Line> {
        loop {
            self.line.clear();
            let mut too_long = false;
            let ended = loop {
                let read = self.input.fill_buf().await?;
                if read.is_empty() {
                    break true;
                }
                let end = read.iter().position(|byte| *byte == b'\n');
                let piece = &read[..end.unwrap_or(read.len())];
                if self.line.len() + piece.len() > self.most {
                    too_long = true;
                    self.line = Vec::new();
                } else if !too_long {
                    self.line.extend_from_slice(piece);
                }
                let consumed = end.map_or(read.len(), |end| end + 1);
                self.input.consume(consumed);
                if end.is_some() {
                    break false;
                }
            };
            if too_long {
                return Ok(Line::TooLong);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(String::from_utf8(std::mem::take(&mut self.line)).map_or(Line::NotText, Line::Text));
            }
            if ended {
                return Ok(Line::End);
            }
        }
    }
}
