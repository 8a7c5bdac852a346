//! How much may be looked at twice, so that no text takes longer than its length explains.

use std::ops::Range;

/// The same byte is looked at so often, on average over the text, before whatever stands there goes.
const TIMES: usize = 16;
/// Short texts may take this much more: less than anybody waits for.
const ALLOWANCE: usize = 64 * 8192;

/// What is left of the effort for one pass over a text.
///
/// Keys and literals stand inside the values and tokens of others, and each of them is followed to the end of its own. In a
/// text that somebody writes they end soon. A text of nothing but beginnings would take a time that grows with the square
/// of its length; there, what is followed in vain too often is taken for a secret, and what is a secret is followed once.
#[derive(Debug)]
pub(crate) struct Effort {
    left: usize,
    /// The last run of token bytes that was measured.
    run: Range<usize>,
}

impl Effort {
    /// For a text of this length, in bytes.
    pub(crate) fn for_text(length: usize) -> Self {
        Self { left: length.saturating_mul(TIMES).saturating_add(ALLOWANCE), run: 0..0 }
    }

    /// Whether so many bytes may be looked at once more.
    pub(crate) fn allows(&mut self, length: usize) -> bool {
        let allowed = length <= self.left;
        self.left = self.left.saturating_sub(length);
        allowed
    }

    /// Where the bytes end that a token can be made of, from `start` on.
    pub(crate) fn end_of_run(&mut self, bytes: &[u8], start: usize) -> usize {
        if !self.run.contains(&start) {
            let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.+/=:%~".contains(byte);
            self.run = start..start + bytes[start..].iter().take_while(part).count();
        }
        self.run.end
    }
}

#[cfg(test)]
mod tests;
