//! The examples of a rule: texts with places for letters and digits, so that no scanner takes a rule file for a leak.

/// What the places are filled with: varied, as tokens are.
const LETTERS: &str =
    "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG2hJ4lM6nP8rS0tV2xY4zA6cD8eF1iL3oR5uX7wK9qB2kT4gN6jH8mV1pZ3sC5yD7fG9aE2";
const HEX: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef1032547698badcfe";
const DIGITS: &str = "2345678901";
/// No place is longer.
const LONGEST: usize = 4096;

/// The text with its places filled: `{alnum:36}`, `{upper:16}`, `{hex:8}`, `{digits:10}`. Anything else stays.
pub(crate) fn filled(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let place = rest.find('}').and_then(|close| Some((fill(&rest[1..close])?, close + 1)));
        let (text, length) = place.unwrap_or_else(|| ("{".to_owned(), 1));
        out.push_str(&text);
        rest = &rest[length..];
    }
    out + rest
}

fn fill(place: &str) -> Option<String> {
    let (kind, length) = place.split_once(':')?;
    let length = length.parse().ok().filter(|length| *length <= LONGEST)?;
    let cycled = |source: &str| source.chars().cycle().take(length).collect::<String>();
    match kind {
        "alnum" => Some(cycled(LETTERS)),
        "upper" => Some(cycled(LETTERS).to_ascii_uppercase()),
        "hex" => Some(cycled(HEX)),
        "digits" => Some(cycled(DIGITS)),
        _ => None,
    }
}
