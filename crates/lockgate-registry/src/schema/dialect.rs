//! The two dialects: which keywords hold schemas, which assert, and which would be ignored.

use std::borrow::Cow;

use jsonschema::Draft;
use lockgate_contract::document::{Kind, Node};

use super::error::SchemaRefused;

/// A dialect of JSON Schema that is enforced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Draft7,
    Draft202012,
}

/// How a keyword holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    List,
    Map,
}

/// What the schemas under a keyword are applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The same value.
    InPlace,
    /// The same value, but only to decide something: whether it fits is not what the author asks for.
    Condition,
    /// A property, an item or a property's name.
    Child,
    /// An item, as [`Reach::Condition`].
    ChildCondition,
    /// Nothing by itself.
    Stored,
}

/// A keyword that holds schemas.
pub(super) struct Applicator {
    pub(super) keyword: &'static str,
    pub(super) shape: Shape,
    pub(super) reach: Reach,
}

const fn applicator(keyword: &'static str, shape: Shape, reach: Reach) -> Applicator {
    Applicator { keyword, shape, reach }
}

const DRAFT_7: &[Applicator] = &[
    applicator("properties", Shape::Map, Reach::Child),
    applicator("items", Shape::One, Reach::Child),
    applicator("items", Shape::List, Reach::Child),
    applicator("additionalProperties", Shape::One, Reach::Child),
    applicator("patternProperties", Shape::Map, Reach::Child),
    applicator("additionalItems", Shape::One, Reach::Child),
    applicator("propertyNames", Shape::One, Reach::Child),
    applicator("contains", Shape::One, Reach::ChildCondition),
    applicator("allOf", Shape::List, Reach::InPlace),
    applicator("anyOf", Shape::List, Reach::InPlace),
    applicator("oneOf", Shape::List, Reach::InPlace),
    applicator("if", Shape::One, Reach::Condition),
    applicator("then", Shape::One, Reach::InPlace),
    applicator("else", Shape::One, Reach::InPlace),
    applicator("not", Shape::One, Reach::Condition),
    applicator("dependencies", Shape::Map, Reach::InPlace),
    applicator("definitions", Shape::Map, Reach::Stored),
];

const DRAFT_2020_12: &[Applicator] = &[
    applicator("properties", Shape::Map, Reach::Child),
    applicator("items", Shape::One, Reach::Child),
    applicator("prefixItems", Shape::List, Reach::Child),
    applicator("additionalProperties", Shape::One, Reach::Child),
    applicator("patternProperties", Shape::Map, Reach::Child),
    applicator("unevaluatedProperties", Shape::One, Reach::Child),
    applicator("unevaluatedItems", Shape::One, Reach::Child),
    applicator("propertyNames", Shape::One, Reach::Child),
    applicator("contains", Shape::One, Reach::ChildCondition),
    applicator("allOf", Shape::List, Reach::InPlace),
    applicator("anyOf", Shape::List, Reach::InPlace),
    applicator("oneOf", Shape::List, Reach::InPlace),
    applicator("if", Shape::One, Reach::Condition),
    applicator("then", Shape::One, Reach::InPlace),
    applicator("else", Shape::One, Reach::InPlace),
    applicator("not", Shape::One, Reach::Condition),
    applicator("dependentSchemas", Shape::Map, Reach::InPlace),
    applicator("$defs", Shape::Map, Reach::Stored),
    applicator("definitions", Shape::Map, Reach::Stored),
];

/// Assertions of both dialects that hold no schemas.
const ASSERTIONS: &[&str] = &[
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "required",
    "format",
];

impl Dialect {
    /// The dialect that the root of a document declares; 2020-12 where it declares none (S-61).
    pub(super) fn of(root: Node<'_>) -> Result<Self, SchemaRefused> {
        Ok(Self::declared(root, String::new)?.unwrap_or(Self::Draft202012))
    }

    /// The dialect that a schema declares.
    pub(super) fn declared(schema: Node<'_>, pointer: impl Fn() -> String) -> Result<Option<Self>, SchemaRefused> {
        let Some(declaration) = schema.get("$schema") else {
            return Ok(None);
        };
        match declaration.as_str().as_deref().and_then(Self::of_uri) {
            Some(dialect) => Ok(Some(dialect)),
            None => Err(SchemaRefused::UnknownDialect {
                pointer: pointer() + "/$schema",
                dialect: excerpt(declaration.raw()),
            }),
        }
    }

    fn of_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let place = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match place {
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            "json-schema.org/draft-07/schema" => Some(Self::Draft7),
            _ => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Draft7 => "draft-07",
            Self::Draft202012 => "2020-12",
        }
    }

    pub(super) const fn uri(self) -> &'static str {
        match self {
            Self::Draft7 => "http://json-schema.org/draft-07/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    pub(super) const fn draft(self) -> Draft {
        match self {
            Self::Draft7 => Draft::Draft7,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    /// Where definitions stand.
    pub(super) const fn definitions(self) -> &'static str {
        match self {
            Self::Draft7 => "definitions",
            Self::Draft202012 => "$defs",
        }
    }

    /// The keyword under which a schema holds other schemas, given the value that stands there.
    pub(super) fn applicator(self, keyword: &str, value: Node<'_>) -> Option<&'static Applicator> {
        let table = match self {
            Self::Draft7 => DRAFT_7,
            Self::Draft202012 => DRAFT_2020_12,
        };
        table.iter().find(|applicator| {
            applicator.keyword == keyword && (applicator.shape == Shape::List) == (value.kind() == Kind::Array)
        })
    }

    /// Whether a keyword asserts something in this dialect without holding schemas.
    pub(super) fn asserts(self, keyword: &str) -> bool {
        ASSERTIONS.contains(&keyword)
            || match self {
                Self::Draft7 => matches!(keyword, "contentEncoding" | "contentMediaType"),
                Self::Draft202012 => matches!(keyword, "minContains" | "maxContains" | "dependentRequired"),
            }
    }

    /// What to do about a keyword that asserts something in another dialect and nothing in this one.
    pub(super) fn ignored(self, keyword: &str, value: Node<'_>) -> Option<&'static str> {
        let kind = value.kind();
        let advice = match (keyword, self) {
            ("exclusiveMinimum" | "exclusiveMaximum", _) if kind == Kind::Bool => {
                "write the bound itself there, as a number"
            }
            ("required", _) if kind == Kind::Bool => "list the names in the `required` of the object",
            ("divisibleBy", _) => "write `multipleOf`",
            ("disallow", _) => "write `not`",
            ("extends", _) => "write `allOf`",
            ("$recursiveRef", _) => "write `$ref`",
            ("dependencies", Self::Draft202012) => "write `dependentRequired` or `dependentSchemas`",
            ("additionalItems", Self::Draft202012) => "write `items`",
            ("items", Self::Draft202012) if kind == Kind::Array => "write `prefixItems`",
            ("prefixItems", Self::Draft7) => "write `items` with an array, or declare 2020-12",
            ("dependentRequired" | "dependentSchemas", Self::Draft7) => "write `dependencies`, or declare 2020-12",
            (
                "unevaluatedItems" | "unevaluatedProperties" | "minContains" | "maxContains" | "$dynamicRef",
                Self::Draft7,
            ) => "declare 2020-12",
            _ => return None,
        };
        Some(advice)
    }

    /// Whether a keyword beside `$ref` is ignored in draft-07 although it asserts something elsewhere in it.
    pub(super) fn is_ignored_sibling(self, keyword: &str, value: Node<'_>) -> bool {
        self == Self::Draft7
            && keyword != "definitions"
            && (self.asserts(keyword) || self.applicator(keyword, value).is_some())
    }
}

/// The first part of a text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => Cow::Borrowed(text.get(..end).unwrap_or_default()).into_owned() + "…",
    }
}
