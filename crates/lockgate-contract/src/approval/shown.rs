//! What a person reads before deciding.

use std::fmt::Write as _;

use crate::approval::Circumstances;
use crate::document::{Document, Kind, Node};
use crate::effect::Effect;

/// What a person is shown: tool, effect, subject, what the call would meet, and the arguments, with every invisible character
/// made visible.
pub fn shown_text(
    tool: &str,
    version: &str,
    effect: Effect,
    subject: [&str; 3],
    circumstances: &Circumstances,
    arguments: &Document,
) -> String {
    let [tenant, user, agent] = subject;
    let place = circumstances.environment.as_deref().map(|name| format!(" in environment {}", visible(name)));
    let mut text = format!(
        "{} {} wants to run with effect {effect}{}\nfor {} of tenant {}, asked by agent {}\n",
        visible(tool),
        visible(version),
        place.unwrap_or_default(),
        visible(user),
        visible(tenant),
        visible(agent),
    );
    if !circumstances.files.is_empty() {
        text.push_str("files, as they were when this was asked:\n");
        for (name, digest) in &circumstances.files {
            let _ = writeln!(text, "  {}: {digest}", visible(name));
        }
    }
    text.push_str("arguments:\n");
    write_arguments(&mut text, arguments);
    text
}

/// The arguments as a person is shown them, one top-level member a line.
pub fn shown_arguments(arguments: &Document) -> Vec<String> {
    let mut text = String::new();
    write_arguments(&mut text, arguments);
    text.lines().map(|line| line.trim_start().to_owned()).collect()
}

/// The arguments, one top-level member a line.
fn write_arguments(text: &mut String, arguments: &Document) {
    let mut empty = true;
    for (key, value) in arguments.root().members() {
        empty = false;
        text.push_str("  ");
        // A key of other characters could pass for a key with its value.
        if is_plain(&key) {
            text.push_str(&key);
        } else {
            write_string(text, &key);
        }
        text.push_str(": ");
        write_value(text, value);
        text.push('\n');
    }
    if empty {
        text.push_str("  (none)\n");
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// A value on one line: numbers as they were written, strings without the escapes that hide what they say.
fn write_value(text: &mut String, value: Node<'_>) {
    match value.kind() {
        Kind::Array => {
            text.push('[');
            for (index, element) in value.elements().enumerate() {
                separate(text, index);
                write_value(text, element);
            }
            text.push(']');
        }
        Kind::Object => {
            text.push('{');
            for (index, (key, member)) in value.members().enumerate() {
                separate(text, index);
                write_string(text, &key);
                text.push_str(": ");
                write_value(text, member);
            }
            text.push('}');
        }
        Kind::String => write_string(text, &value.as_str().unwrap_or_default()),
        Kind::Null | Kind::Bool | Kind::Number => text.push_str(value.raw()),
    }
}

fn separate(text: &mut String, index: usize) {
    if index > 0 {
        text.push_str(", ");
    }
}

fn write_string(text: &mut String, string: &str) {
    text.push_str(&visible(Document::string(string).text()));
}

/// Shows control, format, bidirectional and other invisible characters as `\u{…}`, so that what is read is what is there.
///
/// No two texts are shown alike: where the text itself has `\u{`, its backslash is shown as `\u{5c}`. So a text that was
/// made visible before it was stored must not be made visible again.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if is_invisible(character) || text[at..].starts_with("\\u{") {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Characters that a terminal or a page shows as nothing, moves the cursor with, or lets reorder others.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{13430}'..='\u{13440}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
