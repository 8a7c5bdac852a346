//! What the references of a document lead to. Nothing outside the document is ever looked at.

use std::collections::HashMap;

use jsonschema::{Uri, uri};
use lockgate_contract::document::{Kind, Node};

use super::dialect::{Dialect, excerpt};
use super::error::SchemaRefused;
use super::graph::Graph;

/// A part of the document with a URI of its own (`$id`); the whole document is one.
pub(super) struct Resource {
    root: usize,
    uri: Option<Uri<String>>,
    anchors: HashMap<String, usize>,
}

impl Resource {
    /// The whole document.
    pub(super) fn outermost() -> Self {
        Self {
            root: Graph::ROOT,
            // What relative references are resolved against where no `$id` says otherwise.
            uri: uri::from_str("json-schema:///").ok(),
            anchors: HashMap::new(),
        }
    }
}

impl<'d> Graph<'d> {
    /// Remembers the names that a schema gives to itself: `$id`, `$anchor`, `$dynamicAnchor`, and draft-07's `$id` that is
    /// only a fragment.
    pub(super) fn take_names(&mut self, position: usize) -> Result<(), SchemaRefused> {
        let node = self.positions[position].node;
        let text = |keyword| node.get(keyword).and_then(|value: Node<'d>| value.as_str());
        if let Some(id) = text("$id") {
            match id.strip_prefix('#') {
                // In 2020-12 a fragment names nothing, and the meta-schema refuses it.
                Some(anchor) if anchor.is_empty() || self.dialect == Dialect::Draft202012 => {}
                Some(anchor) => self.take_anchor(position, anchor)?,
                None => self.take_uri(position, &id)?,
            }
        }
        if self.dialect == Dialect::Draft202012 {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = text(keyword) {
                    self.take_anchor(position, &anchor)?;
                }
            }
        }
        Ok(())
    }

    fn take_anchor(&mut self, position: usize, anchor: &str) -> Result<(), SchemaRefused> {
        let resource = self.positions[position].resource;
        let named = *self.resources[resource].anchors.entry(anchor.to_owned()).or_insert(position);
        if named == position {
            return Ok(());
        }
        Err(self.repeated(position, anchor))
    }

    fn take_uri(&mut self, position: usize, id: &str) -> Result<(), SchemaRefused> {
        let resource = self.positions[position].resource;
        // An `$id` that is no URI names nothing that could be referred to; the meta-schema judges it.
        let absolute = self.absolute(resource, id.split('#').next().unwrap_or_default());
        if position == Graph::ROOT {
            self.resources[resource].uri = absolute;
            return Ok(());
        }
        if absolute.is_some() && self.resources.iter().any(|resource| resource.uri == absolute) {
            return Err(self.repeated(position, id));
        }
        self.positions[position].resource = self.resources.len();
        self.resources.push(Resource { root: position, uri: absolute, anchors: HashMap::new() });
        Ok(())
    }

    fn repeated(&self, position: usize, name: &str) -> SchemaRefused {
        SchemaRefused::RepeatedName { pointer: self.pointer(position), name: excerpt(name) }
    }

    fn absolute(&self, resource: usize, reference: &str) -> Option<Uri<String>> {
        let base = self.resources[resource].uri.as_ref()?;
        uri::resolve_against(&base.borrow(), reference).ok()
    }

    /// Resolves every reference, also those of schemas that are found only by being referred to.
    pub(super) fn resolve_references(&mut self) -> Result<(), SchemaRefused> {
        let mut next = 0;
        while next < self.positions.len() {
            for keyword in ["$ref", "$dynamicRef"] {
                let Some(reference) = self.positions[next].node.get(keyword).and_then(|value| value.as_str()) else {
                    continue;
                };
                let target = self.resolve(next, &reference)?;
                // With several resources, where it leads depends on the way that validation took.
                if keyword == "$dynamicRef" && self.resources.len() > 1 {
                    return Err(self.unresolved(next, &reference));
                }
                self.positions[next].references.push(target);
                self.visit_all()?;
            }
            next += 1;
        }
        Ok(())
    }

    fn resolve(&mut self, position: usize, reference: &str) -> Result<usize, SchemaRefused> {
        let (place, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.positions[position].resource;
        let resource = if place.is_empty() {
            own
        } else {
            let absolute = self.absolute(own, place);
            self.resources.iter().position(|resource| absolute.is_some() && resource.uri == absolute).ok_or_else(
                || SchemaRefused::RemoteReference { pointer: self.pointer(position), reference: excerpt(reference) },
            )?
        };
        let fragment = decode_percent(fragment).ok_or_else(|| self.unresolved(position, reference))?;
        let root = self.resources[resource].root;
        if fragment.is_empty() {
            return Ok(root);
        }
        if !fragment.starts_with('/') {
            let target = self.resources[resource].anchors.get(&fragment).copied();
            return target.ok_or_else(|| self.unresolved(position, reference));
        }
        if let Some(known) = self.follow(root, &fragment) {
            return Ok(known);
        }
        let target = self.positions[root]
            .node
            .pointer(&fragment)
            .filter(|target| matches!(target.kind(), Kind::Object | Kind::Bool))
            .ok_or_else(|| self.unresolved(position, reference))?;
        self.position_at(target, Some(root), fragment, resource)
    }

    fn unresolved(&self, position: usize, reference: &str) -> SchemaRefused {
        SchemaRefused::UnresolvedReference { pointer: self.pointer(position), reference: excerpt(reference) }
    }
}

/// Undoes percent-encoding (RFC 3986 §2.1); none if what it encodes is not UTF-8.
fn decode_percent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(part.get(2..)?.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
