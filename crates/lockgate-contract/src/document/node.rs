//! One value of a document, read in place.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;

use super::error::DecodeError;
use super::number::Number;
use super::strings::read_pointer_token;
use super::tape::{Entry, Tag, offset};
use super::{Document, Inner, canonical, value};

/// The kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, see [`Number`].
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value inside a [`Document`]; as cheap to copy as a reference.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    inner: &'a Inner,
    at: usize,
}

impl<'a> Node<'a> {
    pub(super) fn new(inner: &'a Inner, at: usize) -> Self {
        Self { inner, at }
    }

    #[inline]
    pub(super) fn entry(self) -> Entry {
        self.inner.tape[self.at]
    }

    #[inline]
    pub(super) fn tag(self) -> Tag {
        self.entry().tag
    }

    /// What kind of value this is.
    pub fn kind(&self) -> Kind {
        match self.tag() {
            Tag::Null => Kind::Null,
            Tag::True | Tag::False => Kind::Bool,
            Tag::Integer | Tag::Decimal => Kind::Number,
            Tag::Plain | Tag::Escaped => Kind::String,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.tag() == Tag::Null
    }

    /// The value of a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self.tag() {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// A string, escapes resolved; borrowed where it has none.
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        let entry = self.entry();
        entry.is_string().then(|| entry.string(&self.inner.text))
    }

    /// A number.
    pub fn as_number(&self) -> Option<Number<'a>> {
        let tag = self.tag();
        matches!(tag, Tag::Integer | Tag::Decimal).then(|| Number::new(self.raw(), tag))
    }

    /// The member of an object with this key.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        let text = &self.inner.text;
        self.names()
            .find(|name| match name.entry() {
                entry if entry.tag == Tag::Plain => entry.quoted(text) == key,
                entry => entry.string(text) == key,
            })
            .map(|name| Self::new(self.inner, name.at + 1))
    }

    /// The element of an array at this index, from 0. Walks over those before it.
    pub fn index(&self, index: usize) -> Option<Node<'a>> {
        self.elements().nth(index)
    }

    /// The members of an object, in the order of the text; nothing for other kinds.
    pub fn members(&self) -> Members<'a> {
        Members(self.names())
    }

    /// The keys of an object as string nodes, in the order of the text; nothing for other kinds.
    pub fn names(&self) -> Names<'a> {
        Names(self.children(Tag::Object))
    }

    /// The elements of an array, in order; nothing for other kinds.
    pub fn elements(&self) -> Elements<'a> {
        Elements(self.children(Tag::Array))
    }

    /// How many elements an array or members an object has; 0 for other kinds.
    pub fn len(&self) -> usize {
        let entry = self.entry();
        let children = entry.children as usize;
        if entry.tag == Tag::Object { children / 2 } else { children }
    }

    /// Whether there is nothing inside.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value that a JSON pointer (RFC 6901) leads to from here; `""` is this one.
    pub fn pointer(&self, pointer: &str) -> Option<Node<'a>> {
        if pointer.is_empty() {
            return Some(*self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(*self, |node, token| match node.tag() {
            Tag::Object => node.get(&read_pointer_token(token)?),
            Tag::Array => {
                let zero_led = token.len() > 1 && token.starts_with('0');
                let digits = token.bytes().all(|byte| byte.is_ascii_digit());
                let index = token.parse().ok().filter(|_| digits && !zero_led)?;
                node.index(index)
            }
            _ => None,
        })
    }

    /// The exact slice of the text, from its first byte to its last, without white space around it.
    pub fn raw(&self) -> &'a str {
        self.entry().raw(&self.inner.text)
    }

    /// This value as a document of its own, with its exact text.
    pub fn to_document(&self) -> Document {
        let whole = self.entry();
        let tape = self.inner.tape[self.at..whole.next as usize]
            .iter()
            .map(|entry| Entry {
                start: entry.start - whole.start,
                end: entry.end - whole.start,
                next: entry.next - offset(self.at),
                ..*entry
            })
            .collect();
        Document::from_parts(self.raw().to_owned(), tape)
    }

    /// What tells this value from every other value that is alive: the address of its document,
    /// and its place on the tape. For cycle detection.
    pub fn identity(&self) -> (usize, u32) {
        (std::ptr::from_ref(self.inner).addr(), offset(self.at))
    }

    /// The canonical form of this value, see [`Document::canonical`].
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(self.raw().len());
        canonical::write(&self.inner.text, &self.inner.tape, self.at, &mut out);
        out
    }

    /// Whether both are the same value, see [`Document::same_value`].
    pub fn same_value(&self, other: Node<'_>) -> bool {
        if self.kind() != other.kind() || self.len() != other.len() {
            return false;
        }
        match self.kind() {
            Kind::Null => true,
            Kind::Bool => self.tag() == other.tag(),
            Kind::Number => self.as_number() == other.as_number(),
            Kind::String => self.as_str() == other.as_str(),
            Kind::Array | Kind::Object => self.raw() == other.raw() || self.canonical() == other.canonical(),
        }
    }

    /// Decodes into a typed value, exactly or not at all.
    ///
    /// - An integer type takes any number with an integer value that fits (`1.0` is 1); nothing is
    ///   rounded, wrapped or cut off. A float type takes what
    ///   [`Number::as_lossless_f64`] takes.
    /// - No coercion: no numbers from strings, no objects from arrays.
    /// - `&str` borrows from the document, where the string has no escapes.
    /// - A [`Document`] takes the exact text of the value.
    /// - Where serde buffers (`flatten`, untagged and internally tagged enums) serde's own rules
    ///   hold: it refuses an integer beyond 64 bits, it takes a struct from an array, and it
    ///   converts a buffered integer for a float field without asking whether the float can hold
    ///   it.
    /// - Keys that other crates use as private signals between serializer and deserializer
    ///   (`$serde_json::private::…`) are refused, because a type of such a crate would take the
    ///   content of the text for its own signal.
    ///
    /// # Errors
    ///
    /// What does not fit, with its JSON pointer.
    pub fn decode<T: Deserialize<'a>>(&self) -> Result<T, DecodeError> {
        T::deserialize(*self)
    }

    /// Copies into a `serde_json` value; **lossy for numbers**, see [`Document::to_json_value`].
    pub fn to_json_value(&self) -> serde_json::Value {
        value::read(*self)
    }

    fn children(self, tag: Tag) -> Children<'a> {
        let entry = self.entry();
        Children {
            inner: self.inner,
            at: self.at + 1,
            left: if entry.tag == tag { self.len() } else { 0 },
            keys: usize::from(tag == Tag::Object),
        }
    }
}

/// Shows the exact text of the value.
impl fmt::Debug for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw())
    }
}

/// Walks over what stands directly inside a container: elements, or keys with a value behind each.
#[derive(Debug, Clone)]
struct Children<'a> {
    inner: &'a Inner,
    at: usize,
    left: usize,
    /// How many entries stand before each value: 1 in objects, 0 in arrays.
    keys: usize,
}

impl<'a> Children<'a> {
    #[inline]
    fn advance(&mut self) -> Option<Node<'a>> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at = self.inner.tape.get(at + self.keys)?.next as usize;
        Some(Node::new(self.inner, at))
    }
}

/// The elements of an array; made by [`Node::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a>(Children<'a>);

/// The keys of an object as string nodes; made by [`Node::names`].
#[derive(Debug, Clone)]
pub struct Names<'a>(Children<'a>);

/// The members of an object; made by [`Node::members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(Names<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.0.advance()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        self.0.advance()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.next()?;
        let key = name.entry().string(&name.inner.text);
        Some((key, Node::new(name.inner, name.at + 1)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Elements<'_> {}
impl ExactSizeIterator for Names<'_> {}
impl ExactSizeIterator for Members<'_> {}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
