use sha2::{Digest as _, Sha256};

use super::Digest;
use crate::document::{Document, Limits};

#[test]
fn the_digest_is_over_length_tag_and_text() {
    let framed = b"\0\0\0\0\0\0\0\x03tagtext";
    let expected: [u8; 32] = Sha256::digest(framed).into();
    assert_eq!(Digest::of_text("tag", "text").as_bytes(), &expected);
}

#[test]
fn the_frame_keeps_tag_and_text_apart() {
    assert_ne!(Digest::of_text("ab", "c"), Digest::of_text("a", "bc"));
    assert_ne!(Digest::of_text("", "abc"), Digest::of_text("abc", ""));
}

#[test]
fn a_document_is_digested_by_value() {
    let document = Document::parse("{\"b\":1.0,\"a\":[]}", Limits::ARGUMENTS).unwrap();
    assert_eq!(Digest::of("t", &document), Digest::of_text("t", "{\"a\":[],\"b\":1}"));
}

#[test]
fn the_spelling_is_read_back() {
    let digest = Digest::of_text("tag", "text");
    let text = digest.to_string();
    assert_eq!(text.len(), "sha256:".len() + 64);
    assert_eq!(text.parse::<Digest>().unwrap(), digest);
    assert_eq!(format!("{digest:?}"), text);
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    assert_eq!(digest.short(16), text[7..23]);
    assert_eq!(digest.short(1000).len(), 64);
}

#[test]
fn other_spellings_are_refused() {
    let text = Digest::of_text("tag", "text").to_string();
    for wrong in [
        text.to_uppercase(),
        text.replace("sha256:", ""),
        text.replace("sha256:", "sha512:"),
        format!("{text}0"),
        format!("{text}00"),
        text[..text.len() - 1].to_owned(),
        text[..text.len() - 2].to_owned(),
        format!("sha256:{}", "é".repeat(32)),
        format!("sha256:{}", "A".repeat(64)),
        String::new(),
    ] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}
