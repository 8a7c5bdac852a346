//! The key by which a provider recognises a call that it was sent before.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::digest::Digest;
use crate::ids::CallId;
use crate::subject::Subject;

/// Stable over all attempts of a call, different for every other, and no tenant can meet another's (C-16): `lg-` and 32
/// hexadecimal digits, by [`Display`](fmt::Display). A caller's own key makes it the same for every call under that key.
///
/// Worked out once, where it is written first: most calls only read, and tell nobody.
#[derive(Clone)]
pub struct IdempotencyKey {
    subject: Arc<Subject>,
    of: KeyOf,
    hashed: OnceLock<Arc<str>>,
}

#[derive(Clone)]
enum KeyOf {
    Call(CallId),
    Caller(String),
    Attempt(String),
}

impl IdempotencyKey {
    /// The key of a call that is made on behalf of this subject.
    pub fn new(subject: Arc<Subject>, call_id: CallId) -> Self {
        Self::of(subject, KeyOf::Call(call_id))
    }

    /// The key of whatever a caller sends under its own key.
    pub fn of_caller(subject: Arc<Subject>, key: impl Into<String>) -> Self {
        Self::of(subject, KeyOf::Caller(key.into()))
    }

    /// The key that an earlier attempt had, as the journal has it: a further one has the same, whatever it was made of.
    pub fn of_attempt(subject: Arc<Subject>, written: impl Into<String>) -> Self {
        Self::of(subject, KeyOf::Attempt(written.into()))
    }

    fn of(subject: Arc<Subject>, of: KeyOf) -> Self {
        Self { subject, of, hashed: OnceLock::new() }
    }

    /// On whose behalf the call is made.
    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hashed = |tag, key: &str| {
            self.hashed.get_or_init(|| {
                let tenant = &self.subject.tenant;
                let text = format!("{}:{tenant}{key}", tenant.len());
                format!("lg-{}", Digest::of_text(tag, &text).short(32)).into()
            })
        };
        formatter.write_str(match &self.of {
            KeyOf::Call(call_id) => hashed("lockgate.idempotency.v1", call_id.as_str()),
            KeyOf::Caller(key) => hashed("lockgate.idempotency.caller.v1", key),
            KeyOf::Attempt(written) => written,
        })
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
