use super::*;

fn found(value: &str, certain: bool) -> Option<&str> {
    credential(value, certain).map(|range| &value[range])
}

#[test]
fn the_scheme_stays() {
    assert_eq!(found("Bearer abc123", false), Some("abc123"));
    assert_eq!(found(" bearer   abc ", false), Some("abc"));
    assert_eq!(found("Basic dXNlcjpwYXNz", false), Some("dXNlcjpwYXNz"));
    assert_eq!(found("Bot abc.def", false), Some("abc.def"));
    assert_eq!(found("Digest username=\"a\", response=\"b\"", false), Some("username=\"a\", response=\"b\""));
    assert_eq!(found("AWS4-HMAC-SHA256 Credential=a/b, Signature=c", false), Some("Credential=a/b, Signature=c"));
    assert_eq!(found("0123456789abcdef", false), Some("0123456789abcdef"));
}

#[test]
fn prose_and_templates_stay() {
    for value in [
        "Bearer <token>",
        "Bearer $TOKEN",
        "Bearer ${TOKEN}",
        "required",
        "is needed for all calls",
        "Bearer tokens are used here",
        "",
    ] {
        assert_eq!(found(value, false), None, "{value}");
    }
}

#[test]
fn in_structured_data_even_an_unknown_form_is_a_credential() {
    assert_eq!(found("opensesame", true), Some("opensesame"));
    assert_eq!(found("Custom open sesame", true), Some("Custom open sesame"));
    assert_eq!(found("${TOKEN}", true), None);
}

#[test]
fn bearer_in_running_text() {
    let find = |text: &'static str| bearer(text, text.find("earer ").unwrap()).map(|finding| finding.value);
    assert_eq!(find("sent Bearer abc123.def-456_x."), Some("abc123.def-456_x"));
    assert_eq!(find("bearer abcdefgh1"), Some("abcdefgh1"));
    for text in [
        "the bearer token",
        "Bearer authentication-required",
        "forbearer abc12345",
        "WWW-Authenticate: Bearer realm1=x2",
    ] {
        assert_eq!(find(text), None, "{text}");
    }
}

#[test]
fn basic_in_running_text() {
    let find = |text: &'static str| basic(text, text.find("asic ").unwrap()).map(|finding| finding.value);
    assert_eq!(find("-H 'Basic dXNlcjpwYXNz'"), Some("dXNlcjpwYXNz"));
    assert_eq!(find("Basic YTpi Y2Q6ZWY="), None);
    for text in ["a basic introduction", "Basic understanding", "Visual Basic language"] {
        assert_eq!(find(text), None, "{text}");
    }
}
