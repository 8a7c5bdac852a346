use super::{decoded, encoded};

#[test]
fn values_are_sent_as_they_are_or_as_base64() {
    for (value, sent) in [
        ("us-west1", "us-west1"),
        ("", ""),
        ("a b", "a b"),
        (" a", "=?base64?IGE=?="),
        ("a ", "=?base64?YSA=?="),
        ("Zürich", "=?base64?WsO8cmljaA==?="),
        ("a\tb", "=?base64?YQli?="),
        ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ] {
        assert_eq!(encoded(value), sent, "{value:?}");
        let header = http::HeaderValue::try_from(sent).unwrap();
        assert_eq!(decoded(&header).as_deref(), Some(value));
    }
}
