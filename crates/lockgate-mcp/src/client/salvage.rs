//! Answers that are no good JSON as a whole: whose they are, and lists of which all entries but one can be read.

use std::ops::Range;

use lockgate_contract::document::{Document, Limits};

/// What can be seen of an answer without reading it: where its parts begin and end, and no more.
#[derive(Default)]
pub(super) struct Outline {
    /// The request that it answers.
    pub(super) id: Option<i64>,
    /// The entries of its list.
    entries: Vec<Range<usize>>,
}

/// The members of a result that are lists, and of which an entry more or less is no other answer.
const LISTS: [&str; 4] = ["tools", "prompts", "resources", "resourceTemplates"];
/// How deep an entry is.
const ENTRY: usize = 3;
/// How much of an entry is shown that cannot be read.
const SHOWN: usize = 80;

impl Outline {
    /// Goes through a text once, whatever is wrong with it.
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut outline = Self::default();
        // The last names of members at the first two levels.
        let mut names = [""; 2];
        let (mut at, mut depth, mut is_list, mut begun) = (0, 0_usize, false, None);
        while let Some(byte) = bytes.get(at) {
            let is_entry = is_list && depth == ENTRY;
            match byte {
                b',' | b']' if is_entry => outline.entries.extend(begun.take().map(|begun| begun..at)),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ if is_entry => drop(begun.get_or_insert(at)),
                _ => {}
            }
            match byte {
                b'"' => {
                    let end = end_of_string(bytes, at);
                    let is_name = text[end..].trim_ascii_start().starts_with(':');
                    if is_name && (1..=names.len()).contains(&depth) {
                        names[depth - 1] = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                    }
                    at = end;
                    continue;
                }
                b'[' if depth == 2 && names[0] == "result" && LISTS.contains(&names[1]) => {
                    (is_list, depth) = (true, depth + 1);
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    is_list &= depth != ENTRY;
                    depth = depth.saturating_sub(1);
                }
                b'0'..=b'9' if depth == 1 && names[0] == "id" && outline.id.is_none() => {
                    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    outline.id = text[at..at + digits].parse().ok();
                }
                _ => {}
            }
            at += 1;
        }
        outline
    }

    /// The text without those entries of its list that cannot be read, and why not; nothing where that is not what is wrong with it.
    pub(super) fn without_unreadable(&self, text: &str, limits: Limits) -> Option<(String, Vec<String>)> {
        let limits = Limits { max_depth: limits.max_depth.saturating_sub(ENTRY), ..limits };
        let (mut kept, mut whys) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            let entry = &text[entry.clone()];
            match Document::parse(entry, limits) {
                Ok(_) => kept.push(entry),
                Err(error) => {
                    let shown = &entry[..entry.floor_char_boundary(SHOWN)];
                    whys.push(format!("an entry of a list is left out: {error}: {shown}…"));
                }
            }
        }
        let (first, last) = (self.entries.first()?, self.entries.last()?);
        if whys.is_empty() {
            return None;
        }
        Some((format!("{}{}{}", &text[..first.start], kept.join(","), &text[last.end..]), whys))
    }
}

/// Where a string ends that begins here.
fn end_of_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
