use super::*;

#[test]
fn a_plain_token_needs_few_needles() {
    // Raw, hexadecimal in two cases, base64 in three phases.
    assert_eq!(needles("klmnopqr").len(), 6);
}

#[test]
fn hexadecimal_stands_in_both_cases() {
    let texts: Vec<String> = needles("p\"a\\é").into_iter().map(|needle| needle.text).collect();
    for expected in ["p\"a\\é", "7022615cc3a9", "7022615CC3A9"] {
        assert!(texts.iter().any(|text| text == expected), "{expected} is missing");
    }
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
