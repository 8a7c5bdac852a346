//! Documents as the validator reads them: in place, exactly, and within a budget of steps.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use lockgate_contract::document::{self, Document, Kind, Number};
use serde_json::Value;

use super::budget::Budget;

/// The representation "a lockgate document".
pub(super) struct Documents;

/// A value of a document.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    node: document::Node<'a>,
    budget: Option<&'a Budget>,
}

/// What an error costs beside the steps that led to it, so that few of them spend the budget.
const ERROR: usize = 1_000;
/// How many bytes of text are read in one step.
const BYTES_A_STEP: usize = 64;

impl<'a> Place<'a> {
    pub(super) fn root(document: &'a Document, budget: &'a Budget) -> Self {
        Self { node: document.root(), budget: Some(budget) }
    }

    /// The number that stands here.
    pub(super) fn number(self) -> Option<Number<'a>> {
        self.open(1)?.as_number()
    }

    /// Whether the value is the same as another, numbers by their exact value.
    pub(super) fn is_value(self, other: document::Node<'_>) -> bool {
        let steps = 1 + self.node.raw().len() / BYTES_A_STEP;
        self.open(steps).is_some_and(|node| node.same_value(other))
    }

    /// The names of the properties here.
    pub(super) fn names(self) -> impl Iterator<Item = String> + use<'a> {
        let names = self.open(1 + self.node.len()).map(|node| node.names());
        names.into_iter().flatten().filter_map(|name| name.as_str()).map(Cow::into_owned)
    }

    fn beside(self, node: document::Node<'a>) -> Self {
        Self { node, ..self }
    }

    /// The value, if the budget allows for these steps.
    fn open(self, steps: usize) -> Option<document::Node<'a>> {
        let Some(budget) = self.budget else {
            return Some(self.node);
        };
        budget.spend(steps);
        (!budget.is_spent()).then_some(self.node)
    }

    fn kind(self) -> Kind {
        self.open(1).map_or(Kind::Null, |node| node.kind())
    }

    fn equals(self, expected: &Value) -> bool {
        match (expected, self.kind()) {
            (Value::Null, Kind::Null) => true,
            (Value::Bool(expected), Kind::Bool) => self.node.as_bool() == Some(*expected),
            (Value::Number(expected), Kind::Number) => {
                let expected = expected.to_string();
                self.node.as_number() == Number::parse(&expected)
            }
            (Value::String(expected), Kind::String) => self.node.as_str().as_deref() == Some(expected),
            (Value::Array(expected), Kind::Array) => {
                self.node.len() == expected.len()
                    && self.node.elements().zip(expected).all(|(node, expected)| self.beside(node).equals(expected))
            }
            (Value::Object(expected), Kind::Object) => {
                self.node.len() == expected.len()
                    && self.node.members().all(|(name, node)| {
                        expected.get(&*name).is_some_and(|expected| self.beside(node).equals(expected))
                    })
            }
            _ => false,
        }
    }
}

impl Json for Documents {
    type Node<'a> = Place<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Option<Document>;

    /// A look-up walks over half of the keys; a pass over all of them is cheaper from two look-ups on.
    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Option<Document>, string: &str, f: impl FnOnce(Place<'_>) -> T) -> T {
        let node = buffer.insert(Document::string(string)).root();
        f(Place { node, budget: None })
    }
}

impl<'a> Node<'a, Documents> for Place<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = ExactNumber<'a>;

    fn as_object(&self) -> Option<Members<'a>> {
        (self.kind() == Kind::Object).then_some(Members(*self))
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        (self.kind() == Kind::Array).then_some(Elements(*self))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let steps = 1 + self.node.raw().len() / BYTES_A_STEP;
        self.open(steps)?.as_str()
    }

    fn as_number(&self) -> Option<ExactNumber<'a>> {
        self.number().map(ExactNumber)
    }

    fn as_boolean(&self) -> Option<bool> {
        self.open(1)?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Bool => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.equals(expected)
    }

    /// Always `null`: it is asked for only to put values into error messages, where we want none.
    fn to_value(&self) -> Cow<'a, Value> {
        static NULL: Value = Value::Null;
        self.open(ERROR);
        Cow::Borrowed(&NULL)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let (address, place) = self.node.identity();
        Some(NodeIdentity::tagged(address, place))
    }
}

/// An object of a document.
pub(super) struct Members<'a>(Place<'a>);

impl<'a> Object<'a, Documents> for Members<'a> {
    type Node = Place<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = MemberPlaces<'a>;

    fn len(&self) -> usize {
        self.0.node.len()
    }

    fn get(&self, key: &Box<str>) -> Option<Place<'a>> {
        let steps = 1 + self.0.node.len() / 8;
        Some(self.0.beside(self.0.open(steps)?.get(key)?))
    }

    fn members(&self) -> MemberPlaces<'a> {
        MemberPlaces { members: self.0.node.members(), object: self.0 }
    }

    fn try_for_each_name_node<B>(
        &self,
        _: &mut Option<Document>,
        mut f: impl FnMut(Place<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.0.node.names().try_for_each(|name| f(self.0.beside(name)))
    }
}

/// The members of an object, one after another.
pub(super) struct MemberPlaces<'a> {
    members: document::Members<'a>,
    object: Place<'a>,
}

impl<'a> Iterator for MemberPlaces<'a> {
    type Item = (Cow<'a, str>, Place<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.object.open(1)?;
        let (name, node) = self.members.next()?;
        Some((name, self.object.beside(node)))
    }
}

/// An array of a document.
pub(super) struct Elements<'a>(Place<'a>);

impl<'a> Array<'a, Documents> for Elements<'a> {
    type Node = Place<'a>;
    type ElementsIter = ElementPlaces<'a>;

    fn len(&self) -> usize {
        self.0.node.len()
    }

    fn elements(&self) -> ElementPlaces<'a> {
        ElementPlaces { elements: self.0.node.elements(), array: self.0 }
    }

    /// Two values have one canonical form exactly when they are equal.
    fn is_unique(&self) -> bool {
        let steps = 1 + self.0.node.len() + self.0.node.raw().len() / BYTES_A_STEP;
        let Some(node) = self.0.open(steps) else {
            return true;
        };
        let mut seen = HashSet::with_capacity(node.len());
        node.elements().all(|element| seen.insert(element.canonical()))
    }
}

/// The elements of an array, one after another.
pub(super) struct ElementPlaces<'a> {
    elements: document::Elements<'a>,
    array: Place<'a>,
}

impl<'a> Iterator for ElementPlaces<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.array.open(1)?;
        Some(self.array.beside(self.elements.next()?))
    }
}

/// A number of a document. What is exact is decided by [`super::exact`]; here it is `type: integer`.
pub(super) struct ExactNumber<'a>(Number<'a>);

impl JsonNumber for ExactNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.text())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(self.0.to_json_number().unwrap_or_else(|| 0.into()))
    }

    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    fn is_written_as_integer(&self) -> bool {
        self.0.is_written_as_integer()
    }
}
