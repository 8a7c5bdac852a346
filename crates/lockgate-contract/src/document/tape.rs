//! The tape: one entry a value, in the order of the text.
//!
//! While a container is being read, its entry's `next` holds the container around it, so the
//! open containers form a chain through the tape and no stack is needed:
//!
//! ```text
//! text so far   {"a":[1,{"b":
//! tape          0 Object   1 "a"   2 Array   3 1   4 Object   5 "b"
//! next          (none)             0               2               innermost = 4
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

use super::strings::{push_pointer_token, unescape};

/// What a value is. Strings and numbers say how they are spelled, because most need no work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    True,
    False,
    /// A number without fraction and exponent.
    Integer,
    /// A number with a fraction, an exponent, or both.
    Decimal,
    /// A string without escapes.
    Plain,
    /// A string with at least one escape.
    Escaped,
    Array,
    /// Followed on the tape by key, value, key, value…
    Object,
}

/// One value (or one key).
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Where the value begins in the text, a string's quote included.
    pub(super) start: u32,
    /// The first byte after the value.
    pub(super) end: u32,
    /// The first entry after this value and all that is inside it.
    pub(super) next: u32,
    /// How many entries stand directly inside; an object's keys count too.
    pub(super) children: u32,
    pub(super) tag: Tag,
}

impl Entry {
    /// The exact slice of the text.
    #[inline]
    pub(super) fn raw(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// What stands between a string's quotes, escapes unresolved.
    #[inline]
    pub(super) fn quoted(self, text: &str) -> &str {
        text.get(self.start as usize + 1..self.end as usize - 1).unwrap_or_default()
    }

    /// A string with its escapes resolved.
    #[inline]
    pub(super) fn string(self, text: &str) -> Cow<'_, str> {
        match self.tag {
            Tag::Escaped => Cow::Owned(unescape(self.quoted(text))),
            _ => Cow::Borrowed(self.quoted(text)),
        }
    }

    /// Equal for equal strings, and usually different for different ones: four bytes of either end,
    /// and the length.
    #[inline]
    fn fingerprint(self, text: &str) -> u64 {
        let string = self.string(text);
        let bytes = string.as_bytes();
        let ends = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => bytes.iter().fold(0, |ends, byte| ends << 8 | u64::from(*byte)),
        };
        ends ^ (bytes.len() as u64) << 56
    }

    #[inline]
    pub(super) fn is_string(self) -> bool {
        matches!(self.tag, Tag::Plain | Tag::Escaped)
    }
}

const NONE: u32 = u32::MAX;

/// A tape in the making.
pub(super) struct Tape {
    entries: Vec<Entry>,
    innermost: u32,
    depth: usize,
}

impl Tape {
    /// A tape with room for what a text of this length usually needs.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self { entries: Vec::with_capacity((bytes / 8).clamp(8, 4096)), innermost: NONE, depth: 0 }
    }

    /// How many containers are open.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The innermost open container.
    #[inline]
    pub(super) fn innermost(&self) -> Option<Entry> {
        self.entries.get(self.innermost as usize).copied()
    }

    /// Adds a value that has nothing inside.
    #[inline]
    pub(super) fn push(&mut self, tag: Tag, start: usize, end: usize) {
        self.count_child();
        let next = offset(self.entries.len() + 1);
        self.entries.push(Entry { start: offset(start), end: offset(end), next, children: 0, tag });
    }

    /// Begins an array or an object.
    #[inline]
    pub(super) fn open(&mut self, tag: Tag, start: usize) {
        self.count_child();
        let at = offset(self.entries.len());
        self.entries.push(Entry { start: offset(start), end: offset(start), next: self.innermost, children: 0, tag });
        self.innermost = at;
        self.depth += 1;
    }

    /// Ends the innermost container.
    #[inline]
    pub(super) fn close(&mut self, end: usize) {
        let next = offset(self.entries.len());
        if let Some(container) = self.entries.get_mut(self.innermost as usize) {
            self.innermost = container.next;
            container.next = next;
            container.end = offset(end);
            self.depth -= 1;
        }
    }

    #[inline]
    fn count_child(&mut self) {
        if let Some(container) = self.entries.get_mut(self.innermost as usize) {
            container.children += 1;
        }
    }

    /// The second of two equal keys in the innermost object, whose values must be complete.
    #[inline]
    pub(super) fn repeated_key(&self, text: &str) -> Option<Entry> {
        const FEW: usize = 16;
        let object = self.innermost()?;
        let members = object.children as usize / 2;
        if members < 2 {
            return None;
        }
        if members > FEW {
            return self.repeated_key_of_many(text, members);
        }
        let mut seen = [0usize; FEW];
        let mut fingerprints = [0u64; FEW];
        for (count, at) in self.keys_of_innermost().enumerate() {
            let key = self.entries[at];
            let fingerprint = key.fingerprint(text);
            let alike = fingerprints[..count].contains(&fingerprint);
            if alike && seen[..count].iter().any(|earlier| same_string(text, self.entries[*earlier], key)) {
                return Some(key);
            }
            seen[count] = at;
            fingerprints[count] = fingerprint;
        }
        None
    }

    /// Hashed with a random key, so that nobody can choose keys that collide.
    #[cold]
    fn repeated_key_of_many(&self, text: &str, members: usize) -> Option<Entry> {
        let mut seen = HashSet::with_capacity(members);
        self.keys_of_innermost().map(|at| self.entries[at]).find(|key| !seen.insert(key.string(text)))
    }

    fn keys_of_innermost(&self) -> impl Iterator<Item = usize> {
        let mut at = self.innermost as usize + 1;
        std::iter::from_fn(move || {
            let key = at;
            at = self.entries.get(key + 1)?.next as usize;
            Some(key)
        })
    }

    /// A JSON pointer to the innermost open container, or to what is being read inside it.
    #[cold]
    pub(super) fn pointer(&self, text: &str, inside: bool) -> String {
        let mut tokens = Vec::new();
        if inside && let Some(container) = self.innermost() {
            match container.tag {
                Tag::Array => tokens.push(container.children.to_string()),
                // An odd number of entries: the last one is the key of the value being read.
                _ if container.children % 2 == 1 => {
                    tokens.extend(self.entries.last().map(|key| key.string(text).into_owned()));
                }
                _ => {}
            }
        }
        let mut child = self.innermost;
        while let Some(container) = self.entries.get(child as usize) {
            let Some(parent) = self.entries.get(container.next as usize) else {
                break;
            };
            tokens.push(match parent.tag {
                Tag::Array => (parent.children - 1).to_string(),
                _ => self.entries[child as usize - 1].string(text).into_owned(),
            });
            child = container.next;
        }
        let mut pointer = String::new();
        for token in tokens.iter().rev() {
            push_pointer_token(&mut pointer, token);
        }
        pointer
    }

    /// Whether exactly one value was added and is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.depth == 0 && self.entries.first().is_some_and(|root| root.next as usize == self.entries.len())
    }

    /// The finished tape.
    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

fn same_string(text: &str, left: Entry, right: Entry) -> bool {
    if left.tag == Tag::Plain && right.tag == Tag::Plain {
        left.quoted(text) == right.quoted(text)
    } else {
        left.string(text) == right.string(text)
    }
}

/// A place in a text or on a tape.
///
/// INVARIANT: no text is longer than 32 bits can count, so nothing is cut off here: the parser
/// refuses such texts, the writer refuses to finish one.
#[inline]
pub(super) fn offset(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(NONE)
}
