//! Bytes that come in pieces, cut into lines as event streams have them (HTML Living Standard §9.2).

/// Lines that end with a carriage return, a line feed, or both. A byte order mark before the first one is none of it.
#[derive(Debug, Default)]
pub struct Lines {
    /// A line whose end has not come.
    unended: Vec<u8>,
    /// A line ended with a carriage return: a line feed behind it belongs to it.
    after_return: bool,
    has_begun: bool,
}

impl Lines {
    /// The next line that ends in this piece, which is shortened by it; nothing once all of the piece is taken.
    pub fn next(&mut self, piece: &mut &[u8]) -> Option<Vec<u8>> {
        if !piece.is_empty() && std::mem::take(&mut self.after_return) && piece[0] == b'\n' {
            *piece = &piece[1..];
        }
        let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        self.unended.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        let Some(end) = end else {
            *piece = &[];
            return None;
        };
        self.after_return = piece[end] == b'\r';
        *piece = &piece[end + 1..];
        Some(self.rest())
    }

    /// How long the line is whose end has not come, in bytes.
    pub fn unended(&self) -> usize {
        self.unended.len()
    }

    /// The line whose end has not come, and will not.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.unended);
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with("\u{feff}".as_bytes()) {
            line.drain(.."\u{feff}".len());
        }
        line
    }
}

#[cfg(test)]
mod tests;
