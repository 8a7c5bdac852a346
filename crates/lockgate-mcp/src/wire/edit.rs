//! Objects with some members changed. All others keep their text and their order.

use std::borrow::Cow;

use lockgate_contract::document::{Document, Node};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// An object that is being changed.
#[derive(Debug, Clone)]
pub struct Edit<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

#[derive(Debug, Clone)]
enum Value<'a> {
    Kept(Node<'a>),
    New(Document),
}

impl<'a> Edit<'a> {
    /// An object without members.
    pub fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// The members of an object; none where it is something else.
    pub fn of(object: Node<'a>) -> Self {
        Self { members: object.members().map(|(key, value)| (key, Value::Kept(value))).collect() }
    }

    /// Gives a member this value: in its place where there is one of this name, at the end otherwise.
    #[must_use]
    pub fn with(mut self, key: &'a str, value: Document) -> Self {
        match self.members.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = Value::New(value),
            None => self.members.push((Cow::Borrowed(key), Value::New(value))),
        }
        self
    }

    /// The same where there is a value.
    #[must_use]
    pub fn with_some(self, key: &'a str, value: Option<Document>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Takes a member out.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.retain(|name| name != key);
        self
    }

    /// Keeps the members with these names.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.members.retain(|(key, _)| keep(key));
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// What became of it.
    pub fn document(&self) -> Document {
        // INVARIANT: its members are documents with distinct names, so it is one; only at the very limit of depth it is not.
        Document::from_serialize(self).unwrap_or_else(|_| Document::empty_object())
    }
}

impl Default for Edit<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Serialize for Edit<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (key, value) in &self.members {
            match value {
                Value::Kept(node) => map.serialize_entry(key, node)?,
                Value::New(document) => map.serialize_entry(key, document)?,
            }
        }
        map.end()
    }
}
