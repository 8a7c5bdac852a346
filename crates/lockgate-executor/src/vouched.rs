//! The text of an unexpected error whose author vouched for it (C-4), without what belongs to the machine it ran on.

/// The first line that says something, with every path and address taken out.
///
/// Only one line, because further ones are where stack traces stand. Rather too much is taken out than too little:
/// whatever holds a slash or a backslash is a path here, and so is the whole of a quotation that holds one.
pub(crate) fn without_paths(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let piece = quotation(rest, &shown).unwrap_or_else(|| word(rest, first));
        shown.push_str(if is_path(piece) { "[path]" } else { piece });
        rest = &rest[piece.len()..];
    }
    shown
}

/// The quotation at the start of `rest`, with its quotes, where one starts and ends. An apostrophe inside a word starts
/// none.
fn quotation<'t>(rest: &'t str, before: &str) -> Option<&'t str> {
    let open = rest.chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    if open == '\'' && before.ends_with(char::is_alphanumeric) {
        return None;
    }
    let inner = &rest[open.len_utf8()..];
    let end = inner.find(close)?;
    Some(&rest[..open.len_utf8() + end + close.len_utf8()])
}

/// A run of white space, or a word up to the next white space or to a quote that may start a quotation.
fn word(rest: &str, first: char) -> &str {
    let space = first.is_whitespace();
    let mut before = first;
    for (at, next) in rest.char_indices().skip(1) {
        let quote = "\"`“‘«".contains(next) || next == '\'' && !before.is_alphanumeric();
        if quote || next.is_whitespace() != space {
            return &rest[..at];
        }
        before = next;
    }
    rest
}

fn is_path(piece: &str) -> bool {
    let lower = piece.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    lower.contains(['/', '\\'])
        // The same, encoded for a URL.
        || lower.contains("%2f")
        || lower.contains("%5c")
        || lower.contains("file:")
        || bytes.windows(2).any(|pair| pair[0] == b'~' && pair[1].is_ascii_alphabetic())
        || names_a_drive(bytes)
}

/// A letter that stands alone before a colon with something behind it: `C:secret.txt`.
fn names_a_drive(bytes: &[u8]) -> bool {
    bytes.windows(3).enumerate().any(|(at, window)| {
        let alone = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        alone && window[0].is_ascii_alphabetic() && window[1] == b':' && window[2].is_ascii_alphanumeric()
    })
}

#[cfg(test)]
mod tests;
