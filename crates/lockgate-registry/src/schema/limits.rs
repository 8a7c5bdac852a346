//! How much a schema may cost, checked before anything is compiled.
//!
//! A short text can stand for a lot of work: 26 definitions of the form `allOf: [$ref, $ref]` stand for 67 million
//! schemas. What counts is how many schemas one value meets, so each schema is counted with those that it applies *to the
//! same value*, each definition once: leaf by leaf, from the innermost outward. A schema that reaches itself on the way
//! never becomes a leaf, and is refused. Recursion through a property or an item is fine, because a value ends.

use lockgate_contract::document::{Document, Kind, Node};

use super::error::SchemaRefused;
use super::graph::Graph;

/// The longest text, in bytes.
pub(super) const MOST_BYTES: usize = 256 << 10;
/// How many containers may stand inside each other.
pub(super) const MOST_LEVELS: usize = 64;
/// How many schemas a document may hold.
pub(super) const MOST_SCHEMAS: usize = 20_000;
/// How many schemas may be applied to one value.
pub(super) const MOST_EXPANDED: usize = 20_000;
/// How many schemas may be applied, added up over all schemas of the document.
const MOST_EXPANDED_IN_ALL: usize = 50 * MOST_EXPANDED;
/// How many schemas may be applied to one value by way of each other.
pub(super) const LONGEST_CHAIN: usize = 32;
/// How many different regular expressions a schema may hold.
pub(super) const MOST_PATTERNS: usize = 64;
/// The largest compiled regular expression, in bytes, and the largest cache for matching it.
pub(super) const LARGEST_PATTERN: usize = 1 << 20;
/// How many schemas may be active at once while a value is checked; each uses stack.
pub(super) const MOST_ACTIVE: usize = 1_600;

/// Checks what the text alone tells.
pub(super) fn check_size(document: &Document) -> Result<(), SchemaRefused> {
    let bytes = document.text().len();
    if bytes > MOST_BYTES {
        return Err(SchemaRefused::TooLarge { bytes });
    }
    if depth(document.root(), MOST_LEVELS + 1) > MOST_LEVELS {
        return Err(SchemaRefused::TooDeep);
    }
    Ok(())
}

/// How many containers stand inside each other, but not more than `most`, which also bounds the recursion.
pub(super) fn depth(node: Node<'_>, most: usize) -> usize {
    if most == 0 || !matches!(node.kind(), Kind::Array | Kind::Object) {
        return 0;
    }
    let members = node.members().map(|(_, member)| member);
    let inside = node.elements().chain(members).map(|child| depth(child, most - 1)).max();
    1 + inside.unwrap_or(0)
}

/// Checks what one value can meet, and notes the longest chain.
pub(super) fn check_graph(graph: &mut Graph<'_>) -> Result<(), SchemaRefused> {
    let count = graph.positions.len();
    let mut appliers = vec![Vec::new(); count];
    let mut open = vec![0usize; count];
    for (position, open) in open.iter_mut().enumerate() {
        for target in graph.in_place(position) {
            appliers[target].push(position);
            *open += 1;
        }
    }
    let mut expanded = vec![1usize; count];
    let mut chain = vec![1usize; count];
    let mut leaves: Vec<usize> = (0..count).filter(|position| open[*position] == 0).collect();
    let mut in_all = 0usize;
    while let Some(leaf) = leaves.pop() {
        in_all = in_all.saturating_add(expanded[leaf]);
        if expanded[leaf] > MOST_EXPANDED || in_all > MOST_EXPANDED_IN_ALL || chain[leaf] > LONGEST_CHAIN {
            return Err(SchemaRefused::ReferenceExpansion { pointer: graph.pointer(leaf) });
        }
        graph.longest_chain = graph.longest_chain.max(chain[leaf]);
        for &applier in &appliers[leaf] {
            expanded[applier] = expanded[applier].saturating_add(expanded[leaf]);
            chain[applier] = chain[applier].max(chain[leaf] + 1);
            open[applier] -= 1;
            if open[applier] == 0 {
                leaves.push(applier);
            }
        }
    }
    match (0..count).find(|position| open[*position] > 0) {
        Some(stuck) => Err(SchemaRefused::EndlessReference { pointer: graph.pointer(on_circle(graph, &open, stuck)) }),
        None => Ok(()),
    }
}

/// From a position that never became a leaf to one on the circle that it reaches.
fn on_circle(graph: &Graph<'_>, open: &[usize], stuck: usize) -> usize {
    let mut seen = vec![false; open.len()];
    let mut position = stuck;
    while !seen[position] {
        seen[position] = true;
        position = graph.in_place(position).find(|target| open[*target] > 0).unwrap_or(position);
    }
    position
}
