//! JSON as it is printed: on one line for programs, over several for people. The digits of a number are never touched.

use std::fmt::Write as _;

use lockgate::contract::document::{Document, Kind, Node};

use crate::render::text::replaced;

/// On one line, without white space: what was stored with line breaks has none here.
pub(crate) fn compact(document: &Document) -> String {
    let mut text = String::with_capacity(document.text().len());
    write(&mut text, document.root(), None);
    text
}

/// One member or element a line, and nothing in it that a terminal obeys or hides.
pub(crate) fn pretty(document: &Document) -> String {
    let mut text = String::with_capacity(document.text().len() * 2);
    write(&mut text, document.root(), Some(0));
    escaped(&text)
}

/// The same value, on one line, for a terminal.
pub(crate) fn shown(document: &Document) -> String {
    escaped(&compact(document))
}

/// JSON whose strings hide nothing: what a terminal obeys or does not show stands as `\uXXXX`. The value is the same,
/// since outside of strings there is nothing to escape but the line breaks made here.
fn escaped(text: &str) -> String {
    replaced(text, |text, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    })
}

/// `depth` is how far in the value stands, where lines are broken at all.
fn write(text: &mut String, node: Node<'_>, depth: Option<usize>) {
    match node.kind() {
        Kind::Object => {
            let members = node.names().zip(node.members());
            write_inside(text, ['{', '}'], members, depth, |text, (name, (_, value)), depth| {
                text.push_str(name.raw());
                text.push_str(if depth.is_some() { ": " } else { ":" });
                write(text, value, depth);
            });
        }
        Kind::Array => write_inside(text, ['[', ']'], node.elements(), depth, write),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => text.push_str(node.raw()),
    }
}

fn write_inside<T>(
    text: &mut String,
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    depth: Option<usize>,
    write_item: impl Fn(&mut String, T, Option<usize>),
) {
    let inner = depth.map(|depth| depth + 1);
    let mut empty = true;
    text.push(open);
    for item in items {
        if !std::mem::take(&mut empty) {
            text.push(',');
        }
        break_line(text, inner);
        write_item(text, item, inner);
    }
    if !empty {
        break_line(text, depth);
    }
    text.push(close);
}

fn break_line(text: &mut String, depth: Option<usize>) {
    if let Some(depth) = depth {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    }
}

#[cfg(test)]
mod tests;
