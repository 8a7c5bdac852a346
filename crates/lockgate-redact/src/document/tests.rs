use lockgate_contract::document::{Document, Limits};
use lockgate_contract::ports::Redactor as _;

use crate::marker::OPENING;
use crate::{Scrubber, ScrubberBuilder, SecretValue};

const KNOWN: &str = "swordfish\n\"7\"";

fn scrubber() -> Scrubber {
    let mut builder = ScrubberBuilder::new();
    builder.secret("known", SecretValue::new(KNOWN)).unwrap();
    builder.secret("pin", SecretValue::new("4929123456")).unwrap();
    builder.build().unwrap()
}

fn parse(text: &str) -> Document {
    Document::parse(text, Limits::OUTPUT).unwrap()
}

/// The clean text with `‹label›` in place of each marker.
fn scrub(text: &str) -> Option<String> {
    let scrubber = scrubber();
    let clean = scrubber.scrub_document(&parse(text))?;
    assert!(scrubber.scrub_document(&clean).is_none(), "not idempotent: {}", clean.text());
    let mut text = clean.text().to_owned();
    while let Some(start) = text.find(OPENING) {
        let end = start + text[start..].find(']').unwrap() + 1;
        let label = text[start + OPENING.len()..end].split('#').next().unwrap().to_owned();
        text.replace_range(start..end, &format!("‹{label}›"));
    }
    Some(text)
}

fn token() -> String {
    "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
}

#[test]
fn clean_documents_are_left_alone() {
    for text in [
        "null",
        r#"{"a":[1,2.50,true,"x"],"url":"https://example.com/?page=2"}"#,
        r#"{"a":"line\nline","passed":3}"#,
        r#"{"token_count":12,"max_tokens":5,"next_page_token":"abcdef123456","nextPageToken":"abc","cursor":"eyJhIjoxfQ"}"#,
        r#"{"password":"","token":"<token>","secret":null,"api_key":true,"cookie":12345678901}"#,
        r#"{"secretary":"Anna Smith","pwd":"/home/me","passage":"once upon"}"#,
        r#"{"name":"path","value":"/usr/bin"}"#,
    ] {
        assert_eq!(scrub(text), None, "{text}");
    }
}

#[test]
fn strings_keys_and_numbers_are_scrubbed_decoded_and_all_else_is_exact() {
    let token = token();
    for (text, expected) in [
        (
            format!(r#"{{ "a" : [ 1.00, "x {token} y" ] , "b":1e0 }}"#),
            r#"{ "a" : [ 1.00, "x ‹github_token› y" ] , "b":1e0 }"#,
        ),
        (
            r#"{"a":"swordfish\n\"7\"","b":"\u0073wordfish\u000a\u00227\u0022"}"#.to_owned(),
            r#"{"a":"‹known›","b":"‹known›"}"#,
        ),
        (format!(r#"{{"{token}":{{"n":9007199254740993}}}}"#), r#"{"‹github_token›":{"n":9007199254740993}}"#),
        (r"[4929123456,-4929123456.5,49291234]".to_owned(), r#"["‹pin›","-‹pin›.5",49291234]"#),
        (format!("\"{token}\""), r#""‹github_token›""#),
        (format!(r#"{{"a":"é\n{token}"}}"#), r#"{"a":"é\n‹github_token›"}"#),
    ] {
        assert_eq!(scrub(&text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn values_under_sensitive_keys_go() {
    for (text, expected) in [
        (r#"{"password":"letmein"}"#, r#"{"password":"‹password›"}"#),
        (
            r#"{"Client-Secret":"a b","apiKey":"k","access_token":"t"}"#,
            r#"{"Client-Secret":"‹secret›","apiKey":"‹key›","access_token":"‹token›"}"#,
        ),
        (r#"{"\u0070assword":"letmein"}"#, r#"{"\u0070assword":"‹password›"}"#),
        (
            r#"{"Authorization":"Bearer abc","x":"Bearer of news"}"#,
            r#"{"Authorization":"Bearer ‹authorization›","x":"Bearer of news"}"#,
        ),
        (r#"{"set-cookie":["a=b; Path=/","c=d"],"n":[1]}"#, r#"{"set-cookie":["‹cookie›","‹cookie›"],"n":[1]}"#),
        (
            r#"{"env":[{"name":"API_KEY","value":"abc"},{"name":"PATH","value":"/bin"}]}"#,
            r#"{"env":[{"name":"API_KEY","value":"‹key›"},{"name":"PATH","value":"/bin"}]}"#,
        ),
        (r#"{"value":"abc","key":"Authorization"}"#, r#"{"value":"‹authorization›","key":"Authorization"}"#),
        (r#"{"token":{"kind":"x","secret":"y"}}"#, r#"{"token":{"kind":"x","secret":"‹secret›"}}"#),
        (r#"{"password":"a\nb"}"#, r#"{"password":"‹password›"}"#),
    ] {
        assert_eq!(scrub(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn keys_stay_distinct() {
    let token = token();
    let text = format!(r#"{{"x {token}":1,"\u0078 {token}!":2,"y {token}":3}}"#);
    assert_eq!(scrub(&text).unwrap(), r#"{"x ‹github_token›":1,"x ‹github_token›!":2,"y ‹github_token›":3}"#);

    let once = scrubber().scrub_document(&parse(&format!(r#"{{"{token}":1}}"#))).unwrap();
    let marker = once.root().names().next().unwrap().as_str().unwrap().into_owned();
    // The key that scrubbing would make stands there already.
    let text = format!(r#"{{"{token}":1,"{marker}":2,"{marker}~2":3}}"#);
    assert_eq!(scrub(&text).unwrap(), r#"{"‹github_token›~3":1,"‹github_token›":2,"‹github_token›~2":3}"#);
}

#[test]
fn a_value_under_a_redacted_key_is_not_judged_by_the_marker() {
    let text = format!(r#"{{"{}":"harmless"}}"#, token());
    assert_eq!(scrub(&text).unwrap(), r#"{"‹github_token›":"harmless"}"#);
}

#[test]
fn what_a_marker_leaves_of_a_secret_value_goes_too() {
    // A variable's name is a placeholder; with a token in its place it no longer looks like one.
    let token = "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let redactor = ScrubberBuilder::new().build().unwrap();
    let document = Document::from_json_value(&serde_json::json!({"password": format!("${token}")}));
    let scrubbed = redactor.scrub_document(&document).unwrap();
    assert!(!scrubbed.text().contains('$'), "{scrubbed:?}");
    assert!(redactor.scrub_document(&scrubbed).is_none());
}
