//! What holds for every text.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor as _;
use lockgate_redact::{Scrubber, ScrubberBuilder, SecretValue};
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

/// A form in which a secret may travel. `choices` says which characters an encoder escapes that need not be.
fn encoded(secret: &str, form: usize, choices: u64, before: &str, after: &str) -> String {
    let whole = format!("{before}{secret}{after}");
    match form {
        0 => secret.to_owned(),
        1 => in_json(secret, choices),
        2 => in_json(&in_json(secret, choices), 0),
        3 => in_url(secret, choices, "%20"),
        4 => in_url(secret, choices, "+"),
        5 => in_json(&in_url(secret, choices, "%20"), choices),
        6 => in_url(&in_url(secret, choices, "%20"), 0, "%20"),
        7 => in_html(secret, choices),
        8 => whole.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat(),
        9 => whole.bytes().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().concat(),
        10 => STANDARD.encode(whole),
        11 => STANDARD_NO_PAD.encode(whole),
        12 => URL_SAFE.encode(whole),
        13 => URL_SAFE_NO_PAD.encode(whole),
        _ => in_url(&STANDARD.encode(whole), choices, "%20"),
    }
}

/// Whether the character at this place is escaped although it need not be.
fn chosen(choices: u64, place: usize) -> bool {
    choices.rotate_right(u32::try_from(place % 64).unwrap()) & 1 == 1
}

fn in_url(text: &str, choices: u64, blank: &str) -> String {
    let byte = |(place, byte): (usize, u8)| match byte {
        b' ' => blank.to_owned(),
        b'%' | b'+' | b'&' | b'=' | 0x80.. => format!("%{byte:02X}"),
        _ if byte.is_ascii_alphanumeric() || !chosen(choices, place) => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    text.bytes().enumerate().map(byte).collect()
}

fn in_json(text: &str, choices: u64) -> String {
    let letter = |(place, letter): (usize, char)| match letter {
        '"' | '\\' => format!("\\{letter}"),
        '/' if chosen(choices, place) => "\\/".to_owned(),
        _ if chosen(choices, place) && !letter.is_ascii_alphanumeric() => {
            letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
        }
        _ => letter.to_string(),
    };
    text.chars().enumerate().map(letter).collect()
}

fn in_html(text: &str, choices: u64) -> String {
    let letter = |(place, letter): (usize, char)| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '\'' if chosen(choices, place) => "&#x27;".to_owned(),
        _ if chosen(choices, place) && !letter.is_ascii_alphanumeric() => format!("&#{};", u32::from(letter)),
        _ => letter.to_string(),
    };
    text.chars().enumerate().map(letter).collect()
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
        form in 0_usize..15,
        choices: u64,
        before in "[a-z]{0,4}",
        after in "[a-z]{0,4}",
    ) {
        let secret = secret.trim();
        let mut builder = ScrubberBuilder::new();
        builder.secret("s", SecretValue::new(secret)).unwrap();
        let scrubber = builder.build().unwrap();
        let planted = encoded(secret, form, choices, &before, &after);
        // An escaped text begins behind a delimiter: a backslash or a percent sign right before it would belong to it.
        let delimiter = if (1..8).contains(&form) { "\"" } else { "" };
        let text = format!("{text_before}{delimiter}{planted}{text_after}");
        let scrubbed = scrubber.scrub(&text);
        for gone in [&planted, secret, &encoded(secret, form, choices, "", "")] {
            prop_assert!(!scrubbed.contains(gone), "{scrubbed:?} from {text:?}");
        }
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
