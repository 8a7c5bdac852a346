//! A key that does not show itself.

use std::fmt;

use reqwest::header::HeaderValue;

/// What stands in a text where the key stood.
const HIDDEN: &str = "[key hidden]";

/// An API key. Its `Debug` shows nothing of it, and it has no `Display`.
#[derive(Clone)]
pub(crate) struct ApiKey {
    text: String,
    header: HeaderValue,
}

impl ApiKey {
    /// Takes a key, and what stands before it in its header; white space around the key is dropped. `None` if it cannot stand in one.
    pub(crate) fn new(text: &str, before: &str) -> Option<Self> {
        let text = text.trim().to_owned();
        let mut header = HeaderValue::from_str(&format!("{before}{text}")).ok()?;
        header.set_sensitive(true);
        Some(Self { text, header })
    }

    /// The value of the header, marked as sensitive.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Replaces the key in a text that a provider sent: some quote it back in their error messages.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        if self.text.is_empty() { text.to_owned() } else { text.replace(&self.text, HIDDEN) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey")
    }
}
