//! The URIs under which the resources of several servers are reached.
//!
//! A single server's stay as they are. Where there are others, each begins with `lockgate:` and the server's name: two servers that
//! have one URI do not answer for each other. Templates are mapped the same way: what stands before them holds nothing to fill in.

use std::borrow::Cow;

use lockgate_contract::document::{Document, Node};

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
}

#[cfg(test)]
mod tests;
