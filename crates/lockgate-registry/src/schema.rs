//! JSON Schemas of tools: admitted once, then asked about arguments and outputs.
//!
//! The one adapter around the validator crate (`jsonschema`, pinned). Nothing outside this module knows that crate, and a
//! schema that was admitted cannot fail to compile later.
//!
//! ```text
//! document ─► dialect ─► graph ─► limits ─► emit ─► compile            validate(instance)
//!             2020-12    every    no loops, one plain    must             exact numbers, in place,
//!             draft-07   schema   no bombs  form, only   succeed          within a budget of steps
//!                        place,             `$defs/N`
//!                        references         references
//! ```
//!
//! - **What would be ignored is refused.** A keyword that asserts something elsewhere and nothing in the declared dialect
//!   (`dependencies` in 2020-12, `prefixItems` in draft-07, siblings of `$ref` in draft-07) is not silently dropped.
//!   Annotations, `x-…` and `OpenAPI`'s own words (`nullable`, `example`, `discriminator`) stay and assert nothing; that makes
//!   `nullable` stricter than its author meant, which is the safe side.
//! - **`format` is asserted** for the formats that the dialect defines and the validator knows (all but `idn-email` and
//!   `idn-hostname`); others (`int32`, `markdown`) are annotations.
//! - **References stay inside the document.** Nothing is ever fetched, the published meta-schemas included.
//! - **Numbers are exact** on both sides; `1.0` is an integer and equals `1` (architecture rule 3).
//! - **Bombs do not go off**: size, depth, expansion and patterns are limited here, and a validation that would take too
//!   many steps ends as a violation.

mod budget;
mod close;
mod compile;
mod dialect;
mod emit;
mod error;
mod exact;
mod explain;
mod graph;
mod instance;
mod limits;
mod reference;
mod violation;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};

use lockgate_contract::document::Document;

use self::budget::Budget;
use self::compile::Compiled;
use self::dialect::Dialect;
pub use self::error::SchemaRefused;
use self::graph::Graph;
use self::instance::Place;
pub use self::violation::{Violation, Violations};

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The arguments of a tool (R-004), which are always an object.
    Input,
    /// What a tool returns on success (R-007).
    Output,
}

/// What happens to properties that a schema does not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownFields {
    /// What the schema says, which is: allowed, unless it says otherwise.
    AsDeclared,
    /// Refused (R-014), wherever an object's properties are declared and nothing is said about others.
    ///
    /// The schema is closed for validation only; [`Schema::document`] stays as it was. Where one object is described by
    /// several schemas together (`allOf`, `anyOf`, `oneOf`, `if`, `dependentSchemas`, `$ref`) it is closed as a whole, not
    /// part by part: in 2020-12 with `unevaluatedProperties`; in draft-07, which lacks it, every name that any part
    /// declares is allowed, and an object of which any part allows more names is left as declared. Conditions (`if`, `not`,
    /// `contains`) keep their meaning: inside them nothing is closed.
    Refuse,
}

/// An admitted schema. Cloning copies one pointer.
///
/// The compiled form is made on first use and kept; that it can be made was proved on admission. It is not kept from then
/// on, because of many registered tools few are called.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Inner>,
}

struct Inner {
    document: Document,
    rules: UnknownFields,
    /// INVARIANT: compiling the document succeeded on admission, and it is a function of the document and the rules.
    compiled: OnceLock<Result<Compiled, SchemaRefused>>,
}

impl Schema {
    /// Checks that a schema can be enforced, whole, in bounded time.
    ///
    /// # Errors
    ///
    /// The first reason found, with its place in the schema; see [`SchemaRefused`].
    pub fn admit(document: &Document, role: Role, rules: UnknownFields) -> Result<Self, SchemaRefused> {
        let graph = examine(document)?;
        if role == Role::Input && !graph.admits_object(Graph::ROOT) {
            return Err(SchemaRefused::NotAnObject);
        }
        compile::compile(&graph, rules)?;
        Ok(Self { inner: Arc::new(Inner { document: document.clone(), rules, compiled: OnceLock::new() }) })
    }

    /// Whether `instance` fits. No coercion, no defaults filled in.
    ///
    /// # Errors
    ///
    /// What does not fit, up to [`Violations::MOST`] places.
    pub fn validate(&self, instance: &Document) -> Result<(), Violations> {
        let compiled = match self.compiled() {
            Ok(compiled) => compiled,
            Err(refused) => return Err(Violations::unexplained(refused.to_string())),
        };
        if !compiled.can_descend(instance) {
            return Err(Violations::unexplained("the value is nested too deeply for this schema".to_owned()));
        }
        let budget = Budget::for_text(instance.text().len());
        let valid = compiled.validator.is_valid(Place::root(instance, &budget));
        if budget.is_spent() {
            return Err(Violations::unexplained(
                "checking the value against this schema takes too many steps".to_owned(),
            ));
        }
        if valid {
            return Ok(());
        }
        Err(explain::violations(compiled, instance))
    }

    /// The schema as it was given.
    pub fn document(&self) -> &Document {
        &self.inner.document
    }

    fn compiled(&self) -> Result<&Compiled, &SchemaRefused> {
        let Inner { document, rules, compiled } = &*self.inner;
        compiled.get_or_init(|| compile::compile(&examine(document)?, *rules)).as_ref()
    }
}

/// Everything that has to hold before a schema is compiled.
fn examine(document: &Document) -> Result<Graph<'_>, SchemaRefused> {
    limits::check_size(document)?;
    let dialect = Dialect::of(document.root())?;
    let mut graph = Graph::walk(document, dialect)?;
    compile::check_against_meta_schema(document, dialect)?;
    graph.resolve_references()?;
    limits::check_graph(&mut graph)?;
    Ok(graph)
}

/// Shows the original.
impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Schema").field(&self.inner.document).finish()
    }
}
