//! The names under which the tools of servers are called: `server__tool`.

use lockgate_contract::digest::Digest;

/// What models' providers take: 64 characters of letters, digits, `_` and `-`.
const LONGEST: usize = 64;
/// Digits of the digest in a name that had to change.
const DIGITS: usize = 16;
/// What stands between the prefix and the server's own name.
const BETWEEN: &str = "__";

/// What a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameOf {
    /// A tool of the server.
    Tool,
    /// What Lockgate offers of the server beside its tools, such as `resources-read`: never a tool's name, whatever the server calls
    /// its tools.
    Beside,
}

/// The name of what a server calls `raw`: a pure function of its arguments, whatever else there is and whoever connects first.
///
/// `prefix__raw` as it is, where that is a name that every model's provider takes. Where a character has to change or the name is too
/// long, it ends in digits of a SHA-256 over prefix, server and raw name; so does one that only looks as if it did, and one that could
/// be read in two ways. Two raw names of a server never share one, and two servers' names differ as long as their prefixes do and
/// none is empty. Nothing reads the raw name back out of it.
pub fn name_of(prefix: &str, server: &str, of: NameOf, raw: &str) -> String {
    let plain = if prefix.is_empty() { raw.to_owned() } else { format!("{prefix}{BETWEEN}{raw}") };
    let fits = of == NameOf::Tool && !raw.is_empty() && plain.len() <= LONGEST && plain.bytes().all(is_plain);
    // Where the prefix ends is seen: at the first `__`.
    let is_clear = !prefix.contains(BETWEEN) && !prefix.ends_with('_');
    if fits && is_clear && !looks_hashed(&plain) {
        return plain;
    }
    let tag = match of {
        NameOf::Tool => "lockgate.mcp.name.v1",
        NameOf::Beside => "lockgate.mcp.name-beside.v1",
    };
    // The lengths keep the three apart.
    let all = format!("{}:{prefix}{}:{server}{raw}", prefix.len(), server.len());
    let start: String = plain.chars().map(projected).take(LONGEST - DIGITS - 1).collect();
    format!("{start}_{}", Digest::of_text(tag, &all).short(DIGITS))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn projected(character: char) -> char {
    if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' }
}

/// Whether a name could be one that ends in digits of a digest.
fn looks_hashed(name: &str) -> bool {
    let Some((_, digits)) = name.rsplit_once('_') else { return false };
    digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
