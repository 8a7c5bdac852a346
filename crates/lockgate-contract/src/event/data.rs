//! What an event says, in the form that is at hand.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::document::{DecodeError, Document};
use crate::event::{Body, EventType, Sign};

/// The body of an event: typed where this process wrote it, a text where it was read.
///
/// The text of a typed body is made when somebody first looks at it as a [`Document`]: a journal in memory never has to.
/// Cloning copies one pointer.
#[derive(Clone)]
pub struct EventData {
    inner: Arc<Inner>,
    /// Who signs the event when it gets its number.
    signer: Option<Arc<dyn Sign>>,
}

/// INVARIANT: one of the two is there from the start; where both are, they say the same, but for a signature.
struct Inner {
    typed: Option<Body>,
    document: OnceLock<Document>,
}

impl EventData {
    /// The body, as an event of this type has it.
    pub(super) fn body(&self, kind: &EventType) -> Result<Body, DecodeError> {
        match &self.inner.typed {
            // Data may be moved to an event of another type; then its text is what counts.
            Some(body) if body.kind() == *kind => Ok(body.clone()),
            _ => Body::read(kind, self),
        }
    }

    /// The same body, to be signed when its event gets its number. Whoever is to sign it already stays the one.
    pub fn signed_by(self, signer: Arc<dyn Sign>) -> Self {
        Self { signer: self.signer.or(Some(signer)), ..self }
    }

    pub(super) fn take_signer(&mut self) -> Option<Arc<dyn Sign>> {
        self.signer.take()
    }

    /// The same body, as a text that says it with a signature.
    pub(super) fn replace_text(&mut self, text: Document) {
        self.inner = Arc::new(Inner { typed: self.inner.typed.clone(), document: OnceLock::from(text) });
    }
}

impl From<Body> for EventData {
    fn from(body: Body) -> Self {
        Self { inner: Arc::new(Inner { typed: Some(body), document: OnceLock::new() }), signer: None }
    }
}

impl From<Document> for EventData {
    fn from(document: Document) -> Self {
        Self { inner: Arc::new(Inner { typed: None, document: OnceLock::from(document) }), signer: None }
    }
}

/// The text, as the journal keeps it.
impl Deref for EventData {
    type Target = Document;

    fn deref(&self) -> &Document {
        let Inner { typed, document } = &*self.inner;
        document.get_or_init(|| typed.as_ref().map_or_else(Document::null, Body::document))
    }
}

impl Serialize for EventData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for EventData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Document::deserialize(deserializer).map(Self::from)
    }
}

/// Shows the text.
impl fmt::Debug for EventData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

/// Shows the text.
impl fmt::Display for EventData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}
