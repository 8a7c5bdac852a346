//! What holds for every text.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor as _;
use lockgate_redact::{Scrubber, ScrubberBuilder, SecretValue};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use proptest::prelude::*;

/// Two values that overlap.
static SCRUBBER: LazyLock<Scrubber> = LazyLock::new(|| {
    let mut builder = ScrubberBuilder::new();
    builder.secret("s0", SecretValue::new("swordfish")).unwrap();
    builder.secret("s1", SecretValue::new("wordfish-2x")).unwrap();
    builder.build().unwrap()
});

/// Pieces that rules react to, so that random texts reach the rules and their edges.
fn piece() -> impl Strategy<Value = String> {
    let fragments = prop::sample::select(vec![
        "password",
        "token",
        "API_KEY",
        "Authorization",
        "Cookie",
        "pwd",
        "secret_key",
        "=",
        ": ",
        ":",
        "=\"",
        "\"",
        "'",
        "\\\"",
        "\\",
        "\\n",
        "\n",
        " ",
        "&",
        ";",
        ",",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        "#",
        "@",
        "/",
        "://",
        "-----",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Bearer ",
        "Basic ",
        "dXNlcjpwYXNz",
        "eyJhbGciOiJIUzI1NiJ9",
        ".eyJzdWIiOiIxMjM0In0",
        "%3D",
        "$",
        "${X}",
        "***",
        "[redacted:",
        "[redacted:token#a1b2]",
        "[redacted:github_token#00ff]",
        "[redacted:s0#1234]",
        "#a1b2]",
        "swordfish",
        "wordfish-2x",
        "c3dvcmRmaXNo",
        "sk-",
        "é",
        "😀",
        "\u{1b}[31m",
    ])
    .prop_map(str::to_owned);
    let tokens = prop::sample::select(vec![
        "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        "sk-ant-".to_owned() + "api03-a1B2c3D4e5F6g7H8i9J0",
        "AKIA".to_owned() + "QYLPMN5HNM6OWKBR",
        "123456789:AA".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q",
    ]);
    prop_oneof![4 => fragments, 1 => tokens, 2 => "[a-zA-Z0-9_.-]{1,20}", 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..16).prop_map(|pieces| pieces.concat())
}

/// A form in which a secret may travel.
fn encoded(secret: &str, form: usize, before: &str, after: &str) -> String {
    let whole = format!("{before}{secret}{after}");
    let json = |text: &str| serde_json::to_string(text).unwrap();
    match form {
        0 => secret.to_owned(),
        1 => json(secret),
        2 => json(&json(secret)),
        3 => percent_encode(secret.as_bytes(), NON_ALPHANUMERIC).to_string(),
        4 => percent_encode(secret.as_bytes(), NON_ALPHANUMERIC).to_string().replace("%20", "+"),
        5 => whole.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat(),
        6 => whole.bytes().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().concat(),
        7 => STANDARD.encode(whole),
        8 => STANDARD_NO_PAD.encode(whole),
        9 => URL_SAFE.encode(whole),
        _ => URL_SAFE_NO_PAD.encode(whole),
    }
}

/// Undoes [`encoded`] wherever a scrubbed text still can be decoded, and says whether the secret is in it.
fn reveals(text: &str, secret: &str, form: usize, before: &str, after: &str) -> bool {
    let bare = encoded(secret, form, "", "");
    text.contains(&encoded(secret, form, before, after))
        || text.contains(secret)
        || (form < 7 && text.contains(bare.trim_matches('"')))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn scrubbing_is_idempotent(text in text()) {
        let scrubber = &*SCRUBBER;
        let once = scrubber.scrub(&text).into_owned();
        let twice = scrubber.scrub(&once);
        prop_assert!(matches!(twice, Cow::Borrowed(_)), "{once:?} became {twice:?}");
    }

    #[test]
    fn known_values_never_survive(
        text_before in text(),
        text_after in text(),
        secret in "[ -~é]{0,4}[!-~]{8,30}",
        form in 0_usize..11,
        before in "[a-z]{0,4}",
        after in "[a-z]{0,4}",
    ) {
        let secret = secret.trim();
        let mut builder = ScrubberBuilder::new();
        builder.secret("s", SecretValue::new(secret)).unwrap();
        let scrubber = builder.build().unwrap();
        let planted = encoded(secret, form, &before, &after);
        let text = format!("{text_before}{planted}{text_after}");
        let scrubbed = scrubber.scrub(&text);
        prop_assert!(!reveals(&scrubbed, secret, form, &before, &after), "{scrubbed:?}");
        prop_assert!(scrubbed.contains("[redacted:"));
    }

    #[test]
    fn documents_are_scrubbed_like_their_strings(strings in prop::collection::vec(text(), 1..5)) {
        let scrubber = &*SCRUBBER;
        let document = Document::from_serialize(&strings).unwrap();
        let expected: Vec<String> = strings.iter().map(|text| scrubber.scrub(text).into_owned()).collect();
        match scrubber.scrub_document(&document) {
            None => prop_assert_eq!(strings, expected),
            Some(scrubbed) => {
                prop_assert_eq!(scrubbed.decode::<Vec<String>>().unwrap(), expected);
                prop_assert!(scrubber.scrub_document(&scrubbed).is_none(), "{:?}", scrubbed);
            }
        }
    }

    #[test]
    fn scrubbed_documents_stay_scrubbed(members in prop::collection::btree_map(text(), text(), 0..5)) {
        let scrubber = &*SCRUBBER;
        let document = Document::from_serialize(&members).unwrap();
        if let Some(scrubbed) = scrubber.scrub_document(&document) {
            prop_assert_eq!(scrubbed.root().len(), members.len());
            prop_assert!(scrubber.scrub_document(&scrubbed).is_none(), "{:?}", scrubbed);
        }
    }
}
