//! Every split of a text gives the same bytes as the whole.

use std::borrow::Cow;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::{ScrubberBuilder, SecretValue};

const LINES: &str = "first line of it\n\nthird\\line \"of\" it";

fn scrubber() -> Scrubber {
    let mut builder = ScrubberBuilder::new();
    builder.secret("word", SecretValue::new("swordfish/+\"é")).unwrap();
    builder.secret("lines", SecretValue::new(LINES)).unwrap();
    builder.build().unwrap()
}

/// What is held in tests of the bound: their texts need not be long.
const BOUND: usize = 16 * 1024;

fn pushed<'c>(scrubber: &Scrubber, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<u8> {
    pushed_within(HELD, scrubber, chunks)
}

fn pushed_within<'c>(bound: usize, scrubber: &Scrubber, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<u8> {
    let mut stream = Stream { bound, ..scrubber.stream() };
    let mut out: Vec<u8> = chunks.into_iter().flat_map(|chunk| stream.push(chunk)).collect();
    out.extend(stream.finish());
    out
}

fn shown(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn token() -> String {
    "ghp_".to_owned() + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
}

fn key(label: &str, ending: &str) -> String {
    let row = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let rows = [row, row, "MzEfYyjiWA4R4/M2bS1GB4t7"].join(ending);
    format!("-----BEGIN {label}PRIVATE KEY-----{ending}{rows}{ending}-----END {label}PRIVATE KEY-----{ending}")
}

/// Texts with everything that reaches across a line, or nearly does.
fn corpus() -> Vec<String> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let whole = key("RSA ", "\n");
    let rows: Vec<&str> = whole.lines().collect();
    let escaped_lines = json(LINES);
    vec![
        String::new(),
        "\n".to_owned(),
        "no line break".to_owned(),
        format!("a\nPASSWORD=correct-horse-7\nb {}\n\nc", token()),
        format!("x {whole} y\n"),
        format!("above\n{}\r\nbelow\r\n", key("", "\r\n")),
        format!("{{\"key\":{}}}\nnext\n", json(&whole)),
        // Cut off above, with a short last row, blank rows, and words that look like a row.
        format!("words\n{}\n", rows[1..].join("\n")),
        format!("word\nother\n\n{}\nword\n", rows[2..].join("\n\n")),
        format!("a sentence of words\nabc\n-----END PRIVATE KEY-----\nx\n"),
        format!("abc\ndef\n\n-----END PRIVATE KEY-----\nx\n"),
        format!("> {}\n", rows.join("\n> ")),
        rows.iter().enumerate().fold(String::new(), |mut text, (number, row)| {
            let _ = writeln!(text, "{:4} | {row}", number + 1);
            text
        }),
        // Cut off below.
        format!("{}\n\nthe rest is prose, and goes on\nand on\n", rows[..3].join("\n")),
        format!("{}\n{whole}", rows[..2].join("\n")),
        // Labels that a line break cuts in two, and lines that only look like a key's.
        "-----BEGIN RSA\nPRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END X-----\nz\n".to_owned(),
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END RSA \nPRIVATE KEY-----\nz\n".to_owned(),
        "-----BEGIN PRIVATE KEY\n-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nz z\n".to_owned(),
        "if line == \"-----BEGIN PRIVATE KEY-----\" {\n    a b\n}\n-----END PRIVATE KEY-----\nz z\n".to_owned(),
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----\nz\n".to_owned(),
        "a | b\n------|-----\n1 | 2\n-----\nTOKEN=abcdef123456\n".to_owned(),
        // Elements.
        "<login>\n<password>\n  hunter2-hunter2\n</password>\n<user>me</user>\n</login>\n".to_owned(),
        "<apiKey>\nabc\ndef123\n</apiKey>\nVec<Token>\nlet a = 1;\n".to_owned(),
        "<password>\nno end\n".to_owned(),
        "<password\n>x</password>\n<b>\nPASSWORD=abc123def\n".to_owned(),
        // Continued lines, in quotes and in a shell.
        "password = \"one \\\ntwo \\\nthree\"\nnext = 1\n".to_owned(),
        "curl -H 'Authorization: Bearer abcdefgh12345678' \\\n  -d token=abcdefgh12345678 \\\r\n  https://u:pa55word@h/\n"
            .to_owned(),
        // Known values of several lines, also escaped, also begun and not ended.
        format!("<{LINES}>\n{LINES}\n"),
        format!("{escaped_lines}\n{}\n", json(&escaped_lines)),
        "first line of it\n\nthird\\\\line \\\"of\\\" it\nx\n".to_owned(),
        "%66irst line of it\n\nthird%5Cline %22of%22 it\nx\n".to_owned(),
        "first line of it\n\nfirst line of it\n\nfourth\n".to_owned(),
        "x first line of it\n".to_owned(),
        // In encodings, cut by characters of several bytes.
        "é😀 swordfish/+\"é swordfish%2F%2B%22%C3%A9 c3dvcmRmaXNoLysiw6k= 73776f7264666973682f2b22c3a9 😀\n".to_owned(),
        "swordfish/+\\\"\\u00e9\nswordfish/+\\\\\\\"\\\\u00e9\n".to_owned(),
        // Markers.
        "PASSWORD=[redacted:password#a1b2]\n[redacted:token#zzzz]\n[redacted:\ntoken#a1b2]\n".to_owned(),
        "\u{1b}[31mPASSWORD=abc-123-def\u{1b}[0m\rAPI_KEY: abcdef123456\r\n".to_owned(),
        format!("{}\n{}\n", "wordlist".repeat(3), ["apple", "pear", "plum", "fig"].join("\n")),
    ]
}

#[test]
fn every_split_gives_the_same_bytes_as_the_whole() {
    let scrubber = scrubber();
    for text in corpus() {
        let bytes = text.as_bytes();
        let whole = scrubber.scrub(&text);
        for at in 0..=bytes.len() {
            let out = pushed(&scrubber, [&bytes[..at], &bytes[at..]]);
            assert_eq!(shown(&out), whole, "{text:?} cut at {at}");
        }
        assert_eq!(shown(&pushed(&scrubber, bytes.chunks(1))), whole, "{text:?} byte by byte");
        let mut stream = scrubber.stream();
        stream.push(bytes);
        stream.finish();
        assert_eq!(stream.has_found(), whole != text, "{text:?}");
    }
}

/// What goes first may hold the beginning or the end of something else, which then has none.
#[test]
fn what_is_nested_is_cut_alike() {
    let scrubber = scrubber();
    let row = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    for text in [
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\npassword = \"one \\\n-----BEGIN CERTIFICATE-----\n{row}-----END X-----\n"
        ),
        format!("-----BEGIN RSA PRIVATE KEY-----\npassword = \"one \\\n-----END X-----\n{row}-----END X-----\n"),
        format!("{row}-----END RSA \n\"first line of it\\n\\nthird\\\\line \\\"of\\\" it\"\nPRIVATE KEY-----\n"),
        format!("<password>\n-----BEGIN RSA PRIVATE KEY-----\n<password\n{row}-----END X-----\n</password>\n"),
    ] {
        let lines = pushed(&scrubber, text.split_inclusive('\n').map(str::as_bytes));
        assert_eq!(shown(&lines), scrubber.scrub(&text), "{text}");
    }
}

#[test]
fn a_line_is_said_when_it_is_whole() {
    let scrubber = scrubber();
    let mut stream = scrubber.stream();
    for (pushed, said) in [
        ("a line of words\n", "a line of words\n"),
        ("half of ", ""),
        ("a line\nand", "half of a line\n"),
        (" more\n", "and more\n"),
        // A word alone may be the last row of a cut-off key.
        ("word\n", ""),
        ("other\n", "word\n"),
        ("a sentence.\n", "other\na sentence.\n"),
        ("<password>\n", ""),
        ("x y\n", ""),
        ("</password> <b>\n", "<password>[redacted:password#b69c]</password> <b>\n"),
    ] {
        let out = stream.push(pushed.as_bytes());
        let out = shown(&out).into_owned();
        if said.contains("redacted") {
            assert!(out.starts_with("<password>[redacted:password#") && out.ends_with("]</password> <b>\n"), "{out}");
        } else {
            assert_eq!(out, said, "after {pushed:?}");
        }
    }
    assert!(stream.has_found());
    assert_eq!(shown(&stream.finish()), "");
}

#[test]
fn bytes_that_are_no_text_pass_unchanged() {
    let scrubber = scrubber();
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend("\u{10ff80}\u{10ffff}\u{10ff7f}é".as_bytes());
    bytes.extend(b"\xe2\x82 \xf0\x9f\x98 \xed\xa0\x80 \xff\xfe\n");
    assert_eq!(pushed(&scrubber, bytes.chunks(1)), bytes);
    assert_eq!(pushed(&scrubber, [bytes.as_slice()]), bytes);
    let secret = [b"\xff PASSWORD=abc-123\xfe-def ".as_slice(), token().as_bytes(), b"\xff\n\xc3"].concat();
    let out = pushed(&scrubber, [secret.as_slice()]);
    assert!(out.starts_with(b"\xff PASSWORD=[redacted:password#") && out.ends_with(b"]\xff\n\xc3"), "{}", shown(&out));
    for at in 0..secret.len() {
        assert_eq!(pushed(&scrubber, [&secret[..at], &secret[at..]]), out);
    }
}

/// One line of JSON that is longer than what is held.
fn long_line(length: usize) -> String {
    let mut text = "[".to_owned();
    let mut number = 0;
    while text.len() < length {
        number += 1;
        let value = if number % 97 == 0 { token() } else { format!("value {number} of many") };
        let _ = write!(text, "{{\"id\":{number},\"note\":\"{value}\",\"password\":\"pw-{number}-x\"}},");
    }
    text + "{}]\n"
}

#[test]
fn a_line_that_is_longer_than_what_is_held_is_scrubbed_like_the_whole() {
    let scrubber = scrubber();
    let text = long_line(3 * BOUND);
    let whole = scrubber.scrub(&text);
    assert!(whole.matches("[redacted:github_token#").count() >= 7);
    for size in [1 << 20, 4096, 4097, 999, 100] {
        let out = pushed_within(BOUND, &scrubber, text.as_bytes().chunks(size));
        assert!(shown(&out) == whole, "in chunks of {size}");
    }
}

#[test]
fn a_blob_without_blanks_passes() {
    let scrubber = scrubber();
    let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".repeat(1500);
    for text in [text.clone(), text.replace("SJ", "SJ\n")] {
        for size in [1 << 20, 10_007] {
            assert!(
                shown(&pushed_within(BOUND, &scrubber, text.as_bytes().chunks(size))) == text,
                "in chunks of {size}"
            );
        }
    }
}

#[test]
fn a_secret_that_is_longer_than_what_is_held_goes_to_its_end() {
    let scrubber = scrubber();
    let long = "sk-proj-".to_owned() + &"a1B2c3D4e5F6".repeat(BOUND / 4);
    let text = format!("before {long} and {} behind\nnext\n", token());
    let mut outs: Vec<Vec<u8>> =
        [1 << 22, 4096, 777].map(|size| pushed_within(BOUND, &scrubber, text.as_bytes().chunks(size))).into();
    let out = shown(&outs[0]).into_owned();
    assert!(out.starts_with("before [redacted:openai_key#"), "{}", out.len());
    assert!(
        out.len() < 200 && out.contains("] and [redacted:github_token#") && out.ends_with("] behind\nnext\n"),
        "{out}"
    );
    outs.dedup();
    assert_eq!(outs.len(), 1);
}

#[test]
fn what_is_held_is_bounded() {
    let scrubber = scrubber();
    let mut stream = Stream { bound: BOUND, ..scrubber.stream() };
    for chunk in
        ["x", "abcd\\\n", "<password>\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", "-----BEGIN PRIVATE KEY-----\n", "a\n"]
    {
        for _ in 0..50_000 / chunk.len() {
            stream.push(chunk.as_bytes());
            assert!(stream.text.len() <= 2 * BOUND + PIECE, "{} bytes of {chunk:?}", stream.text.len());
        }
    }
}

/// Pieces out of which texts are made that reach across lines.
fn text() -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> =
        corpus().iter().flat_map(|text| text.split_inclusive('\n')).map(str::to_owned).collect();
    pieces.extend(
        ["\n", "\n\n", "\\\n", "<", ">", "\"", "PASSWORD=", "-----", "PRIVATE KEY", " ", "é"].map(str::to_owned),
    );
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn random_splits_of_random_texts_give_the_same_bytes_as_the_whole(
        text in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let scrubber = scrubber();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let out = pushed(&scrubber, cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]));
        prop_assert_eq!(shown(&out), scrubber.scrub(&text));
    }
}
