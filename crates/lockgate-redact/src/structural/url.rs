//! A password in the userinfo part of a URL (RFC 3986 §3.2.1).

use crate::finding::{Finding, Rank};
use crate::placeholder::is_placeholder;

/// The label of the marker.
pub(crate) const LABEL: &str = "url_password";

/// How much of a text is looked through for the end of the userinfo part.
const LONGEST: usize = 4096;

/// The password in the URL whose `://` stands at `at`. User name and host stay.
pub(crate) fn find(text: &str, at: usize) -> Option<Finding<'_>> {
    let start = at + "://".len();
    let rest = &text.as_bytes()[start..];
    let rest = &rest[..rest.len().min(LONGEST)];
    let authority_end = rest.iter().position(|&byte| ends_authority(byte)).unwrap_or(rest.len());
    // The last `@` counts: passwords that nobody encoded may hold one.
    let userinfo_end = rest[..authority_end].iter().rposition(|&byte| byte == b'@')?;
    let colon = rest[..userinfo_end].iter().position(|&byte| byte == b':')?;
    let range = start + colon + 1..start + userinfo_end;
    if is_placeholder(&text[range.clone()]) {
        return None;
    }
    Some(Finding::part(text, range, LABEL, Rank::Context))
}

fn ends_authority(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        find(text, text.find("://").unwrap()).map(|finding| finding.value)
    }

    #[test]
    fn only_the_password_goes() {
        assert_eq!(found("postgres://app:hunter2@db:5432/x"), Some("hunter2"));
        assert_eq!(found("redis://:hunter2@cache"), Some("hunter2"));
        assert_eq!(found("https://a:p@ss:w0rd@host/path?x=1"), Some("p@ss:w0rd"));
        assert_eq!(found("\"amqp://user:pass@host\""), Some("pass"));
    }

    #[test]
    fn other_urls_stay() {
        for text in [
            "https://example.com/",
            "https://example.com:8080/@scope/package",
            "ssh://git@github.com/o/r",
            "http://localhost:3000 me@example.com",
            "postgres://user:${PASSWORD}@host",
            "postgres://user:<password>@host",
            "postgres://user:@host",
            "https://a.example:80,b@example",
            "://",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
