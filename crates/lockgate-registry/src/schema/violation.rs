//! What does not fit, for people; and the part of it that a model may be told.

use std::fmt;

/// One assertion of a schema that a value breaks. For the audit: pointers may hold property names that came with the
/// value. Values themselves are not quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer (RFC 6901) to the value that does not fit; of an undeclared or missing property, to where it is or
    /// would be.
    pub instance_pointer: String,
    /// A JSON pointer to the assertion in the schema.
    pub schema_pointer: String,
    /// The keyword that asserts it. `additionalProperties` or `unevaluatedProperties` also where the schema was closed by
    /// [`super::UnknownFields::Refuse`]; `false` for a schema that nothing fits.
    pub keyword: String,
    /// A sentence about it.
    pub message: String,
}

/// Why a value does not fit a schema: never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations {
    violations: Vec<Violation>,
    declared: Option<(String, String)>,
}

impl Violations {
    /// How many are kept.
    pub const MOST: usize = 16;

    /// INVARIANT: `declared` holds no name that the schema does not declare, and no part of a value.
    pub(super) fn new(mut violations: Vec<Violation>, declared: Option<(String, String)>) -> Self {
        violations.truncate(Self::MOST);
        Self { violations, declared }
    }

    /// A refusal that names no place.
    pub(super) fn unexplained(message: String) -> Self {
        let violation = Violation {
            instance_pointer: String::new(),
            schema_pointer: String::new(),
            keyword: String::new(),
            message,
        };
        Self { violations: vec![violation], declared: None }
    }

    /// What does not fit, at most [`Violations::MOST`].
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter()
    }

    /// A JSON pointer and a keyword that a model may be told: the place of the first violation, as far as it consists of
    /// property names that the schema declares and of array indices. An undeclared name ends the pointer at the object that
    /// has it.
    pub fn declared_path(&self) -> Option<(String, String)> {
        self.declared.clone()
    }
}

/// One line a violation.
impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.violations.iter().enumerate() {
            if index > 0 {
                formatter.write_str("; ")?;
            }
            if !violation.instance_pointer.is_empty() {
                write!(formatter, "`{}`: ", violation.instance_pointer)?;
            }
            formatter.write_str(&violation.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}
