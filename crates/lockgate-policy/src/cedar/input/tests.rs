use super::*;

fn decimal_of(text: &str) -> Option<String> {
    decimal(Number::parse(text).unwrap())
}

#[test]
fn a_decimal_is_exact_or_not_there() {
    for (text, expected) in [
        ("0", "0.0"),
        ("-0", "0.0"),
        ("12.50", "12.5"),
        ("1e3", "1000.0"),
        ("-0.0001", "-0.0001"),
        ("922337203685477.5807", "922337203685477.5807"),
        ("-922337203685477.5808", "-922337203685477.5808"),
    ] {
        assert_eq!(decimal_of(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["0.00001", "922337203685477.5808", "-922337203685477.5809", "1e50", "1e-60", "9999999999999999"] {
        assert_eq!(decimal_of(text), None, "{text}");
    }
}
