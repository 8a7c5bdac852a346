//! JSON that comes in pieces, put together: texts go on, lists get longer, everything else is what was said last.

use lockgate_contract::document::{Document, Kind, Node};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Members whose texts and lists go on from piece to piece.
const FLOWING: [&str; 3] = ["text", "summary", "thinking"];

/// A value so far.
#[derive(Debug, Clone)]
pub(super) enum Flow {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Flow>),
    /// An object, its members in the order in which they came.
    Object(Vec<(String, Flow)>),
    /// Anything else, as it stood.
    Other(Document),
}

impl Flow {
    /// The value of one piece.
    pub(super) fn of(node: Node<'_>) -> Self {
        match node.kind() {
            Kind::Array => Self::List(node.elements().map(Self::of).collect()),
            Kind::Object => {
                Self::Object(node.members().map(|(key, value)| (key.into_owned(), Self::of(value))).collect())
            }
            _ => node.as_str().map_or_else(|| Self::Other(node.to_document()), |text| Self::Text(text.into_owned())),
        }
    }

    /// The next piece of it.
    pub(super) fn go_on(&mut self, next: Self) {
        match (self, next) {
            (Self::Text(text), Self::Text(more)) => text.push_str(&more),
            (Self::List(list), Self::List(more)) => {
                // Two elements of one piece are two, whatever they look like.
                let before = list.len();
                for element in more {
                    match list[..before].iter_mut().rev().find(|known| known.goes_on_with(&element)) {
                        Some(known) => known.go_on(element),
                        None => list.push(element),
                    }
                }
            }
            (Self::Object(members), Self::Object(more)) => {
                for (key, value) in more {
                    match members.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, known)) if FLOWING.contains(&key.as_str()) => known.go_on(value),
                        Some((_, known)) if !value.is_null() => *known = value,
                        Some(_) => {}
                        None => members.push((key, value)),
                    }
                }
            }
            (known, value) if !value.is_null() => *known = value,
            _ => {}
        }
    }

    /// Whether an element of a list is the next piece of this one: of the same type, at the same index, with something that goes on.
    fn goes_on_with(&self, next: &Self) -> bool {
        let flows = FLOWING.iter().any(|key| next.member(key).is_some() && self.member(key).is_some());
        let same = |key| self.member(key).map(Self::written) == next.member(key).map(Self::written);
        flows && same("type") && same("index")
    }

    fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A text in it.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Other(value) if value.root().is_null())
    }

    /// Its JSON text.
    fn written(&self) -> String {
        // INVARIANT: it came from JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Flow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::Other(value) => value.serialize(serializer),
        }
    }
}
