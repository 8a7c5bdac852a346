use lockgate_contract::document::{Document, Limits};
use lockgate_contract::event::EventType;
use lockgate_contract::time::Timestamp;

use super::*;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn event(run: &str, seq: u64, signer: Option<&SigningKey>) -> Event {
    let data = Document::parse(r#"{"decision":"denied","decided_by":"bob"}"#, Limits::OWN).unwrap();
    let mut new =
        NewEvent { kind: EventType::ApprovalDecided, step: 0, call_id: Some(CallId::new("c")), data: data.into() };
    if let Some(signer) = signer {
        new.data = new.data.signed_by(Arc::new(signer.clone()));
    }
    new.numbered(RunId::new(run), seq, Timestamp::from_millis(5))
}

/// The event with another text.
fn altered(event: &Event, from: &str, to: &str) -> Event {
    let text = event.data.text().replace(from, to);
    assert_ne!(text, event.data.text());
    Event { data: Document::parse(text, Limits::OWN).unwrap().into(), ..event.clone() }
}

#[test]
fn what_was_signed_is_sound_and_nothing_else_is() {
    let public = key(1).public();
    let good = event("run-a", 4, Some(&key(1)));
    assert_eq!(public.verify(&good), Ok(()));
    assert_eq!(public.verify(&event("run-a", 4, None)), Err(Unsound::Unsigned));
    let other = key(2).public().to_string();
    assert_eq!(public.verify(&event("run-a", 4, Some(&key(2)))), Err(Unsound::OtherKey(other.clone())));
    // Somebody who says that another one signed.
    let posing = altered(&event("run-a", 4, Some(&key(2))), &other, &public.to_string());
    assert_eq!(public.verify(&posing), Err(Unsound::Forged));
    assert_eq!(public.verify(&altered(&good, "denied", "granted")), Err(Unsound::Forged));
    assert_eq!(public.verify(&altered(&good, "bob", "eve")), Err(Unsound::Forged));
    // The same decision in another run, and in another place.
    for (run, seq) in [("run-b", 4), ("run-a", 5)] {
        let moved = Event { run_id: RunId::new(run), seq, ..good.clone() };
        assert_eq!(public.verify(&moved), Err(Unsound::Forged), "{run} {seq}");
    }
    let value = good.signature().unwrap().signature.value;
    assert_eq!(public.verify(&altered(&good, &value, &"0".repeat(128))), Err(Unsound::Forged));
}

#[test]
fn what_is_no_signature_is_told_apart_from_one_of_another_key() {
    let public = key(1).public();
    let good = event("run-a", 4, Some(&key(1)));
    let value = good.signature().unwrap().signature.value;
    for broken in [value[..126].to_owned(), value.to_uppercase(), String::new()] {
        assert_eq!(public.verify(&altered(&good, &value, &broken)), Err(Unsound::Malformed), "{broken}");
    }
    // Its version is no number, and its key is none.
    assert_eq!(public.verify(&altered(&good, "\"v\":1", "\"v\":\"1\"")), Err(Unsound::Malformed));
    assert_eq!(public.verify(&altered(&good, &public.to_string(), "")), Err(Unsound::Malformed));
}

#[test]
fn keys_are_read_as_they_are_written_and_secrets_are_not_shown() {
    let secret = key(7);
    assert_eq!(SigningKey::parse(&format!(" {}\n", secret.to_text())).unwrap().public(), secret.public());
    assert_eq!(PublicKey::parse(&format!("{}\n", secret.public())), Ok(secret.public()));
    assert!(!format!("{secret:?}").contains(&digits(&[7; 32])));
    for text in ["", "ed25519:", "ed25519:00", &secret.to_text(), &format!("ed25519:{}", "0".repeat(64))] {
        let error = PublicKey::parse(text).unwrap_err();
        assert_eq!(error.to_string(), "a public key is `ed25519:` and 64 hexadecimal digits");
    }
    let error = SigningKey::parse(&secret.public().to_string()).unwrap_err();
    assert_eq!(error.to_string(), "a secret key is `ed25519-secret:` and 64 hexadecimal digits");
}

/// RFC 8032, section 7.1, test 1.
#[test]
fn a_signature_is_the_one_of_the_standard() {
    let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let key = SigningKey::parse(&format!("{SECRET}{secret}")).unwrap();
    assert_eq!(key.public().to_string(), "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    assert!(key.sign(b"").starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"));
}
