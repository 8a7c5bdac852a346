//! The keywords with numbers in them, decided by exact decimals on both sides.
//!
//! The validator reads schemas as `serde_json` values, whose numbers are 64 bits wide. So in the plain form each of these
//! keywords has a name of its own and the *text* of its value, and is decided here.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use jsonschema::{Keyword, Retrieve, ValidationError, ValidationOptions};
use lockgate_contract::document::{Document, Kind, Limits, Node, Number};
use serde_json::Value;

use super::instance::{Documents, Place};

/// What stands before the real keyword in the plain form.
pub(super) const PREFIX: &str = "lockgate:";
/// The names that an object may have, where no keyword of the dialect can say it.
pub(super) const CLOSED: &str = "lockgate:additionalProperties";

type Factory = fn(&Value) -> Option<Box<dyn for<'i> Keyword<'i, Documents>>>;

const KEYWORDS: [(&str, Factory); 8] = [
    ("lockgate:minimum", |value| Bound::keyword(value, "less than the minimum", Ordering::is_ge)),
    ("lockgate:maximum", |value| Bound::keyword(value, "greater than the maximum", Ordering::is_le)),
    ("lockgate:exclusiveMinimum", |value| {
        Bound::keyword(value, "not greater than the exclusive minimum", Ordering::is_gt)
    }),
    ("lockgate:exclusiveMaximum", |value| {
        Bound::keyword(value, "not less than the exclusive maximum", Ordering::is_lt)
    }),
    ("lockgate:multipleOf", MultipleOf::keyword),
    ("lockgate:const", |value| OneOf::keyword(value, false)),
    ("lockgate:enum", |value| OneOf::keyword(value, true)),
    (CLOSED, Closed::keyword),
];

/// An assertion as it stands in the plain form.
pub(super) fn plain(keyword: &str, value: Node<'_>) -> (String, Value) {
    let is_exact = match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => true,
        // Objects too: the validator should not meet words of JSON Schema in values.
        "const" | "enum" => !is_simple(value),
        _ => false,
    };
    if is_exact {
        return (format!("{PREFIX}{keyword}"), Value::String(value.raw().to_owned()));
    }
    // Counts: `3.0` is 3, and what does not fit is beyond every count.
    let count = value.as_number().and_then(|number| number.as_u64());
    (keyword.to_owned(), count.map_or_else(|| value.to_json_value(), Value::from))
}

/// Teaches the validator these keywords.
pub(super) fn with_keywords(
    options: ValidationOptions<'static, Arc<dyn Retrieve>, Documents>,
) -> ValidationOptions<'static, Arc<dyn Retrieve>, Documents> {
    KEYWORDS.into_iter().fold(options, |options, (name, factory)| {
        options.with_keyword(name, move |_, value, _| {
            factory(value).ok_or_else(|| ValidationError::schema("its number has more digits than are supported"))
        })
    })
}

/// Whether there are neither numbers nor objects in a value.
fn is_simple(value: Node<'_>) -> bool {
    !matches!(value.kind(), Kind::Number | Kind::Object) && value.elements().all(is_simple)
}

fn parse(value: &Value) -> Option<Document> {
    Document::parse(value.as_str()?, Limits::OWN).ok()
}

/// `minimum` and its like.
struct Bound {
    limit: Document,
    message: &'static str,
    holds: fn(Ordering) -> bool,
}

impl Bound {
    fn keyword(
        value: &Value,
        message: &'static str,
        holds: fn(Ordering) -> bool,
    ) -> Option<Box<dyn for<'i> Keyword<'i, Documents>>> {
        let limit = parse(value)?;
        limit.root().as_number()?;
        Some(Box::new(Self { limit, message, holds }))
    }
}

impl<'i> Keyword<'i, Documents> for Bound {
    fn validate(&self, instance: Place<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::<Documents>::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("the value is {} of {}", self.message, self.limit)))
    }

    fn is_valid(&self, instance: Place<'i>) -> bool {
        match (instance.number(), self.limit.root().as_number()) {
            (Some(number), Some(limit)) => (self.holds)(number.cmp(&limit)),
            _ => true,
        }
    }
}

/// `multipleOf`, for a divisor of at most 18 significant digits.
struct MultipleOf {
    text: String,
    digits: u64,
    exponent: i64,
}

impl MultipleOf {
    const MOST_DIGITS: usize = 18;

    fn keyword(value: &Value) -> Option<Box<dyn for<'i> Keyword<'i, Documents>>> {
        let document = parse(value)?;
        let (digits, exponent) = significant(document.root().as_number()?);
        let fits = !digits.is_empty() && digits.len() <= Self::MOST_DIGITS;
        Some(Box::new(Self { text: document.text().to_owned(), digits: fits.then(|| digits.parse().ok())??, exponent }))
    }

    /// Whether `digits × 10^exponent` is a multiple.
    fn divides(&self, digits: &str, exponent: i64) -> bool {
        if digits.is_empty() {
            return true;
        }
        // Negative: the divisor would have to divide digits that do not end in 0 by a power of ten.
        let Ok(mut zeros) = u64::try_from(exponent.saturating_sub(self.exponent)) else {
            return false;
        };
        let divisor = u128::from(self.digits);
        let step = |rest: u128, digit: u8| (rest * 10 + u128::from(digit - b'0')) % divisor;
        let mut rest = digits.bytes().fold(0, step);
        let mut power = 10;
        while zeros > 0 {
            if zeros % 2 == 1 {
                rest = rest * power % divisor;
            }
            power = power * power % divisor;
            zeros /= 2;
        }
        rest == 0
    }
}

impl<'i> Keyword<'i, Documents> for MultipleOf {
    fn validate(&self, instance: Place<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::<Documents>::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("the value is not a multiple of {}", self.text)))
    }

    fn is_valid(&self, instance: Place<'i>) -> bool {
        instance.number().is_none_or(|number| {
            let (digits, exponent) = significant(number);
            self.divides(&digits, exponent)
        })
    }
}

/// The magnitude of a number as digits × 10^exponent, the digits without zeros at either end; zero has none.
fn significant(number: Number<'_>) -> (String, i64) {
    let decimal = number.decimal();
    let decimal = decimal.trim_start_matches('-');
    let (mantissa, exponent) = decimal.split_once('e').unwrap_or((decimal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let as_exponent = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let exponent = exponent.parse::<i64>().unwrap_or_default() - as_exponent(fraction.len())
        + as_exponent(digits.len() - trimmed.len());
    (trimmed.trim_start_matches('0').to_owned(), exponent)
}

/// `const` and `enum`.
struct OneOf {
    values: Document,
    is_list: bool,
}

impl OneOf {
    fn keyword(value: &Value, is_list: bool) -> Option<Box<dyn for<'i> Keyword<'i, Documents>>> {
        Some(Box::new(Self { values: parse(value)?, is_list }))
    }
}

impl<'i> Keyword<'i, Documents> for OneOf {
    fn validate(&self, instance: Place<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::<Documents>::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("the value is not {}", self.values)))
    }

    fn is_valid(&self, instance: Place<'i>) -> bool {
        let values = self.values.root();
        if self.is_list { values.elements().any(|value| instance.is_value(value)) } else { instance.is_value(values) }
    }
}

/// `additionalProperties: false`, with names of the parts that a schema is composed of.
struct Closed {
    names: HashSet<String>,
}

impl Closed {
    fn keyword(value: &Value) -> Option<Box<dyn for<'i> Keyword<'i, Documents>>> {
        let names = value.as_array()?.iter().filter_map(Value::as_str).map(String::from).collect();
        Some(Box::new(Self { names }))
    }

    fn undeclared<'i>(&self, instance: Place<'i>) -> impl Iterator<Item = String> + use<'_, 'i> {
        instance.names().filter(|name| !self.names.contains(name))
    }
}

impl<'i> Keyword<'i, Documents> for Closed {
    /// The message is the list of names, for [`super::explain`].
    fn validate(&self, instance: Place<'i>) -> Result<(), ValidationError<'i>> {
        let names: Vec<_> = self.undeclared(instance).collect();
        if names.is_empty() {
            return Ok(());
        }
        Err(ValidationError::custom(Value::from(names).to_string()))
    }

    fn is_valid(&self, instance: Place<'i>) -> bool {
        self.undeclared(instance).next().is_none()
    }
}
