//! Values of facts.

use std::collections::BTreeMap;
use std::fmt;

use cedar_policy::RestrictedExpression;
use lockgate_contract::time::Timestamp;

/// A value of a fact.
#[derive(Debug, Clone)]
pub(in crate::cedar) struct Value(pub(super) RestrictedExpression);

impl Value {
    pub(in crate::cedar) fn bool(value: bool) -> Self {
        Self(RestrictedExpression::new_bool(value))
    }

    pub(in crate::cedar) fn long(value: i64) -> Self {
        Self(RestrictedExpression::new_long(value))
    }

    pub(in crate::cedar) fn string(value: &str) -> Self {
        Self(RestrictedExpression::new_string(value.to_owned()))
    }

    /// A decimal as Cedar writes it, such as `12.50`.
    pub(in crate::cedar) fn decimal(value: &str) -> Self {
        Self(RestrictedExpression::new_decimal(value))
    }

    /// A point in time.
    pub(in crate::cedar) fn time(value: Timestamp) -> Self {
        Self(RestrictedExpression::new_datetime(value.to_string()))
    }

    pub(in crate::cedar) fn set(elements: Vec<Self>) -> Self {
        Self(RestrictedExpression::new_set(elements.into_iter().map(|element| element.0)))
    }

    /// A record; its names differ.
    pub(in crate::cedar) fn record(members: Vec<(String, Self)>) -> Self {
        let members: BTreeMap<_, _> = members.into_iter().map(|(name, value)| (name, value.0)).collect();
        // A map has no name twice, which is all that a record refuses.
        Self(RestrictedExpression::new_record(members).unwrap_or_else(|_| RestrictedExpression::new_bool(false)))
    }
}

/// As rules write it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().fmt(f)
    }
}
