//! Where an object takes no properties but those declared, although its schema does not say so.

use std::collections::BTreeSet;

use super::dialect::{Dialect, Reach};
use super::graph::{Graph, Position};

/// How a schema is closed for validation.
pub(super) enum Closing {
    /// Not at all, or by the schema that it refers to.
    Open,
    /// With `additionalProperties`.
    Additional,
    /// With `unevaluatedProperties`.
    Unevaluated,
    /// With a list of all the names that any part declares.
    Names(BTreeSet<String>),
}

/// Keywords by which a schema says itself which undeclared properties it takes.
const SPOKEN_FOR: [&str; 3] = ["additionalProperties", "patternProperties", "unevaluatedProperties"];

/// Whether all that a schema says about an object's properties is said by the one schema that it refers to. Then that one
/// is closed.
pub(super) fn is_sole_reference(position: &Position<'_>) -> bool {
    let silent = |keyword: &&str| position.node.get(keyword).is_none();
    position.references.len() == 1
        && !is_composed_of_parts(position)
        && silent(&"properties")
        && SPOKEN_FOR.iter().all(silent)
}

/// How to close the schema at a position that is the whole description of a value.
pub(super) fn closing(graph: &Graph<'_>, index: usize) -> Closing {
    let position = &graph.positions[index];
    if is_sole_reference(position) || SPOKEN_FOR.iter().any(|keyword| position.node.get(keyword).is_some()) {
        return Closing::Open;
    }
    if position.references.is_empty() && !is_composed_of_parts(position) {
        return match position.node.get("properties") {
            Some(_) => Closing::Additional,
            None => Closing::Open,
        };
    }
    let parts = parts(graph, index);
    let nodes = || parts.iter().map(|part| graph.positions[*part].node);
    if nodes().all(|node| node.get("properties").is_none()) {
        return Closing::Open;
    }
    if graph.dialect == Dialect::Draft202012 {
        return Closing::Unevaluated;
    }
    let takes_more = nodes().any(|node| {
        node.get("patternProperties").is_some()
            || node.get("additionalProperties").is_some_and(|others| others.as_bool() != Some(false))
    });
    if takes_more {
        return Closing::Open;
    }
    let names = nodes().filter_map(|node| node.get("properties")).flat_map(|properties| properties.names());
    Closing::Names(names.filter_map(|name| name.as_str()).map(Into::into).collect())
}

/// Whether several schemas describe the same object. `not` describes nothing.
fn is_composed_of_parts(position: &Position<'_>) -> bool {
    position.edges.iter().any(|edge| edge.reach == Reach::InPlace || edge.keyword == "if")
}

/// A position and all that are applied to the same value, without those under `not`.
fn parts(graph: &Graph<'_>, index: usize) -> BTreeSet<usize> {
    let mut parts = BTreeSet::new();
    let mut next = vec![index];
    while let Some(index) = next.pop() {
        if !parts.insert(index) {
            continue;
        }
        let position = &graph.positions[index];
        let held = position.edges.iter().filter(|edge| edge.reach == Reach::InPlace || edge.keyword == "if");
        next.extend(held.map(|edge| edge.target).chain(position.references.iter().copied()));
    }
    parts
}
