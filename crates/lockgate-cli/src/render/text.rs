//! Text that others wrote, made fit for a terminal; and plain sentences.

use std::fmt::Write as _;

use anstyle::Style;
use lockgate::contract::approval::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::render::style::styled;

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
/// colours, reorder other text or not be seen at all is shown as `\u{…}`. Doing it twice changes nothing more.
pub(crate) fn harmless(text: &str) -> String {
    replaced(text, |shown, character| shown.push_str(&visible(character.encode_utf8(&mut [0; 4]))))
}

/// The text with everything that a terminal obeys or hides written in another way. Line breaks, tabs, blanks that take
/// room and the mark that makes an emoji of the sign before it stay.
pub(crate) fn replaced(text: &str, write: impl Fn(&mut String, char)) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut after_sign = false;
    for character in text.chars() {
        let stays = match character {
            '\n' | '\t' => true,
            '\u{fe0f}' => after_sign,
            _ => is_blank(character) || !is_hidden(character),
        };
        if stays {
            shown.push(character);
        } else {
            write(&mut shown, character);
        }
        after_sign = !character.is_ascii() && !is_hidden(character);
    }
    shown
}

fn is_hidden(character: char) -> bool {
    visible(character.encode_utf8(&mut [0; 4])).chars().ne([character])
}

/// Blanks that are seen as such: without a line break, of other widths, ideographic.
fn is_blank(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Text that is on its way to the terminal, with the styles that it was given here and nothing else that drives one. What
/// others wrote was made harmless where it was put in; this is for the place that was forgotten.
pub(crate) fn styles_only(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, code) = rest.split_at(at);
        shown.push_str(&harmless(before));
        let end =
            code[2..].find(|character: char| !character.is_ascii_digit() && character != ';').map_or(2, |end| end + 2);
        let length = if code[end..].starts_with('m') { end + 1 } else { 1 };
        let (code, after) = code.split_at(length);
        if length > 1 {
            shown.push_str(code);
        } else {
            shown.push_str(&harmless(code));
        }
        rest = after;
    }
    shown.push_str(&harmless(rest));
    shown
}

/// A label and what it says: the lines below the first stand under it, so that none of them looks like a line of its own.
pub(crate) fn labelled(style: Style, label: &str, text: &str) -> String {
    let below = width(label) + 1;
    format!("{} {}\n", styled(style, label), hanging(text, below))
}

/// Harmless text whose lines below the first are moved to the right; no line break at its end.
pub(crate) fn hanging(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    lines.join(&format!("\n{}", " ".repeat(columns)))
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

/// A word as a shell reads it: quoted where it must be, and harmless on a terminal.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else if word.contains(['\n', '\t']) || harmless(word) != word {
        let quoted = word.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n").replace('\t', r"\t");
        // Always eight digits: the next character may be one.
        let shown = replaced(&quoted, |shown, hidden| {
            let _ = write!(shown, "\\U{:08x}", u32::from(hidden));
        });
        format!("$'{shown}'")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
