//! One secret, planted in every place that a tool's result has.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor;
use lockgate_redact::{ScrubberBuilder, SecretValue};
use serde_json::json;

const CANARY: &str = "canary/Yellow+\"Bird\"?77";

/// The canary and every form of it that must not leave.
fn forms() -> Vec<String> {
    let hexadecimal = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    vec![
        CANARY.to_owned(),
        serde_json::to_string(CANARY).unwrap().trim_matches('"').to_owned(),
        "canary%2FYellow%2B%22Bird%22%3F77".to_owned(),
        "canary%2fYellow%2b%22Bird%22%3f77".to_owned(),
        hexadecimal.to_uppercase(),
        hexadecimal,
        STANDARD.encode(CANARY),
        URL_SAFE_NO_PAD.encode(CANARY),
    ]
}

fn redactor() -> Box<dyn Redactor> {
    let mut builder = ScrubberBuilder::new();
    builder.secret("canary", SecretValue::new(CANARY)).unwrap();
    Box::new(builder.build().unwrap())
}

fn assert_gone(text: &str) {
    for form in forms() {
        assert!(!text.contains(&form), "{form} is still in {text}");
    }
}

#[test]
fn no_form_survives_in_text() {
    let redactor = redactor();
    for form in forms() {
        for text in [
            form.clone(),
            format!("error: could not log in with {form}; giving up"),
            format!("x{form}x"),
            format!("GET https://api.example.com/v1?key={form}&page=2"),
            format!("postgres://app:{form}@db.example.com/main"),
            format!("Authorization: Bearer {form}"),
            format!("$ env\nHOME=/root\nSERVICE={form}\n"),
            format!("{{\"deep\":\"{form}\"}}"),
        ] {
            let scrubbed = redactor.scrub(&text);
            assert_gone(&scrubbed);
            assert!(scrubbed.contains("[redacted:canary#"), "{scrubbed}");
        }
    }
}

#[test]
fn no_form_survives_in_a_document() {
    let redactor = redactor();
    for form in forms() {
        let document = Document::from_json_value(&json!({
            "text": format!("before {form} after"),
            "nested": {"list": [1, [form, {"deep": format!("https://u:{form}@host/")}]]},
            (format!("key {form}")): true,
            "inner_json": serde_json::to_string(&json!({"a": form, "b": {"c": form}})).unwrap(),
            "twice": serde_json::to_string(&serde_json::to_string(&form).unwrap()).unwrap(),
            "packed": STANDARD.encode(format!("{{\"user\":\"me\",\"value\":\"{CANARY}\"}}")),
            "count": 3,
        }));
        let scrubbed = redactor.scrub_document(&document).unwrap();
        assert_gone(scrubbed.text());
        for value in strings(&scrubbed.to_json_value()) {
            assert_gone(&value);
            assert_gone(&String::from_utf8_lossy(&STANDARD.decode(&value).unwrap_or_default()));
        }
        assert_eq!(scrubbed.root().get("count").unwrap().raw(), "3");
        assert_eq!(scrubbed.root().len(), 7);
    }
}

#[test]
fn the_reported_exception_text_loses_its_key() {
    // mcp-for-splunk#204: the text of an exception reached the model.
    let text = format!("RuntimeError('{}{} at /srv/app/internal.py')", "sk-live-", "EXAMPLE");
    let scrubbed = redactor().scrub(&text).into_owned();
    assert!(scrubbed.starts_with("RuntimeError('[redacted:stripe_key#"), "{scrubbed}");
    assert!(scrubbed.ends_with("] at /srv/app/internal.py')"), "{scrubbed}");
}

/// Every key and string of a value.
fn strings(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(elements) => elements.iter().flat_map(strings).collect(),
        serde_json::Value::Object(members) => {
            members.iter().flat_map(|(key, value)| std::iter::once(key.clone()).chain(strings(value))).collect()
        }
        _ => Vec::new(),
    }
}
