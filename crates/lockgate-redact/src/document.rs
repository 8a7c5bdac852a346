//! Scrubs structured data: every string, key and number on its decoded form, all other text exact.

use std::collections::HashSet;
use std::ops::Range;

use lockgate_contract::document::{Document, Kind, Limits, Node};
use lockgate_contract::ports::Redactor;

use crate::key_names::{KeyKind, classify};
use crate::marker::OPENING;
use crate::placeholder::is_placeholder;
use crate::scrubber::Scrubber;
use crate::structural::assignment::is_directory_variable;
use crate::structural::authorization::credential;

/// The label of a marker for a whole document.
pub(crate) const LABEL: &str = "document";

/// The document without secrets, `None` when nothing was found.
///
/// The raw text is searched once. A string without escapes stands in it as it is, so only those at a suspicious place
/// are looked at; a string with escapes is decoded first.
pub(crate) fn scrub(scrubber: &Scrubber, document: &Document) -> Option<Document> {
    let text = document.text();
    let places = scrubber.suspicious_places(text);
    if places.is_empty() && memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return None;
    }
    let mut walk = Walk { scrubber, text, places, edits: Vec::new() };
    walk.value(document.root(), None);
    if walk.edits.is_empty() {
        return None;
    }
    let edited = walk.edited();
    // The edits keep the text valid. Should that ever be wrong, the whole document goes rather than a secret stays.
    Some(Document::parse(edited, Limits::OWN).unwrap_or_else(|_| {
        let mut marker = String::new();
        scrubber.tagger.write(&mut marker, LABEL, text);
        Document::string(&marker)
    }))
}

struct Walk<'d> {
    scrubber: &'d Scrubber,
    text: &'d str,
    places: Vec<usize>,
    /// What changes in the text, in order: the place and the new JSON.
    edits: Vec<(Range<usize>, String)>,
}

impl<'d> Walk<'d> {
    /// `kind` is what the key over this value says about it.
    fn value(&mut self, node: Node<'d>, kind: Option<KeyKind>) {
        match node.kind() {
            Kind::Object => self.object(node),
            Kind::Array => {
                for element in node.elements() {
                    // `"set-cookie": ["…", "…"]`; what is nested deeper has keys of its own.
                    self.value(element, kind.filter(|_| element.kind() == Kind::String));
                }
            }
            Kind::String => {
                if let Some(scrubbed) = self.string(node, kind) {
                    self.edit(node, &scrubbed);
                }
            }
            Kind::Number => {
                if self.is_suspicious(node)
                    && let std::borrow::Cow::Owned(scrubbed) = self.scrubber.scrub(node.raw())
                {
                    self.edit(node, &scrubbed);
                }
            }
            Kind::Null | Kind::Bool => {}
        }
    }

    fn object(&mut self, node: Node<'d>) {
        let new_names = self.new_names(node);
        let named = self.named_value(node);
        for (index, (name, (key, value))) in node.names().zip(node.members()).enumerate() {
            if let Some(Some(new_name)) = new_names.get(index) {
                self.edit(name, new_name);
            }
            // A marker in a key says what stood there, not what the value is.
            let judged = self.is_suspicious(name) && !key.contains(OPENING);
            let kind = if judged { classify(&key) } else { named.filter(|_| key == "value") };
            let kind = kind.filter(|_| !value.as_str().is_some_and(|text| is_directory_variable(&key, &text)));
            self.value(value, kind);
        }
    }

    /// The new key of each member that gets one; empty when none does. Keys stay distinct.
    fn new_names(&self, node: Node<'d>) -> Vec<Option<String>> {
        let mut new_names = Vec::new();
        for (index, name) in node.names().enumerate() {
            if let Some(scrubbed) = self.string(name, None) {
                new_names.resize(index, None);
                new_names.push(Some(scrubbed));
            }
        }
        if new_names.is_empty() {
            return new_names;
        }
        let is_new = |index: usize| new_names.get(index).is_some_and(Option::is_some);
        let mut taken: HashSet<String> = node
            .members()
            .enumerate()
            .filter(|(index, _)| !is_new(*index))
            .map(|(_, (key, _))| key.into_owned())
            .collect();
        for name in new_names.iter_mut().flatten() {
            let plain_length = name.len();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                number += 1;
                name.truncate(plain_length);
                name.push('~');
                name.push_str(&number.to_string());
            }
        }
        new_names
    }

    /// `{"name": "API_KEY", "value": "…"}`: what the name says about the value.
    fn named_value(&self, node: Node<'d>) -> Option<KeyKind> {
        let name = node.get("name").or_else(|| node.get("key"))?;
        if !self.is_suspicious(name) || node.get("value")?.kind() != Kind::String {
            return None;
        }
        classify(&name.as_str().filter(|name| !name.contains(OPENING))?)
    }

    /// The scrubbed string, if it changes.
    fn string(&self, node: Node<'d>, kind: Option<KeyKind>) -> Option<String> {
        if kind.is_none() && !self.is_suspicious(node) {
            return None;
        }
        let text = node.as_str()?;
        self.scrubber.scrub_in_context(&text, |text| {
            let kind = kind.filter(|_| !is_placeholder(text))?;
            let part = if kind == KeyKind::Authorization { credential(text, true)? } else { 0..text.len() };
            Some((part, kind))
        })
    }

    /// Whether a string or number must be looked at.
    fn is_suspicious(&self, node: Node<'d>) -> bool {
        let Range { start, end } = self.place(node);
        let next = self.places.partition_point(|&place| place < start);
        self.places.get(next).is_some_and(|&place| place < end)
            || memchr::memchr(b'\\', node.raw().as_bytes()).is_some()
    }

    /// Where a node stands in the text.
    fn place(&self, node: Node<'d>) -> Range<usize> {
        let start = node.raw().as_ptr().addr() - self.text.as_ptr().addr();
        start..start + node.raw().len()
    }

    fn edit(&mut self, node: Node<'d>, new_text: &str) {
        self.edits.push((self.place(node), Document::string(new_text).text().to_owned()));
    }

    fn edited(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (place, new_text) in &self.edits {
            out.push_str(&self.text[copied..place.start]);
            out.push_str(new_text);
            copied = place.end;
        }
        out.push_str(&self.text[copied..]);
        out
    }
}

#[cfg(test)]
mod tests;
