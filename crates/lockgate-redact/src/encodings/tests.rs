use super::*;

fn texts(value: &str) -> Vec<String> {
    needles(value).into_iter().map(|needle| needle.text).collect()
}

#[test]
fn a_plain_token_needs_few_needles() {
    // Raw, hexadecimal in two cases, base64 in three phases.
    assert_eq!(needles("klmnopqr").len(), 6);
}

#[test]
fn quoted_forms_are_those_of_the_usual_encoders() {
    let texts = texts("p\"a\\s/s\n<é&😀");
    for expected in [
        "p\"a\\s/s\n<é&😀",
        r#"p\"a\\s/s\n<é&😀"#,
        r#"p\"a\\s\/s\n<é&😀"#,
        r#"p\"a\\s/s\n\u003cé\u0026😀"#,
        r#"p\"a\\s/s\n<\u00e9&\ud83d\ude00"#,
        r#"p\\\"a\\\\s/s\\n<é&😀"#,
        "p%22a%5Cs%2Fs%0A%3C%C3%A9%26%F0%9F%98%80",
        "p%22a%5cs%2fs%0a%3c%c3%a9%26%f0%9f%98%80",
        "p%22a%5Cs/s%0A%3C%C3%A9%26%F0%9F%98%80",
        "p&quot;a\\s/s\n&lt;é&amp;😀",
        "7022615c732f730a3cc3a926f09f9880",
        "7022615C732F730A3CC3A926F09F9880",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} is missing");
    }
}

#[test]
fn blanks_in_forms_become_plus() {
    assert!(texts("two words").contains(&"two+words".to_owned()));
    assert!(texts("two words").contains(&"two%20words".to_owned()));
}

#[test]
fn base64_is_found_at_every_phase_whatever_surrounds_it() {
    let value = "?>>secret/value<<?";
    let needles = needles(value);
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for before in ["", "a", "ab", "abc", "abcd"] {
            for after in ["", "x", "xy", "xyz"] {
                let encoded = engine.encode(format!("{before}{value}{after}"));
                assert!(needles.iter().any(|needle| encoded.contains(&needle.text)), "{before}…{after}: {encoded}");
            }
        }
    }
}
