//! The key by which a provider recognises a call that it was sent before.

use std::fmt;
use std::sync::Arc;

use crate::digest::Digest;
use crate::ids::CallId;
use crate::subject::Subject;

/// Stable over all attempts of a call, different for every other, and no tenant can meet another's (C-16): `lg-` and 32
/// hexadecimal digits, by [`Display`](fmt::Display).
///
/// Worked out where it is written: most calls only read, and tell nobody.
#[derive(Clone)]
pub struct IdempotencyKey {
    subject: Arc<Subject>,
    call_id: CallId,
}

impl IdempotencyKey {
    /// The key of a call that is made on behalf of this subject.
    pub fn new(subject: Arc<Subject>, call_id: CallId) -> Self {
        Self { subject, call_id }
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenant = &self.subject.tenant;
        let text = format!("{}:{tenant}{}", tenant.len(), self.call_id);
        write!(formatter, "lg-{}", Digest::of_text("lockgate.idempotency.v1", &text).short(32))
    }
}

/// Shows the key, and nothing that it is made of.
impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests;
