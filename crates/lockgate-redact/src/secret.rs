//! The type that a secret lives in.

use std::fmt;

/// A secret value whose `Debug` and `Display` show nothing, so that it cannot slip into a log or an error text.
///
/// The one way to the text is [`expose`](Self::expose), which is easy to search for.
///
/// ```
/// use lockgate_redact::SecretValue;
///
/// let secret = SecretValue::new("correct horse battery staple");
/// assert_eq!(format!("{secret} {secret:?}"), "[secret] SecretValue([secret])");
/// assert_eq!(secret.expose().len(), 28);
/// ```
#[derive(Clone)]
pub struct SecretValue(Box<str>);

impl SecretValue {
    /// Wraps a secret; the text is kept exactly.
    pub fn new(value: impl Into<Box<str>>) -> Self {
        Self(value.into())
    }

    /// The secret itself, without a copy.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretValue {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretValue([secret])")
    }
}

impl fmt::Display for SecretValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}
