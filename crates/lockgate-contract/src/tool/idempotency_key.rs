//! The key by which a provider recognises a call that it was sent before.

use std::fmt;
use std::sync::Arc;

use crate::digest::Digest;
use crate::ids::CallId;
use crate::subject::Subject;

/// Stable over all attempts of a call, different for every other, and no tenant can meet another's (C-16): `lg-` and 32
/// hexadecimal digits, by [`Display`](fmt::Display). A caller's own key makes it the same for every call under that key.
///
/// Worked out where it is written: most calls only read, and tell nobody.
#[derive(Clone)]
pub struct IdempotencyKey {
    subject: Arc<Subject>,
    of: KeyOf,
}

#[derive(Clone)]
enum KeyOf {
    Call(CallId),
    Caller(String),
    Known(String),
}

impl IdempotencyKey {
    /// The key of a call that is made on behalf of this subject.
    pub fn new(subject: Arc<Subject>, call_id: CallId) -> Self {
        Self { subject, of: KeyOf::Call(call_id) }
    }

    /// The key of whatever a caller sends under its own key.
    pub fn of_caller(subject: Arc<Subject>, key: impl Into<String>) -> Self {
        Self { subject, of: KeyOf::Caller(key.into()) }
    }

    /// The key that an earlier attempt had, as the journal has it: a further one has the same, whatever it was made of.
    pub fn of_attempt(subject: Arc<Subject>, written: impl Into<String>) -> Self {
        Self { subject, of: KeyOf::Known(written.into()) }
    }

    /// On whose behalf the call is made.
    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tag, key) = match &self.of {
            KeyOf::Call(call_id) => ("lockgate.idempotency.v1", call_id.as_str()),
            KeyOf::Caller(key) => ("lockgate.idempotency.caller.v1", key.as_str()),
            KeyOf::Known(written) => return formatter.write_str(written),
        };
        let tenant = &self.subject.tenant;
        let text = format!("{}:{tenant}{key}", tenant.len());
        write!(formatter, "lg-{}", Digest::of_text(tag, &text).short(32))
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
