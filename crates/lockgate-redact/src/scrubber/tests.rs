use std::borrow::Cow;

use lockgate_contract::ports::Redactor as _;
use sha2::{Digest, Sha256};

use crate::{RedactError, Scrubber, ScrubberBuilder, SecretValue};

const SECRET: &str = "Tr0ub4dor&3/\"x\"";

fn with_secret() -> Scrubber {
    let mut builder = ScrubberBuilder::new();
    builder.secret("vault/db", SecretValue::new(SECRET)).unwrap();
    builder.build().unwrap()
}

fn token() -> String {
    "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
}

#[test]
fn a_clean_text_is_borrowed() {
    let text = "nothing to see at https://example.com/, pass on";
    assert!(matches!(with_secret().scrub(text), Cow::Borrowed(same) if same == text));
}

#[test]
fn one_secret_has_one_tag_in_every_encoding_and_place() {
    let scrubber = with_secret();
    let marker = scrubber.scrub(SECRET).into_owned();
    assert!(marker.starts_with("[redacted:vault/db#") && marker.len() == "[redacted:vault/db#0000]".len(), "{marker}");
    assert_eq!(scrubber.scrub(&format!("a {SECRET} b {SECRET}")), format!("a {marker} b {marker}"));
    assert_eq!(scrubber.scrub("Tr0ub4dor%263%2F%22x%22"), marker);
    assert_eq!(scrubber.scrub("Tr0ub4dor&3/\\\"x\\\""), marker);
    assert_eq!(scrubber.scrub("547230756234646f7226332f227822"), marker);
    assert_eq!(scrubber.scrub("VHIwdWI0ZG9yJjMvIngi"), marker);
}

#[test]
fn tags_depend_on_the_key_only() {
    let tagged = |key: &[u8]| ScrubberBuilder::new().key(key).build().unwrap().scrub(&token()).into_owned();
    assert_eq!(tagged(b"one"), tagged(b"one"));
    assert_ne!(tagged(b"one"), tagged(b"two"));
    assert_eq!(tagged(crate::DEFAULT_KEY), ScrubberBuilder::new().build().unwrap().scrub(&token()));
}

#[test]
fn the_surest_searcher_names_the_marker() {
    let scrubber = with_secret();
    let bare = scrubber.scrub(&token()).into_owned();
    assert!(bare.starts_with("[redacted:github_token#"));
    for (before, after) in [
        ("Authorization: Bearer ", ""),
        ("GITHUB_TOKEN=", "\n"),
        ("{\"password\":\"", "\"}"),
        ("https://x:", "@github.com/o/r"),
    ] {
        assert_eq!(scrubber.scrub(&format!("{before}{}{after}", token())), format!("{before}{bare}{after}"));
    }
    let known = scrubber.scrub(SECRET).into_owned();
    assert_eq!(scrubber.scrub("password='Tr0ub4dor&3/\"x\"'"), format!("password='{known}'"));
}

#[test]
fn secrets_that_touch_are_all_found() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("known", SecretValue::new("+swordfish")).unwrap();
    let scrubber = builder.build().unwrap();
    let clean = scrubber.scrub(&format!("{}+swordfish{}+swordfish", token(), token())).into_owned();
    let labels: Vec<&str> = clean.split('#').filter_map(|part| part.split(':').nth(1)).collect();
    assert_eq!(labels, ["github_token", "known", "github_token", "known"], "{clean}");
    assert_eq!(clean.len(), 2 * ("[redacted:github_token#0000]".len() + "[redacted:known#0000]".len()));
}

#[test]
fn overlapping_known_values_leave_nothing() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("first", SecretValue::new("abcdefgh")).unwrap();
    builder.secret("second", SecretValue::new("efghijklm")).unwrap();
    builder.secret("third", SecretValue::new("abcdefghij")).unwrap();
    let clean = builder.build().unwrap().scrub("<abcdefghijklm>").into_owned();
    assert!(clean.starts_with("<[redacted:third#") && clean.ends_with("]>"), "{clean}");
    assert_eq!(clean.len(), "<[redacted:third#0000]>".len());
}

#[test]
fn markers_are_never_touched_and_hide_nothing() {
    let scrubber = with_secret();
    let marker = scrubber.scrub(SECRET).into_owned();
    for text in [
        format!("password={marker}"),
        format!("{{\"token\":\"{marker}\"}}"),
        format!("Authorization: Bearer {marker}"),
        format!("postgres://app:{marker}@db"),
        format!("Cookie: {marker}"),
    ] {
        assert!(matches!(scrubber.scrub(&text), Cow::Borrowed(_)), "{text} became {}", scrubber.scrub(&text));
    }
    // Something that looks like a marker but has a label that nobody gave.
    let hidden = format!("[redacted:{}#a1b2]", token());
    assert!(!scrubber.scrub(&hidden).contains(&token()));
    // A secret beside a marker, in one value.
    let beside = scrubber.scrub(&format!("DB_PASSWORD={marker}tail")).into_owned();
    assert!(
        beside.starts_with(&format!("DB_PASSWORD={marker}[redacted:password#")) && !beside.contains("tail"),
        "{beside}"
    );
}

#[test]
fn short_values_and_bad_names_are_refused_without_showing_the_value() {
    let mut builder = ScrubberBuilder::new();
    let error = builder.secret("PIN", SecretValue::new("  1234567\n")).unwrap_err();
    assert!(matches!(error, RedactError::SecretTooShort { length: 7, .. }));
    assert_eq!(
        error.to_string(),
        "secret `PIN` has 7 characters after trimming; at least 8 are needed to find it safely"
    );
    for name in ["", "two words", "a#b", "a]b", "é", &"n".repeat(65)] {
        assert!(
            matches!(builder.secret(name, SecretValue::new("12345678")), Err(RedactError::UnusableName { .. })),
            "{name}"
        );
    }
    for value in ["redacted", "github_token", "private_key#"] {
        let error = builder.secret("name", SecretValue::new(value)).unwrap_err();
        assert!(matches!(error, RedactError::ValueInMarker { .. }), "{value}");
        assert!(!format!("{error} {error:?}").contains(value));
    }
    builder.secret("first", SecretValue::new("swordfish")).unwrap();
    assert!(matches!(
        builder.secret("a-swordfish", SecretValue::new("12345678")),
        Err(RedactError::ValueInMarker { .. })
    ));
    assert!(!format!("{builder:?} {:?}", builder.build().unwrap()).contains("swordfish"));
}

#[test]
fn values_are_trimmed() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("file", SecretValue::new("\tswordfish\n")).unwrap();
    assert!(builder.build().unwrap().scrub("a swordfish.").starts_with("a [redacted:file#"));
}

#[test]
fn allowed_digests_stay_but_known_values_go() {
    let digest = Sha256::digest(token().as_bytes()).iter().fold(String::new(), |out, byte| format!("{out}{byte:02X}"));
    let mut builder = ScrubberBuilder::new();
    builder.allow_digest(&digest).unwrap();
    let text = format!("GITHUB_TOKEN={}", token());
    assert_eq!(builder.build().unwrap().scrub(&text), text);
    builder.secret("ours", SecretValue::new(token())).unwrap();
    assert!(builder.build().unwrap().scrub(&text).starts_with("GITHUB_TOKEN=[redacted:ours#"));
    for entry in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
        assert!(matches!(builder.allow_digest(entry), Err(RedactError::UnusableDigest { .. })), "{entry}");
    }
}

#[test]
fn hundreds_of_known_values_are_found_too() {
    let mut builder = ScrubberBuilder::new();
    for number in 0..200 {
        builder.secret(&format!("s{number}"), SecretValue::new(format!("value-{number:04}-of-many"))).unwrap();
    }
    let scrubber = builder.build().unwrap();
    for number in 0..200 {
        let clean = scrubber.scrub(&format!("[value-{number:04}-of-many]")).into_owned();
        assert!(clean.starts_with(&format!("[[redacted:s{number}#")), "{clean}");
    }
}

#[test]
fn ordinary_text_of_an_agents_day_stays() {
    let scrubber = with_secret();
    for text in [
        "pip install scikit-learn sk-learn task-list risk-based-authentication disk-usage",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by me@example.com",
        "run-34c559713956 call-2.1 550e8400-e29b-41d4-a716-446655440000",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "git@github.com:o/r.git ssh://git@host/x https://host:8443/@scope/pkg",
        "test result: ok. 42 passed; 0 failed; finished in 0.03s",
        "the token limit is 128000 tokens; max_tokens=4096, next_page_token=CAUQAA",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "00:1B:44:11:3A:B7 10:AA:BB:CC:DD:EE 2001:db8::1",
        "basic authentication, bearer of bad news, a secret meeting, keys and passwords",
        "fn classify(key: &str) -> Option<KeyKind> { let token = self.next_token()?; }",
        "-----BEGIN CERTIFICATE-----",
    ] {
        assert_eq!(scrubber.scrub(text), text);
    }
}

#[test]
fn escapes_that_need_not_be_hide_nothing() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("s", SecretValue::new("0 aA0*/é'A!A")).unwrap();
    let scrubber = builder.build().unwrap();
    for planted in [
        "0+aA0%2A/%c3%a9%27A%21A",
        "0%20aA0*%2Fé'A!A",
        r"0 aA0*\/\u00e9'A!A",
        r"0 aA0*/\xe9\'A!A",
        "0 aA0*&#47;&#xE9;&#39;A!A",
        r"0%20aA0*\/%C3%A9'A!A",
        "0%2520aA0*/%25C3%25A9'A!A",
        "0&amp;#32;aA0*/é&amp;apos;A!A",
    ] {
        let result = scrubber.scrub(&format!("k={planted};")).into_owned();
        assert!(result.starts_with("k=[redacted:s#") && result.ends_with("];"), "{planted}: {result}");
    }
}
