//! Fields of forms and queries (`application/x-www-form-urlencoded`).

use std::borrow::Cow;

use reqwest::Url;

/// Fields as a form's body, or behind the `?` of a URL.
pub(super) fn written(fields: &[(&str, Cow<'_, str>)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    fields.join("&")
}

/// One text, in characters that stand for themselves everywhere.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])));
        }
    }
    encoded
}

/// What a query says: the value of each name that stands in it once.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads what stands behind the `?`.
    pub(super) fn read(query: &str) -> Self {
        // Longer ones are none of an issuer's.
        let query = if query.len() > 16 << 10 { "" } else { query };
        let mut url = Url::parse("http://localhost/").ok();
        if let Some(url) = &mut url {
            url.set_query(Some(query.trim_start_matches('?')));
        }
        let pairs = url.iter().flat_map(|url| url.query_pairs());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value of a name; an error where there are two, which two readers would read differently.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Twice> {
        let mut values = self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(Twice),
        }
    }
}

/// A name stands in a query twice.
#[derive(Debug)]
pub(super) struct Twice;
