use serde::Deserialize;

use super::{Arguments, ArgumentsFault};
use crate::document::{Document, Fault, Limits};

fn parse(raw: &str) -> Arguments {
    Arguments::parse(raw, Limits::ARGUMENTS).unwrap()
}

fn reason(raw: &str) -> &'static str {
    Arguments::parse(raw, Limits::ARGUMENTS).unwrap_err().reason_word()
}

#[test]
fn args_empty_string() {
    for raw in ["", " ", " \n", "\t\r\n "] {
        assert_eq!(parse(raw).text(), "{}", "{raw:?}");
    }
    assert_eq!(parse("").digest(), parse(" { } ").digest());
}

#[test]
fn only_json_white_space_is_blank() {
    for raw in ["\u{feff}", "\u{feff}{}", "\u{a0}", "\0", "\u{2028}", "\u{b}"] {
        assert_eq!(reason(raw), "not_json", "{raw:?}");
    }
    let limits = Limits { max_bytes: 4, max_depth: 1 };
    assert_eq!(Arguments::parse("     ", limits).unwrap_err().reason_word(), "too_large");
}

#[test]
fn every_reason_has_its_word() {
    assert_eq!(reason("{\"to\": ,}"), "not_json");
    assert_eq!(reason("{\"to\":\"bob\",\"am"), "not_json");
    assert_eq!(reason("{'to':'bob','amount':5}"), "not_json");
    assert_eq!(reason("[{\"a\":1}]"), "not_an_object");
    assert_eq!(reason("null"), "not_an_object");
    assert_eq!(reason("\"{}\""), "not_an_object");
    assert_eq!(reason("{\"amount\":1,\"amount\":1000}"), "duplicate_key");
    assert_eq!(reason(&format!("{{\"memo\":{}{}}}", "[".repeat(3000), "]".repeat(3000))), "too_deep");
    assert_eq!(reason(&format!("{{\"memo\":\"{}\"}}", "x".repeat(1 << 20))), "too_large");
    assert_eq!(reason("{\"to\":\"\\ud800\",\"amount\":5}"), "invalid_unicode");
    assert_eq!(reason("{\"amount\":NaN}"), "non_finite_number");
    assert_eq!(reason("{\"amount\":1e400}"), "non_finite_number");
    assert_eq!(reason("{\"a\":1}{\"a\":2}"), "trailing_characters");
}

#[test]
fn an_error_says_where_for_the_audit() {
    let error = Arguments::parse("{\"to\":\"bob\",\"amount\":1,\"amount\":1000}", Limits::ARGUMENTS).unwrap_err();
    assert_eq!((error.reason(), error.pointer(), error.offset()), (ArgumentsFault::DuplicateKey, "/amount", 23));
    assert_eq!(error.to_string(), "invalid arguments (duplicate_key), at byte 23, JSON pointer `/amount`");
}

#[test]
fn the_words_of_texts_are_the_words_of_arguments() {
    for fault in Fault::ALL {
        assert_eq!(ArgumentsFault::from(fault).word(), fault.word());
    }
}

#[test]
fn one_value_for_every_reader() {
    #[derive(Deserialize)]
    struct Transfer<'a> {
        to: &'a str,
        amount: u64,
    }
    let arguments = parse("{\"to\":\"bob\", \"amount\": 9007199254740993}");
    let transfer: Transfer<'_> = arguments.decode().unwrap();
    assert_eq!((transfer.to, transfer.amount), ("bob", 9_007_199_254_740_993));
    assert_eq!(arguments.canonical(), "{\"amount\":9007199254740993,\"to\":\"bob\"}");
    assert_eq!(arguments.root().get("amount").unwrap().raw(), "9007199254740993");
    assert_eq!(serde_json::to_string(&arguments).unwrap(), arguments.text());
}

#[test]
fn they_are_shown_as_they_were_written() {
    assert_eq!(format!("{:?}", parse("{ \"a\": 1.0 }")), "{ \"a\": 1.0 }");
}

#[test]
fn the_digest_goes_by_value() {
    let digest = parse("{\"a\":1,\"b\":\"x\"}").digest();
    assert_eq!(digest, parse(" {\"b\":\"\\u0078\",\"a\":1.0e0} ").digest());
    assert_ne!(digest, parse("{\"a\":1.0000000000000000001,\"b\":\"x\"}").digest());
    assert_ne!(digest, parse("{\"a\":\"1\",\"b\":\"x\"}").digest());
    assert_ne!(parse("{\"id\":9007199254740993}").digest(), parse("{\"id\":9007199254740992}").digest());
}

#[test]
fn only_an_object_becomes_arguments() {
    let array = Document::empty_array();
    assert_eq!(Arguments::from_document(array).unwrap_err().reason(), ArgumentsFault::NotAnObject);
    assert_eq!(Arguments::from_document(Document::empty_object()).unwrap().text(), "{}");
}
