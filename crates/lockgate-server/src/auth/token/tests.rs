use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::time::Timestamp;
use proptest::prelude::*;

use super::Jwt;
use crate::auth::keys::KeySet;

fn part(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

#[test]
fn what_is_no_token_says_so() {
    let good = part(r#"{"alg":"ES256"}"#);
    let claims = part(r#"{"iss":"a"}"#);
    assert!(Jwt::read(&format!("{good}.{claims}.AA")).is_ok());
    for wrong in [
        String::new(),
        "..".to_owned(),
        format!("{good}.{claims}"),
        format!("{good}.{claims}.AA.AA"),
        format!("{good}.{claims}.A A"),
        format!("{good}.{claims}.AA=="),
        format!("{}.{claims}.AA", part("[]")),
        format!("{good}.{}.AA", part("7")),
        format!("{good}.{}.AA", part(r#"{"iss":["a"]}"#)),
        format!("{good}.{}.AA", part(r#"{"iss":"a","iss":"b"}"#)),
        format!("{good}.{}.AA", part(&format!("{{\"iss\":\"a\",\"x\":{}{}}}", "[".repeat(20), "]".repeat(20)))),
        format!("{good}.{}.AA", part(&format!("{{\"iss\":\"{}\"}}", "a".repeat(17_000)))),
    ] {
        assert!(Jwt::read(&wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_sent_breaks_it(text in any::<String>(), header in any::<String>(), claims in any::<String>()) {
        let _ = Jwt::read(&text);
        let _ = Jwt::read(&format!("{}.{}.AA", part(&header), part(&claims)));
        let _ = KeySet::parse(&text);
        let _ = crate::form::decoded(&text);
        let _ = crate::form::Form::parse(text.as_bytes());
        let key = crate::tokens::RunKey::parse(&"0".repeat(64)).unwrap();
        prop_assert!(key.open(&text, Timestamp::from_millis(0)).is_err());
    }
}
