use super::earliest_start;
use crate::ScrubberBuilder;
use lockgate_contract::ports::Redactor as _;

const BODY: [&str; 3] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
    "NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s",
];

fn scrub(text: &str) -> String {
    ScrubberBuilder::new().build().unwrap().scrub(text).into_owned()
}

fn assert_gone(text: &str) -> String {
    let scrubbed = scrub(text);
    assert!(scrubbed.contains("[redacted:private_key#"), "{scrubbed}");
    for line in BODY {
        assert!(!scrubbed.contains(line), "{scrubbed}");
    }
    scrubbed
}

fn first(kind: &str) -> String {
    format!("-----BEGIN {kind}PRIVATE KEY-----")
}

fn last(kind: &str) -> String {
    format!("-----END {kind}PRIVATE KEY-----")
}

#[test]
fn whole_keys_of_every_kind() {
    for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "] {
        let scrubbed = assert_gone(&format!("before\n{}\n{}\n{}\nafter\n", first(kind), BODY.join("\n"), last(kind)));
        assert!(scrubbed.starts_with("before\n[redacted:private_key#"), "{scrubbed}");
        assert!(scrubbed.ends_with("]\nafter\n"), "{scrubbed}");
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        BODY.join("\n")
    );
    assert_eq!(assert_gone(&pgp).len(), "[redacted:private_key#0000]".len());
}

#[test]
fn keys_with_headers_quotes_and_line_numbers() {
    assert_gone(&format!(
        "{}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n{}\n",
        first("RSA "),
        BODY.join("\n")
    ));
    let numbered: Vec<String> = std::iter::once(first("").as_str())
        .chain(BODY)
        .enumerate()
        .map(|(index, line)| format!("{:>6}\t{line}\n", index + 1))
        .collect();
    assert_gone(&numbered.concat());
    assert_gone(&format!("> {}\n> {}\n", first(""), BODY.join("\n> ")));
}

#[test]
fn keys_in_one_escaped_line_keep_the_json_around_them() {
    let text = format!(r#"{{"k":"{}\n{}\n{}\n","n":1}}"#, first(""), BODY.join("\\n"), last(""));
    let scrubbed = assert_gone(&text);
    let value: serde_json::Value = serde_json::from_str(&scrubbed).unwrap();
    assert_eq!(value["n"], 1);
    let cut = format!(r#"{{"k":"{}\n{}","n":1}}"#, first(""), BODY.join("\\n"));
    let value: serde_json::Value = serde_json::from_str(&assert_gone(&cut)).unwrap();
    assert_eq!(value["n"], 1);
}

#[test]
fn keys_that_were_cut_off() {
    let head = format!("$ head -3 key.pem\n{}\n{}\n{}", first(""), BODY[0], &BODY[1][..20]);
    let scrubbed = scrub(&head);
    assert!(scrubbed.ends_with(']') && !scrubbed.contains(BODY[0]) && !scrubbed.contains(&BODY[1][..20]), "{scrubbed}");

    let noted = format!("{}\n{}\n{}\n(truncated)\nmore", first(""), BODY[0], BODY[1]);
    assert!(assert_gone(&noted).ends_with("]\n(truncated)\nmore"));

    let tail = format!("output:\n{}\n{}\n{}\nbye", BODY[1], BODY[2], last(""));
    let scrubbed = assert_gone(&tail);
    assert!(scrubbed.starts_with("output:\n[redacted:") && scrubbed.ends_with("]\nbye"), "{scrubbed}");
}

#[test]
fn public_material_and_mere_words_stay() {
    for text in [
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", BODY.join("\n")),
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", BODY.join("\n")),
        format!("grep -r '{}' .", first("RSA ")),
        "a PRIVATE KEY is private".to_owned(),
        format!("if text.startswith(\"{}\") and text.endswith(\"{}\"):", first(""), last("")),
        format!("if line.startswith(\"{}\"):\n    found = True", first("")),
    ] {
        assert_eq!(scrub(&text), text);
    }
}

/// Found while fuzzing: from each last line, 64 KiB were searched for the first one.
#[test]
fn a_text_of_last_lines_is_looked_at_once() {
    let line = last("");
    for body in ["", "\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"] {
        let text = format!("{line}{body}").repeat(4000);
        let looked_at: usize = text.match_indices(&line).map(|(at, _)| at - earliest_start(&text, at)).sum();
        assert!(looked_at <= text.len(), "{looked_at} of {}", text.len());
    }
    let bare = line.repeat(4000);
    assert_eq!(scrub(&bare), bare);
}
