//! The canonical form: RFC 8785 order and strings, exact decimals. Written without recursion.

use super::number::Number;
use super::strings::{compare_utf16, push_quoted, unescape};
use super::tape::{Entry, Tag};

/// A container that is being written.
enum Open {
    /// The next element on the tape, and the end of the array.
    Array { next: usize, end: usize },
    /// The members still to be written: a range of the sorted keys.
    Object { first: usize, next: usize },
}

/// Appends the canonical form of the value at `root`.
pub(super) fn write(text: &str, tape: &[Entry], root: usize, out: &mut String) {
    let mut open: Vec<Open> = Vec::new();
    // The keys of all open objects, each object's in order; the innermost object's come last.
    let mut sorted: Vec<usize> = Vec::new();
    let mut value = Some(root);
    loop {
        if let Some(at) = value.take() {
            let entry = tape[at];
            match entry.tag {
                Tag::Array => {
                    out.push('[');
                    open.push(Open::Array { next: at + 1, end: entry.next as usize });
                }
                Tag::Object => {
                    out.push('{');
                    let first = sorted.len();
                    push_sorted_keys(text, tape, at, &mut sorted);
                    open.push(Open::Object { first, next: first });
                }
                _ => write_scalar(text, entry, out),
            }
        }
        match open.last_mut() {
            None => return,
            Some(Open::Array { next, end }) => {
                if next == end {
                    out.push(']');
                    open.pop();
                } else {
                    separate(out, '[');
                    value = Some(*next);
                    *next = tape[*next].next as usize;
                }
            }
            Some(Open::Object { first, next }) => match sorted.get(*next) {
                None => {
                    out.push('}');
                    sorted.truncate(*first);
                    open.pop();
                }
                Some(&key) => {
                    separate(out, '{');
                    *next += 1;
                    write_scalar(text, tape[key], out);
                    out.push(':');
                    value = Some(key + 1);
                }
            },
        }
    }
}

/// A comma, unless the container has just begun. No value ends in an opening bracket: a string
/// that does still has its quote behind it.
#[inline]
fn separate(out: &mut String, opening: char) {
    if !out.ends_with(opening) {
        out.push(',');
    }
}

#[inline]
fn write_scalar(text: &str, entry: Entry, out: &mut String) {
    match entry.tag {
        // Escapes may be spelled in many ways; everything else that a string may hold stands for
        // itself in the canonical form too.
        Tag::Escaped => {
            push_quoted(out, &unescape(entry.quoted(text)));
        }
        Tag::Integer | Tag::Decimal => {
            out.push_str(&Number::new(entry.raw(text), entry.tag).decimal());
        }
        _ => out.push_str(entry.raw(text)),
    }
}

fn push_sorted_keys(text: &str, tape: &[Entry], object: usize, sorted: &mut Vec<usize>) {
    let first = sorted.len();
    let end = tape[object].next as usize;
    let mut any_escaped = false;
    let mut key = object + 1;
    while key < end {
        any_escaped |= tape[key].tag == Tag::Escaped;
        sorted.push(key);
        key = tape[key + 1].next as usize;
    }
    let keys = &mut sorted[first..];
    if any_escaped {
        // Resolve every key once, not once a comparison.
        let mut resolved: Vec<_> = keys.iter().map(|at| (tape[*at].string(text), *at)).collect();
        resolved.sort_unstable_by(|left, right| compare_utf16(&left.0, &right.0));
        for (slot, (_, at)) in keys.iter_mut().zip(resolved) {
            *slot = at;
        }
    } else {
        keys.sort_unstable_by(|left, right| compare_utf16(tape[*left].quoted(text), tape[*right].quoted(text)));
    }
}
