use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor as _;

use super::{LearnedSecrets, MOST_PAST};
use crate::{RedactError, Scrubber, ScrubberBuilder, SecretValue};

fn scrubber(learned: &LearnedSecrets) -> Scrubber {
    let mut builder = ScrubberBuilder::new();
    builder.learned(learned);
    builder.build().unwrap()
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(text)
}

#[test]
fn what_is_learned_is_found_by_every_scrubber_from_then_on() {
    //
    let learned = LearnedSecrets::default();
    let before = scrubber(&learned);
    let text = "it said tok-en-of-anna and dG9rLWVuLW9mLWFubmE= and tok%2Den%2Dof%2Danna";
    assert_eq!(before.scrub(text), text);
    let _held = learned.learn(&value("tok-en-of-anna")).unwrap();
    let after = scrubber(&learned);
    for scrubber in [&before, &after] {
        let scrubbed = scrubber.scrub(text).into_owned();
        assert_eq!(scrubbed.matches("[redacted:credential#").count(), 3, "{scrubbed}");
        assert_eq!(scrubber.scrub(&scrubbed), scrubbed, "scrubbing twice changes nothing");
    }
    let document = Document::from_json_value(&serde_json::json!({ "tok-en-of-anna": ["a tok-en-of-anna", 1] }));
    let scrubbed = before.scrub_document(&document).unwrap();
    assert!(!scrubbed.text().contains("tok-en-of-anna"), "{}", scrubbed.text());
    let mut stream = before.stream();
    let mut out = stream.push(b"line tok-en-of-");
    out.extend(stream.push(b"anna\n"));
    out.extend(stream.finish());
    assert!(!String::from_utf8(out).unwrap().contains("tok-en-of-anna"));
}

#[test]
fn what_cannot_be_kept_out_of_texts_is_refused() {
    let learned = LearnedSecrets::default();
    assert!(matches!(learned.learn(&value("  short ")), Err(RedactError::SecretTooShort { length: 5, .. })));
    assert!(matches!(learned.learn(&value("credential")), Err(RedactError::ValueInMarker { .. })));
    assert!(learned.current().is_none());
}

#[test]
fn what_is_held_stays_and_the_past_is_bounded() {
    let learned = LearnedSecrets::default();
    let scrubber = scrubber(&learned);
    let _held = learned.learn(&value("held-from-the-beginning")).unwrap();
    for number in 0..MOST_PAST + 10 {
        drop(learned.learn(&value(&format!("past-token-{number:04}"))).unwrap());
    }
    assert!(scrubber.scrub("held-from-the-beginning").starts_with("[redacted:"));
    assert!(scrubber.scrub(&format!("past-token-{:04}", MOST_PAST + 9)).starts_with("[redacted:"));
    assert_eq!(scrubber.scrub("past-token-0000"), "past-token-0000");
    assert!(learned.state().values.len() <= MOST_PAST + 2);
    // One that is learned again is no second one.
    let count = learned.state().values.len();
    drop(learned.learn(&value("held-from-the-beginning")).unwrap());
    assert_eq!(learned.state().values.len(), count);
    // Large ones count by their size.
    for number in 0..8 {
        drop(learned.learn(&value(&format!("{number}{}", "x".repeat(64 << 10)))).unwrap());
    }
    assert!(learned.state().values.len() <= 5, "{learned:?}");
}
