//! The port that takes secrets out of what leaves.

use std::borrow::Cow;

use crate::document::Document;

/// Takes secrets out of a text on its way out. Total: it never fails and never panics.
pub trait Redactor: Send + Sync {
    /// The text without secrets; borrowed when nothing was found.
    fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// The document without secrets, `None` when nothing was found. Every string, key and number is scrubbed on its
    /// decoded form; the rest keeps its exact text.
    fn scrub_document(&self, document: &Document) -> Option<Document>;
}

/// A redactor that finds nothing: for callers whose texts are scrubbed elsewhere, and for tests of other stages.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRedaction;

impl Redactor for NoRedaction {
    fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    fn scrub_document(&self, _document: &Document) -> Option<Document> {
        None
    }
}
