//! Every place of a document where a schema stands, and which schemas each of them applies.

use std::collections::{HashMap, HashSet, VecDeque};

use lockgate_contract::document::{Document, Kind, Node};

use super::dialect::{Applicator, Dialect, Reach, Shape};
use super::error::SchemaRefused;
use super::limits;
use super::reference::Resource;

/// The schemas of one document.
pub(super) struct Graph<'d> {
    pub(super) dialect: Dialect,
    pub(super) positions: Vec<Position<'d>>,
    pub(super) resources: Vec<Resource>,
    /// The position of each value, by its place on the document's tape.
    by_place: HashMap<u32, usize>,
    /// The position below another, by the part of the pointer between them.
    by_segment: HashMap<(usize, String), usize>,
    to_visit: VecDeque<usize>,
    /// The longest chain of schemas for one value; [`limits::check_graph`] fills it in.
    pub(super) longest_chain: usize,
}

/// A place where a schema stands.
pub(super) struct Position<'d> {
    pub(super) node: Node<'d>,
    /// The position above, and the part of the JSON pointer from there to here.
    pub(super) parent: Option<usize>,
    pub(super) segment: String,
    /// The resource (`$id`) it belongs to.
    pub(super) resource: usize,
    /// The schemas that it holds.
    pub(super) edges: Vec<Edge>,
    /// The schemas that `$ref` and `$dynamicRef` name.
    pub(super) references: Vec<usize>,
}

/// From a schema to one that it applies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) keyword: &'static str,
    pub(super) reach: Reach,
    pub(super) target: usize,
}

impl<'d> Graph<'d> {
    /// The position of the whole document.
    pub(super) const ROOT: usize = 0;

    /// Finds every schema that stands where the dialect expects one.
    ///
    /// Keywords are looked for in schemas only: a property may have any name, and `enum`, `const`, `default` and
    /// `examples` hold values.
    pub(super) fn walk(document: &'d Document, dialect: Dialect) -> Result<Self, SchemaRefused> {
        let mut graph = Self {
            dialect,
            positions: Vec::new(),
            resources: vec![Resource::outermost()],
            by_place: HashMap::new(),
            by_segment: HashMap::new(),
            to_visit: VecDeque::new(),
            longest_chain: 0,
        };
        graph.position_at(document.root(), None, String::new(), 0)?;
        graph.visit_all()?;
        Ok(graph)
    }

    /// The JSON pointer of a position.
    pub(super) fn pointer(&self, position: usize) -> String {
        let mut segments = Vec::new();
        let mut next = Some(position);
        while let Some(position) = next.and_then(|index| self.positions.get(index)) {
            segments.push(position.segment.as_str());
            next = position.parent;
        }
        segments.iter().rev().copied().collect()
    }

    /// The position of a value that is known as a schema.
    pub(super) fn find(&self, node: Node<'d>) -> Option<usize> {
        self.by_place.get(&node.identity().1).copied()
    }

    /// The position that a JSON pointer leads to from another one, if every schema on the way is known.
    ///
    /// The parts of a pointer are a keyword, or a keyword with a name or an index. Walking over the document instead would
    /// take a step for every definition, for every reference.
    pub(super) fn follow(&self, from: usize, pointer: &str) -> Option<usize> {
        let mut position = from;
        let mut rest = pointer;
        while !rest.is_empty() {
            let slashes = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
            (position, rest) = slashes.skip(1).take(2).find_map(|end| {
                let (segment, after) = rest.split_at(end);
                Some((*self.by_segment.get(&(position, segment.to_owned()))?, after))
            })?;
        }
        Some(position)
    }

    /// The position of a value, a new one if need be.
    pub(super) fn position_at(
        &mut self,
        node: Node<'d>,
        parent: Option<usize>,
        segment: String,
        resource: usize,
    ) -> Result<usize, SchemaRefused> {
        let new = self.positions.len();
        let position = *self.by_place.entry(node.identity().1).or_insert(new);
        if position == new {
            if new >= limits::MOST_SCHEMAS {
                return Err(SchemaRefused::TooManySchemas);
            }
            if let Some(parent) = parent {
                self.by_segment.insert((parent, segment.clone()), new);
            }
            self.positions.push(Position {
                node,
                parent,
                segment,
                resource,
                edges: Vec::new(),
                references: Vec::new(),
            });
            self.to_visit.push_back(new);
        }
        Ok(position)
    }

    /// Visits the positions that were found since the last time, and those found by that.
    pub(super) fn visit_all(&mut self) -> Result<(), SchemaRefused> {
        while let Some(position) = self.to_visit.pop_front() {
            self.visit(position)?;
        }
        Ok(())
    }

    fn visit(&mut self, position: usize) -> Result<(), SchemaRefused> {
        let node = self.positions[position].node;
        if node.kind() != Kind::Object {
            return Ok(());
        }
        if let Some(declared) = Dialect::declared(node, || self.pointer(position))?
            && declared != self.dialect
        {
            return Err(SchemaRefused::UnknownDialect {
                pointer: self.pointer(position) + "/$schema",
                dialect: declared.name().to_owned(),
            });
        }
        let only_reference = self.dialect == Dialect::Draft7 && node.get("$ref").is_some();
        for (keyword, value) in node.members() {
            let advice = if only_reference && self.dialect.is_ignored_sibling(&keyword, value) {
                Some("put the `$ref` into an `allOf` beside it")
            } else {
                self.dialect.ignored(&keyword, value)
            };
            if let Some(advice) = advice {
                return Err(SchemaRefused::IgnoredKeyword {
                    keyword: keyword.into_owned(),
                    pointer: self.pointer(position),
                    dialect: self.dialect.name(),
                    advice,
                });
            }
        }
        if !only_reference {
            self.take_names(position)?;
        }
        for (keyword, value) in node.members() {
            if let Some(applicator) = self.dialect.applicator(&keyword, value) {
                self.visit_applicator(position, applicator, value)?;
            }
        }
        Ok(())
    }

    fn visit_applicator(
        &mut self,
        position: usize,
        applicator: &'static Applicator,
        value: Node<'d>,
    ) -> Result<(), SchemaRefused> {
        let keyword = applicator.keyword;
        match applicator.shape {
            Shape::One => self.edge(position, applicator, format!("/{keyword}"), value),
            Shape::List => value
                .elements()
                .enumerate()
                .try_for_each(|(index, schema)| self.edge(position, applicator, format!("/{keyword}/{index}"), schema)),
            Shape::Map => value
                .members()
                // The other form of `dependencies`: a list of names.
                .filter(|(_, schema)| schema.kind() != Kind::Array)
                .try_for_each(|(name, schema)| {
                    self.edge(position, applicator, format!("/{keyword}/{}", escape(&name)), schema)
                }),
        }
    }

    fn edge(
        &mut self,
        position: usize,
        applicator: &'static Applicator,
        segment: String,
        schema: Node<'d>,
    ) -> Result<(), SchemaRefused> {
        let resource = self.positions[position].resource;
        let target = self.position_at(schema, Some(position), segment, resource)?;
        self.positions[position].edges.push(Edge { keyword: applicator.keyword, reach: applicator.reach, target });
        Ok(())
    }

    /// The schemas that are applied to the same value as this one.
    pub(super) fn in_place(&self, position: usize) -> impl Iterator<Item = usize> {
        let position = &self.positions[position];
        let held = position.edges.iter().filter(|edge| matches!(edge.reach, Reach::InPlace | Reach::Condition));
        held.map(|edge| edge.target).chain(position.references.iter().copied())
    }

    /// Whether any object can fit, as far as `type`, `const` and `enum` tell.
    ///
    /// INVARIANT: [`limits::check_graph`] has bounded how far this goes.
    pub(super) fn admits_object(&self, position: usize) -> bool {
        let Position { node, edges, references, .. } = &self.positions[position];
        let is_object = |value: Node<'_>| value.kind() == Kind::Object;
        let names_object = |value: Node<'_>| value.as_str().as_deref() == Some("object");
        let by_itself = node.as_bool() != Some(false)
            && node.get("type").is_none_or(|types| names_object(types) || types.elements().any(names_object))
            && node.get("const").is_none_or(is_object)
            && node.get("enum").is_none_or(|values| values.elements().any(is_object));
        let all = |keyword| edges.iter().filter(move |edge| edge.keyword == keyword);
        let any = |keyword| all(keyword).count() == 0 || all(keyword).any(|edge| self.admits_object(edge.target));
        by_itself
            && references.iter().all(|target| self.admits_object(*target))
            && all("allOf").all(|edge| self.admits_object(edge.target))
            && any("anyOf")
            && any("oneOf")
    }

    /// Every property name that the document declares, in any of its schemas.
    pub(super) fn declared_names(&self) -> HashSet<Box<str>> {
        let nodes = || self.positions.iter().map(|position| position.node);
        let properties = nodes().filter_map(|node| node.get("properties")).flat_map(|properties| properties.names());
        let required = nodes().filter_map(|node| node.get("required")).flat_map(|required| required.elements());
        properties.chain(required).filter_map(|name| name.as_str()).map(Into::into).collect()
    }
}

/// One reference token of a JSON pointer (RFC 6901 §3).
pub(super) fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
