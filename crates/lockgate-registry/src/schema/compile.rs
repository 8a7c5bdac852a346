//! The compiled schema, and the way back from its plain form to the original.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator};
use lockgate_contract::document::Document;
use serde_json::json;

use super::budget::Budget;
use super::dialect::Dialect;
use super::emit::Emitter;
use super::error::SchemaRefused;
use super::graph::Graph;
use super::instance::{Documents, Place};
use super::{UnknownFields, exact, limits};

type Options = ValidationOptions<'static, Arc<dyn Retrieve>, Documents>;

/// A schema that can be asked.
pub(super) struct Compiled {
    pub(super) validator: Validator<Documents>,
    pub(super) origins: Origins,
    /// Every property name that the schema declares.
    pub(super) declared: HashSet<Box<str>>,
    longest_chain: usize,
}

/// Where the parts of the plain form stand in the original.
pub(super) struct Origins {
    definitions: &'static str,
    /// The positions behind the numbers of the plain form.
    positions: Vec<usize>,
    /// For each position the one above, and the part of the pointer between them.
    places: Vec<(Option<usize>, Box<str>)>,
}

/// Compiles, or says why that is impossible.
pub(super) fn compile(graph: &Graph<'_>, rules: UnknownFields) -> Result<Compiled, SchemaRefused> {
    let (plain, positions) = Emitter::new(graph).document(rules)?;
    let origins = Origins::new(graph, positions);
    let options = match graph.dialect {
        Dialect::Draft7 => &DRAFT_7,
        Dialect::Draft202012 => &DRAFT_2020_12,
    };
    match options.build(&plain) {
        Ok(validator) => {
            Ok(Compiled { validator, origins, declared: graph.declared_names(), longest_chain: graph.longest_chain })
        }
        Err(error) => Err(refusal(graph, &origins, &error)),
    }
}

static DRAFT_7: LazyLock<Options> = LazyLock::new(|| options(Dialect::Draft7));
static DRAFT_2020_12: LazyLock<Options> = LazyLock::new(|| options(Dialect::Draft202012));

fn options(dialect: Dialect) -> Options {
    let patterns = PatternOptions::regex().size_limit(limits::LARGEST_PATTERN).dfa_size_limit(limits::LARGEST_PATTERN);
    let options = jsonschema::options_for::<Documents>()
        .with_draft(dialect.draft())
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(patterns);
    exact::with_keywords(options)
}

/// Whether the meta-schema of its dialect accepts a document.
///
/// `format` is not asserted there: generated names make references that are no URIs (`#/$defs/Page[Item]`) and yet lead
/// somewhere.
pub(super) fn check_against_meta_schema(document: &Document, dialect: Dialect) -> Result<(), SchemaRefused> {
    static DRAFT_7: LazyLock<Option<Validator<Documents>>> = LazyLock::new(|| meta_schema(Dialect::Draft7));
    static DRAFT_2020_12: LazyLock<Option<Validator<Documents>>> = LazyLock::new(|| meta_schema(Dialect::Draft202012));
    let meta_schema = match dialect {
        Dialect::Draft7 => &*DRAFT_7,
        Dialect::Draft202012 => &*DRAFT_2020_12,
    };
    let Some(meta_schema) = meta_schema else {
        return Err(SchemaRefused::NotEnforceable {
            pointer: String::new(),
            reason: format!("the meta-schema of {} is not available", dialect.name()),
        });
    };
    // A schema is bounded in size and depth already, and the meta-schema is known, so nothing is counted here.
    let budget = Budget::unlimited();
    let place = Place::root(document, &budget);
    if meta_schema.is_valid(place) {
        return Ok(());
    }
    let error = meta_schema.validate(place).err();
    Err(SchemaRefused::InvalidSchema {
        pointer: error.as_ref().map(|error| error.instance_path().to_string()).unwrap_or_default(),
        reason: error.map_or_else(String::new, |error| error.masked_with("the value").to_string()),
    })
}

fn meta_schema(dialect: Dialect) -> Option<Validator<Documents>> {
    jsonschema::options_for::<Documents>()
        .with_draft(dialect.draft())
        .offline()
        .should_validate_formats(false)
        .build(&json!({ "$ref": dialect.uri() }))
        .ok()
}

impl Compiled {
    /// Whether checking an instance stays within [`limits::MOST_ACTIVE`] active schemas.
    pub(super) fn can_descend(&self, instance: &Document) -> bool {
        // One more at each level: the property or the item itself.
        let levels = limits::MOST_ACTIVE / (self.longest_chain + 1);
        // Two bytes a level, at least.
        instance.text().len() / 2 <= levels || limits::depth(instance.root(), levels + 1) <= levels
    }
}

impl Origins {
    fn new(graph: &Graph<'_>, positions: Vec<usize>) -> Self {
        let places = graph.positions.iter();
        Self {
            definitions: graph.dialect.definitions(),
            positions,
            places: places.map(|position| (position.parent, position.segment.as_str().into())).collect(),
        }
    }

    /// The pointer into the original for a pointer into the plain form.
    pub(super) fn original(&self, pointer: &str) -> String {
        let Some((position, rest)) = self.definition(pointer) else {
            return pointer.to_owned();
        };
        let mut segments = vec![rest];
        let mut next = Some(position);
        while let Some((parent, segment)) = next.and_then(|position| self.places.get(position)) {
            segments.push(segment);
            next = *parent;
        }
        segments.iter().rev().copied().collect()
    }

    fn definition<'p>(&self, pointer: &'p str) -> Option<(usize, &'p str)> {
        let rest = pointer.strip_prefix('/')?.strip_prefix(self.definitions)?.strip_prefix('/')?;
        let (number, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let position = self.positions.get(number.parse::<usize>().ok()?)?;
        Some((*position, rest))
    }
}

/// What the validator says, in our words.
fn refusal(graph: &Graph<'_>, origins: &Origins, error: &ValidationError<'_>) -> SchemaRefused {
    let pointer = origins.original(error.instance_path().as_str());
    match error.kind() {
        // Of what the plain form holds, only patterns have a format.
        ValidationErrorKind::Format { .. } => {
            SchemaRefused::Pattern { reason: pattern_fault(graph, &pointer), pointer }
        }
        ValidationErrorKind::Custom { message, .. } => {
            let (schema, keyword) = pointer.rsplit_once('/').unwrap_or_default();
            let pointer = format!("{schema}/{}", keyword.trim_start_matches(exact::PREFIX));
            SchemaRefused::NotEnforceable { reason: message.clone(), pointer }
        }
        _ => SchemaRefused::NotEnforceable { reason: error.masked_with("the value").to_string(), pointer },
    }
}

/// Why a pattern was refused: the text of a `pattern`, or a name under `patternProperties`.
fn pattern_fault(graph: &Graph<'_>, pointer: &str) -> &'static str {
    let root = graph.positions[Graph::ROOT].node;
    let value = root.pointer(pointer).and_then(|value| value.as_str().map(String::from));
    let pattern = value.unwrap_or_else(|| pointer.rsplit('/').next().unwrap_or_default().to_owned());
    let has_any = |parts: &[&str]| parts.iter().any(|part| pattern.contains(part));
    if has_any(&["(?=", "(?!", "(?<=", "(?<!"]) {
        "looks around, which cannot be matched in linear time"
    } else if has_any(&["\\1", "\\2", "\\3", "\\4", "\\5", "\\6", "\\7", "\\8", "\\9", "\\k<"]) {
        "refers back to a group, which cannot be matched in linear time"
    } else {
        "is not a regular expression of ECMA-262, or is too large when compiled"
    }
}
