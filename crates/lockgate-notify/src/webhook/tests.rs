use std::time::Duration;

use super::{Webhook, signature};
use crate::error::TargetError;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_signature_is_over_time_and_body() {
    // RFC 4231, test case 2, whose text begins like a message without a time would.
    let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let (time, body) = ("what do ya want for nothing?", "");
    assert_ne!(signature(b"Jefe", 0, &format!("{time}{body}")), format!("v1={known}"));
    let one = signature(b"secret", 1_800_000_000, "{}");
    assert_eq!(one.len(), "v1=".len() + 64);
    assert_eq!(one, signature(b"secret", 1_800_000_000, "{}"));
    for other in [
        signature(b"secret", 1_800_000_001, "{}"),
        signature(b"secret", 1_800_000_000, "{} "),
        signature(b"Secret", 1_800_000_000, "{}"),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn it_goes_to_this_machine_or_over_tls() {
    for url in ["http://127.0.0.1:9/hook", "http://localhost/", "http://[::1]:1/", "https://hooks.example/x"] {
        assert!(Webhook::new(url, "secret", SECOND).is_ok(), "{url}");
    }
    for url in ["http://hooks.example/", "http://127.0.0.1.example/", "ftp://127.0.0.1/", "127.0.0.1:80", "", "http://"]
    {
        assert!(matches!(Webhook::new(url, "secret", SECOND), Err(TargetError::Url(_))), "{url}");
    }
    let shown = Webhook::new("http://me:hunter22@hooks.example/", "secret", SECOND).unwrap_err().to_string();
    assert!(!shown.contains("hunter22"), "{shown}");
}

#[test]
fn its_secret_and_its_path_are_not_shown() {
    let webhook = Webhook::new("https://hooks.example/token-1", "hunter22", SECOND).unwrap();
    let shown = format!("{webhook:?}");
    assert!(!shown.contains("hunter22") && !shown.contains("token-1"), "{shown}");
}
