//! Why a schema was refused.

use super::limits;

/// A schema that cannot be enforced as it is written. Each place is a JSON pointer (RFC 6901) into the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaRefused {
    /// A `$schema` that is neither 2020-12 nor draft-07, or another one than the whole document has.
    #[error(
        "the dialect {dialect} at `{pointer}` is not supported here: declare one of 2020-12 and draft-07 at the root, or no `$schema`"
    )]
    UnknownDialect {
        /// Where the `$schema` stands.
        pointer: String,
        /// What it names.
        dialect: String,
    },
    /// The meta-schema of the dialect refuses it.
    #[error("the schema is not valid at `{pointer}`: {reason}")]
    InvalidSchema {
        /// Where.
        pointer: String,
        /// What the meta-schema asks for.
        reason: String,
    },
    /// A keyword asserts nothing in the declared dialect.
    #[error("`{keyword}` at `{pointer}` would be ignored in {dialect}: {advice}")]
    IgnoredKeyword {
        /// The keyword.
        keyword: String,
        /// The schema that has it.
        pointer: String,
        /// The dialect by which the schema is read.
        dialect: &'static str,
        /// What to write instead.
        advice: &'static str,
    },
    /// A reference that leaves the document.
    #[error(
        "the reference `{reference}` at `{pointer}` leaves the document, and nothing is fetched: copy its target into `$defs`"
    )]
    RemoteReference {
        /// The schema that has it.
        pointer: String,
        /// As it is written.
        reference: String,
    },
    /// A reference to nothing.
    #[error("the reference `{reference}` at `{pointer}` leads nowhere: define its target in the same document")]
    UnresolvedReference {
        /// The schema that has it.
        pointer: String,
        /// As it is written.
        reference: String,
    },
    /// Two schemas of the document have one name (`$id`, `$anchor`).
    #[error("the name `{name}` at `{pointer}` is given twice: make it unique")]
    RepeatedName {
        /// The second place.
        pointer: String,
        /// The name.
        name: String,
    },
    /// No object fits the root of an input schema, and arguments are always an object.
    #[error("no object fits the input schema: give its root `\"type\": \"object\"`")]
    NotAnObject,
    /// Too many bytes.
    #[error("the schema has {bytes} bytes, more than {}: shorten it", limits::MOST_BYTES)]
    TooLarge {
        /// The length of its text.
        bytes: usize,
    },
    /// Too many containers inside each other.
    #[error("the schema is nested deeper than {} levels: move inner parts to `$defs`", limits::MOST_LEVELS)]
    TooDeep,
    /// Too many schemas in one document.
    #[error("the document holds more than {} schemas: split the tool", limits::MOST_SCHEMAS)]
    TooManySchemas,
    /// Checking one value means checking too many schemas, or too many inside each other.
    #[error(
        "the schema at `{pointer}` expands to more than {} schemas for one value, or to a chain of more than {}: combine fewer of them",
        limits::MOST_EXPANDED,
        limits::LONGEST_CHAIN
    )]
    ReferenceExpansion {
        /// The schema that grows.
        pointer: String,
    },
    /// A schema refers to itself for the same value, so that checking it would never end.
    #[error(
        "the schema at `{pointer}` refers to itself for the same value: let it refer to itself only for a property or an item"
    )]
    EndlessReference {
        /// A schema on the circle.
        pointer: String,
    },
    /// A regular expression that cannot be matched in linear time, or is too large.
    #[error("the pattern at `{pointer}` {reason}: write a simpler one")]
    Pattern {
        /// Where the pattern stands.
        pointer: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Anything else that the validator refuses.
    #[error("the schema cannot be enforced at `{pointer}`: {reason}")]
    NotEnforceable {
        /// Where.
        pointer: String,
        /// What the validator says.
        reason: String,
    },
}

impl SchemaRefused {
    /// A stable word for counting refusals by reason.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::UnknownDialect { .. } => "unknown_dialect",
            Self::InvalidSchema { .. } => "invalid_schema",
            Self::IgnoredKeyword { .. } => "ignored_keyword",
            Self::RemoteReference { .. } => "remote_reference",
            Self::UnresolvedReference { .. } => "unresolved_reference",
            Self::RepeatedName { .. } => "repeated_name",
            Self::NotAnObject => "not_an_object",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep => "too_deep",
            Self::TooManySchemas => "too_many_schemas",
            Self::ReferenceExpansion { .. } => "reference_expansion",
            Self::EndlessReference { .. } => "endless_reference",
            Self::Pattern { .. } => "pattern",
            Self::NotEnforceable { .. } => "not_enforceable",
        }
    }
}
