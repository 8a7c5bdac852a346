//! Where a word begins, also behind the escapes that texts of machines are full of.
//!
//! `\nghp_…` in a JSON text, `%3Dghp_…` in a URL and `ESC[31mghp_…` on a terminal all begin a token although the byte
//! before it is a letter or a digit.

/// Whether a byte is a letter, a digit or an underscore (ASCII; every byte of a longer character is not).
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a word begins at `at`: nothing that belongs to a word stands before it, or that something ends an escape.
pub(crate) fn starts_word(bytes: &[u8], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| bytes.get(before)) {
        Some(&before) if is_word(before) => ends_escape(bytes, at),
        _ => true,
    }
}

/// Steps over the rest of an escape when `start`, the left end of a run of key bytes, cut one in two.
pub(crate) fn skip_escape(bytes: &[u8], start: usize) -> usize {
    let Some(&before) = start.checked_sub(1).and_then(|before| bytes.get(before)) else {
        return start;
    };
    let rest = &bytes[start..];
    let length = match (before, rest) {
        (b'\\', [b'n' | b'r' | b't' | b'b' | b'f', ..]) => 1,
        (b'\\', [b'u', digits @ ..]) if starts_with_hex(digits, 4) => 5,
        (b'%', digits) if starts_with_hex(digits, 2) => 2,
        (b'[', rest) => rest
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .filter(|&end| rest[end] == b'm')
            .map_or(0, |end| end + 1),
        _ => 0,
    };
    start + length
}

fn ends_escape(bytes: &[u8], at: usize) -> bool {
    let head = &bytes[..at];
    matches!(head, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'])
        || ends_with_hex(head, b"%", 2)
        || ends_with_hex(head, b"\\u", 4)
        || ends_colour(head)
}

/// A terminal's colour sequence: `[`, digits and semicolons, `m`.
fn ends_colour(head: &[u8]) -> bool {
    let Some((b'm', parameters)) = head.split_last() else {
        return false;
    };
    let open = parameters.iter().rev().take(16).position(|byte| !(byte.is_ascii_digit() || *byte == b';'));
    open.is_some_and(|distance| parameters[parameters.len() - 1 - distance] == b'[')
}

fn ends_with_hex(head: &[u8], prefix: &[u8], digits: usize) -> bool {
    head.len().checked_sub(prefix.len() + digits).is_some_and(|from| {
        let (found, rest) = head[from..].split_at(prefix.len());
        found == prefix && starts_with_hex(rest, digits)
    })
}

fn starts_with_hex(bytes: &[u8], digits: usize) -> bool {
    bytes.len() >= digits && bytes[..digits].iter().all(u8::is_ascii_hexdigit)
}
