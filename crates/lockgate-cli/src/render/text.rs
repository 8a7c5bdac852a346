//! Text that others wrote, made fit for a terminal; and plain sentences.

use lockgate::contract::approval::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with spaces behind it, up to `columns`.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text on one line of at most `columns`, with every invisible character made visible: ready to be printed, and not
/// to be given to a [`Cell`](crate::render::table::Cell), which does the same.
pub(crate) fn one_line(text: &str, columns: usize) -> String {
    let text = visible(text);
    shortened(&text, columns, char::width)
}

/// The start of a text that somebody else makes visible: at most `columns` of what is then seen.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    shortened(text, columns, |character| Some(width(&visible(character.encode_utf8(&mut [0; 4])))))
}

/// The whole text if it fits, or else what fits beside an ellipsis.
fn shortened(text: &str, columns: usize, width: impl Fn(char) -> Option<usize>) -> String {
    let widths = || text.chars().map(|character| width(character).unwrap_or(0));
    if widths().sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    // One column is the ellipsis's.
    let fits = widths().take_while(|width| {
        used += width;
        used < columns
    });
    let mut shown: String = text.chars().take(fits.count()).collect();
    shown.push('…');
    shown
}

/// A text of several lines, harmless on a terminal: line breaks and tabs stay; what would move the cursor, change
/// colours or reorder other text is shown as `\u{…}`.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let moves = character.is_control() && !matches!(character, '\n' | '\t');
        let reorders = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if moves || reorders {
            shown.push_str(&visible(character.encode_utf8(&mut [0; 4])));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// `1 step`, `2 steps`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Lines moved to the right by `columns`.
pub(crate) fn indented(text: &str, columns: usize) -> String {
    let space = " ".repeat(columns);
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{space}{line}\n") }).collect()
}

/// A word as a shell reads it: quoted where it must be.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
