use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::tool::{Failure, Output, OutputContent};

use super::*;

fn entry(toml: &str) -> Entry {
    toml::from_str(toml).unwrap()
}

async fn act(toml: &str) -> Result<Output, Failure> {
    let arguments =
        Arguments::parse(r#"{"n": 1.50, "id": 123456789012345678901234567890}"#, Limits::ARGUMENTS).unwrap();
    entry(toml).into_step().unwrap().act(&arguments).await
}

async fn value(toml: &str) -> String {
    match act(toml).await.unwrap().content {
        OutputContent::Value(value) => value.text().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn refusal(toml: &str) -> String {
    entry(toml).into_step().unwrap_err().to_string()
}

#[tokio::test]
async fn returns_a_value_as_it_is_written() {
    let shown =
        value(r#"returns = { id = "T-1", big = 9007199254740993, cost = 0.1, list = [true, 1], at = 2026-11-29 }"#);
    assert_eq!(shown.await, r#"{"id":"T-1","big":9007199254740993,"cost":0.1,"list":[true,1],"at":"2026-11-29"}"#);
    assert_eq!(value("returns = \"text\"").await, r#""text""#);
}

#[test]
fn returns_null_is_a_value_and_not_absent() {
    let entry: Entry = Document::parse(r#"{"returns": null}"#, Limits::OWN).unwrap().decode().unwrap();
    assert!(matches!(entry.into_step().unwrap().ending, Ending::Returns(value) if value.root().is_null()));
}

#[tokio::test]
async fn fails_with_its_own_code() {
    let failure = act(r#"fails = { code = "quota_exceeded", message = "try tomorrow", retryable = true }"#).await;
    let Err(Failure::Business { code, message, retryable, effect_state, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!((code.word(), message.as_str(), retryable), ("quota_exceeded", "try tomorrow", true));
    assert_eq!(effect_state, EffectState::None);

    let failure = act(r#"fails = { code = "half_done", message = "", effect_state = "unknown" }"#).await;
    let Err(Failure::Business { retryable, effect_state, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!((retryable, effect_state), (false, EffectState::Unknown));
}

#[tokio::test]
async fn an_environment_error_leaves_the_effect_open_unless_it_says_so() {
    for (toml, expected) in [
        (r#"environment_error = "down""#, false),
        ("environment_error = \"down\"\neffect_state = \"unknown\"", false),
        ("environment_error = \"down\"\neffect_state = \"none\"", true),
    ] {
        let failure = act(toml).await;
        let Err(Failure::Environment { message, nothing_happened }) = failure else { panic!("{failure:?}") };
        assert_eq!((message.as_str(), nothing_happened), ("down", expected), "{toml}");
    }
}

#[tokio::test]
#[should_panic(expected = "bug in line 7")]
async fn panics() {
    let _ = act(r#"panics = "bug in line 7""#).await;
}

#[tokio::test]
async fn errors_are_bugs() {
    let failure = act(r#"errors = "internal: /srv/app/x.py line 3""#).await;
    let Err(Failure::Bug { text }) = failure else { panic!("{failure:?}") };
    assert_eq!(text, "internal: /srv/app/x.py line 3");
}

#[tokio::test]
async fn echoes_its_arguments_digit_for_digit() {
    assert_eq!(value("echoes = true").await, r#"{"n": 1.50, "id": 123456789012345678901234567890}"#);
}

#[tokio::test]
async fn returns_text_as_often_as_asked() {
    assert_eq!(value("returns_text = \"ä\\n\"").await, r#""ä\n""#);
    assert_eq!(value("returns_text = \"ab\"\nrepeat = 3").await, r#""ababab""#);
    assert_eq!(value("returns_text = \"ab\"\nrepeat = 0").await, r#""""#);
    assert_eq!(value("returns_text = \"x\"\nrepeat = 100000").await.len(), 100_002);
}

#[tokio::test]
async fn returns_raw_text_unread() {
    let output = act(r#"returns_raw = "{\"mean\": NaN}""#).await.unwrap();
    assert!(matches!(&output.content, OutputContent::Raw(text) if text == r#"{"mean": NaN}"#), "{output:?}");
}

#[tokio::test]
async fn returns_bytes_and_says_when_they_were_no_text() {
    let output = act(r#"returns_hex = "c3a4""#).await.unwrap();
    assert!(matches!(&output.content, OutputContent::Value(text) if text.text() == r#""ä""#), "{output:?}");
    assert!(!output.lossy);
    let output = act(r#"returns_hex = "61FF""#).await.unwrap();
    assert!(matches!(&output.content, OutputContent::Value(text) if text.text() == "\"a\u{fffd}\""), "{output:?}");
    assert!(output.lossy);
}

#[tokio::test(start_paused = true)]
async fn sleeps_before_any_outcome() {
    let start = tokio::time::Instant::now();
    assert_eq!(value(r#"sleeps = "5s""#).await, "{}");
    assert_eq!(start.elapsed().as_secs(), 5);
    let failure = act("sleeps = \"2m\"\nfails = { code = \"late\", message = \"\" }").await;
    assert!(matches!(failure, Err(Failure::Business { .. })), "{failure:?}");
    assert_eq!(start.elapsed().as_secs(), 125);
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_that_is_dropped_wakes_up_no_more() {
    let sleeper = act(r#"sleeps = "1h""#);
    assert!(tokio::time::timeout(std::time::Duration::from_secs(1), sleeper).await.is_err());
}

#[test]
fn refuses_what_cannot_be_meant() {
    for (toml, expected) in [
        ("", "says nothing"),
        ("echoes = false", "says nothing"),
        ("returns = {}\npanics = \"x\"", "has two outcomes, `returns` and `panics`"),
        ("echoes = true\nreturns_raw = \"1\"", "has two outcomes, `echoes` and `returns_raw`"),
        ("sleeps = \"1s\"\nreturns_text = \"a\"\nerrors = \"b\"", "has two outcomes, `errors` and `returns_text`"),
        ("returns = {}\nrepeat = 2", "has `repeat` without `returns_text`"),
        ("returns = {}\neffect_state = \"none\"", "has `effect_state` without `environment_error`"),
        (
            "environment_error = \"x\"\neffect_state = \"done\"",
            "is an environment failure with `effect_state = \"done\"`, which no handler can claim",
        ),
        ("returns_hex = \"6\"", "has a `returns_hex` that is not pairs of hex digits: 1 digits are an odd number"),
        ("returns_hex = \"6g\"", "has a `returns_hex` that is not pairs of hex digits: `g` is none"),
        ("returns_hex = \"é\"", "has a `returns_hex` that is not pairs of hex digits: `é` is none"),
        (
            "fails = { code = \"Not A Code\", message = \"\" }",
            "has an unusable code: `Not A Code` is not a code: use lower-case letters, digits and `_`, a letter first, at most 64",
        ),
        (
            "fails = { code = \"timed_out\", message = \"\" }",
            "has an unusable code: `timed_out` is one of Lockgate's own codes: choose another word",
        ),
        ("returns_text = \"abc\"\nrepeat = 89478486", "returns a text of more than 268435456 bytes"),
        ("returns_text = \"abc\"\nrepeat = 9223372036854775807", "returns a text of more than 268435456 bytes"),
    ] {
        assert_eq!(refusal(toml), expected, "{toml}");
    }
}

#[test]
fn every_refusal_of_an_entry_that_needs_advice_has_some() {
    for toml in ["", "returns = {}\npanics = \"x\"", "environment_error = \"x\"\neffect_state = \"done\""] {
        let problem = crate::error::Problem::Behaviour { number: 1, problem: entry(toml).into_step().unwrap_err() };
        assert!(problem.hint().is_some(), "{toml}");
    }
}

#[test]
fn the_advice_about_outcomes_names_every_key() {
    let advice = crate::error::Problem::Behaviour { number: 1, problem: EntryProblem::NoOutcome }.hint().unwrap();
    let schema = schemars::schema_for!(Entry);
    let keys = schema.pointer("/properties").and_then(serde_json::Value::as_object).unwrap();
    for key in keys.keys().filter(|key| !["effect_state", "repeat"].contains(&key.as_str())) {
        assert!(advice.contains(&format!("`{key}`")), "{key}");
    }
}
