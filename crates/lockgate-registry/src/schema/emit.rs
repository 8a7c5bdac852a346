//! The plain form of an examined schema, which is what the validator compiles.
//!
//! It holds what asserts something and nothing else, has no names but numbers (`#/$defs/7`), so that the validator
//! resolves no reference on its own, is closed where that was asked for, and gives every keyword with numbers in it to
//! [`super::exact`].

use std::collections::{HashMap, HashSet};

use lockgate_contract::document::{Kind, Node};
use serde_json::{Map, Value};

use super::UnknownFields;
use super::close::{Closing, closing, is_sole_reference};
use super::dialect::{Applicator, Dialect, Reach, Shape};
use super::error::SchemaRefused;
use super::graph::{Graph, escape};
use super::{exact, limits};

/// Writes the plain form.
pub(super) struct Emitter<'g, 'd> {
    graph: &'g Graph<'d>,
    is_target: Vec<bool>,
    definitions: Vec<Variant>,
    numbers: HashMap<Variant, usize>,
    patterns: HashSet<String>,
}

/// A schema, as it is meant in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Variant {
    position: usize,
    /// Whether undeclared properties are refused where nothing is said about them.
    closing: bool,
    /// Whether it is the whole description of a value, not one of several.
    whole: bool,
}

impl<'g, 'd> Emitter<'g, 'd> {
    pub(super) fn new(graph: &'g Graph<'d>) -> Self {
        let mut is_target = vec![false; graph.positions.len()];
        for target in graph.positions.iter().flat_map(|position| &position.references) {
            is_target[*target] = true;
        }
        Self { graph, is_target, definitions: Vec::new(), numbers: HashMap::new(), patterns: HashSet::new() }
    }

    /// The whole plain form, and the positions behind its numbers.
    pub(super) fn document(mut self, rules: UnknownFields) -> Result<(Value, Vec<usize>), SchemaRefused> {
        let root = Variant { position: Graph::ROOT, closing: rules == UnknownFields::Refuse, whole: true };
        let mut plain = self.body(root)?;
        let mut definitions = Map::new();
        while let Some(variant) = self.definitions.get(definitions.len()).copied() {
            definitions.insert(definitions.len().to_string(), self.body(variant)?);
        }
        if let (Value::Object(members), false) = (&mut plain, definitions.is_empty()) {
            members.insert(self.graph.dialect.definitions().to_owned(), Value::Object(definitions));
        }
        Ok((plain, self.definitions.iter().map(|variant| variant.position).collect()))
    }

    /// A schema where it stands: a definition, if others refer to it too.
    fn schema(&mut self, variant: Variant) -> Result<Value, SchemaRefused> {
        if self.is_target[variant.position] {
            let mut members = Map::new();
            members.insert("$ref".to_owned(), self.reference(variant));
            return Ok(Value::Object(members));
        }
        self.body(variant)
    }

    fn reference(&mut self, variant: Variant) -> Value {
        // Where nothing is closed, the whole and a part mean the same.
        let variant = Variant { whole: variant.whole && variant.closing, ..variant };
        let new = self.definitions.len();
        let number = *self.numbers.entry(variant).or_insert(new);
        if number == new {
            self.definitions.push(variant);
        }
        Value::String(format!("#/{}/{number}", self.graph.dialect.definitions()))
    }

    fn body(&mut self, variant: Variant) -> Result<Value, SchemaRefused> {
        let graph = self.graph;
        let position = &graph.positions[variant.position];
        let mut members = Map::new();
        if position.node.kind() != Kind::Object {
            return Ok(position.node.to_json_value());
        }
        let only_reference = graph.dialect == Dialect::Draft7 && !position.references.is_empty();
        for (keyword, value) in position.node.members().filter(|_| !only_reference) {
            if let Some(applicator) = graph.dialect.applicator(&keyword, value) {
                if applicator.reach != Reach::Stored {
                    let held = self.held(variant, applicator, value)?;
                    members.insert(keyword.into_owned(), held);
                }
            } else if graph.dialect.asserts(&keyword) {
                if keyword == "pattern" {
                    self.count_pattern(variant, "/pattern", value)?;
                }
                let (keyword, value) = exact::plain(&keyword, value);
                members.insert(keyword, value);
            }
        }
        for target in &position.references {
            let reference = self.reference(Variant {
                position: *target,
                whole: variant.whole && is_sole_reference(position),
                ..variant
            });
            add_reference(&mut members, reference);
        }
        if variant.whole && variant.closing {
            match closing(graph, variant.position) {
                Closing::Open => {}
                Closing::Additional => _ = members.insert("additionalProperties".to_owned(), Value::Bool(false)),
                Closing::Unevaluated => _ = members.insert("unevaluatedProperties".to_owned(), Value::Bool(false)),
                Closing::Names(names) => _ = members.insert(exact::CLOSED.to_owned(), names.into_iter().collect()),
            }
        }
        // The validator names undeclared properties only beside a list of declared ones.
        if members.get("additionalProperties") == Some(&Value::Bool(false)) {
            members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
        Ok(Value::Object(members))
    }

    fn held(
        &mut self,
        holder: Variant,
        applicator: &'static Applicator,
        value: Node<'d>,
    ) -> Result<Value, SchemaRefused> {
        let inside = |position| Variant {
            position,
            closing: holder.closing && matches!(applicator.reach, Reach::InPlace | Reach::Child),
            whole: matches!(applicator.reach, Reach::Child | Reach::ChildCondition),
        };
        // A schema place that the walk has not found holds no schema: a list of names in `dependencies`.
        let graph = self.graph;
        let mut emit = |node: Node<'d>| match graph.find(node) {
            Some(position) => self.schema(inside(position)),
            None => Ok(node.to_json_value()),
        };
        Ok(match applicator.shape {
            Shape::One => emit(value)?,
            Shape::List => Value::Array(value.elements().map(emit).collect::<Result<_, _>>()?),
            Shape::Map => {
                let mut members = Map::new();
                for (name, schema) in value.members() {
                    members.insert(name.into_owned(), emit(schema)?);
                }
                if applicator.keyword == "patternProperties" {
                    for name in value.names() {
                        let place = format!("/patternProperties/{}", escape(&name.as_str().unwrap_or_default()));
                        self.count_pattern(holder, &place, name)?;
                    }
                }
                Value::Object(members)
            }
        })
    }

    fn count_pattern(&mut self, variant: Variant, place: &str, pattern: Node<'d>) -> Result<(), SchemaRefused> {
        self.patterns.extend(pattern.as_str().map(String::from));
        if self.patterns.len() > limits::MOST_PATTERNS {
            return Err(SchemaRefused::Pattern {
                pointer: self.graph.pointer(variant.position) + place,
                reason: "is one too many for one schema",
            });
        }
        Ok(())
    }
}

/// A schema may have a `$ref` and a `$dynamicRef`, which are the same here.
fn add_reference(members: &mut Map<String, Value>, reference: Value) {
    if !members.contains_key("$ref") {
        members.insert("$ref".to_owned(), reference);
        return;
    }
    let second = Map::from_iter([("$ref".to_owned(), reference)]);
    let all = members.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(all) = all {
        all.push(Value::Object(second));
    }
}
