//! The URIs under which the resources of several servers are reached.
//!
//! A single server's stay as they are. Where there are others, each begins with `lockgate:` and the server's name: two servers that
//! have one URI do not answer for each other. Templates are mapped the same way: what stands before them holds nothing to fill in.

use std::borrow::Cow;

use lockgate_contract::document::{Document, Kind, Node};

use super::settings::Settings;
use crate::wire::Edit;

const SCHEME: &str = "lockgate:";

impl Settings {
    /// The URI that clients see.
    pub(super) fn shown_uri<'u>(&self, raw: &'u str) -> Cow<'u, str> {
        if self.alone { Cow::Borrowed(raw) } else { Cow::Owned(format!("{SCHEME}{}:{raw}", self.name)) }
    }

    /// The server's own URI of one that clients see, where it is this server's.
    pub fn raw_uri<'u>(&self, shown: &'u str) -> Option<&'u str> {
        if self.alone {
            return Some(shown);
        }
        shown.strip_prefix(SCHEME)?.strip_prefix(self.name.as_str())?.strip_prefix(':')
    }

    /// An object with its member of this name, a URI, as clients see it.
    pub fn with_shown_uri(&self, object: Node<'_>, member: &str) -> Document {
        match object.get(member).and_then(|uri| uri.as_str()) {
            Some(uri) if !self.alone => {
                Edit::of(object).with(member, Document::string(&self.shown_uri(&uri))).document()
            }
            _ => object.to_document(),
        }
    }

    /// A result of a call, a read or a prompt, with the URIs of the resources in it as clients see them: of contents, links and
    /// embedded resources. What names no resource keeps its text.
    pub fn shown_result(&self, result: &Document) -> Document {
        if self.alone {
            return result.clone();
        }
        let root = result.root();
        let shown = [
            ("contents", Self::shown_elements(root, "contents", |entry| self.shown_member(entry, "uri"))),
            ("content", self.shown_content(root)),
            (
                "messages",
                Self::shown_elements(root, "messages", |message| {
                    let content = self.shown_content(message)?;
                    Some(Edit::of(message).with("content", content).document())
                }),
            ),
        ];
        let shown: Vec<_> = shown.into_iter().filter_map(|(member, shown)| Some((member, shown?))).collect();
        if shown.is_empty() {
            return result.clone();
        }
        shown.into_iter().fold(Edit::of(root), |edit, (member, shown)| edit.with(member, shown)).document()
    }

    /// The blocks of `content`, of which a message has one; nothing where there is nothing to change.
    fn shown_content(&self, object: Node<'_>) -> Option<Document> {
        match object.get("content")? {
            block if block.kind() == Kind::Object => self.shown_block(block),
            _ => Self::shown_elements(object, "content", |block| self.shown_block(block)),
        }
    }

    fn shown_block(&self, block: Node<'_>) -> Option<Document> {
        match block.get("type")?.as_str()?.as_ref() {
            "resource_link" => self.shown_member(block, "uri"),
            "resource" => {
                let resource = self.shown_member(block.get("resource")?, "uri")?;
                Some(Edit::of(block).with("resource", resource).document())
            }
            _ => None,
        }
    }

    fn shown_member(&self, object: Node<'_>, member: &str) -> Option<Document> {
        object.get(member)?.as_str()?;
        Some(self.with_shown_uri(object, member))
    }

    /// The elements of a list, of which some change; nothing where none does.
    fn shown_elements<'n>(
        object: Node<'n>,
        member: &str,
        shown: impl Fn(Node<'n>) -> Option<Document>,
    ) -> Option<Document> {
        let list = object.get(member).filter(|list| list.kind() == Kind::Array)?;
        let mut changed = false;
        let shown = list.elements().map(|element| {
            let shown = shown(element);
            changed |= shown.is_some();
            shown.unwrap_or_else(|| element.to_document())
        });
        let shown: Vec<Document> = shown.collect();
        Document::from_serialize(&shown).ok().filter(|_| changed)
    }
}

#[cfg(test)]
mod tests;
