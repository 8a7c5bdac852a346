#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::ids::CallId;
use crate::time::Timestamp;
use crate::tool::IdempotencyKey;

fn arguments(text: &str) -> Arguments {
    Arguments::parse(text, Limits::ARGUMENTS).unwrap()
}

fn context() -> ToolContext {
    let key = IdempotencyKey::new(Arc::default(), CallId::new("call"));
    ToolContext::new(CancellationToken::new(), Timestamp::from_millis(1), key)
}

#[expect(clippy::disallowed_methods, reason = "the one place that is tested here")]
async fn answer(handler: &Handler, text: &str) -> Result<Output, Failure> {
    handler.prepare(&arguments(text)).unwrap().run(context()).await
}

fn text(output: &Output) -> &str {
    match &output.content {
        OutputContent::Value(value) => value.text(),
        other => panic!("{other:?}"),
    }
}

fn fault(output: &Output) -> Option<crate::document::Fault> {
    match &output.content {
        OutputContent::Invalid(error) => error.fault(),
        other => panic!("{other:?}"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amount {
    amount: i64,
}

#[tokio::test]
async fn a_typed_handler_gets_its_arguments_and_answers_with_data() {
    let handler =
        Handler::typed(|Amount { amount }| async move { Ok::<_, Failure>(BTreeMap::from([("double", amount * 2)])) });
    assert_eq!(text(&answer(&handler, r#"{"amount":21}"#).await.unwrap()), r#"{"double":42}"#); // R-053, R-055
    assert!(!handler.may_block() && handler.blocking().may_block());
}

#[tokio::test]
async fn arguments_that_do_not_decode_never_enter_the_function() {
    let entered = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&entered);
    let handler = Handler::typed(move |_: Amount| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, Failure>(()) }
    });
    for bad in [
        "{}",
        r#"{"amount":"1"}"#,
        r#"{"amount":1.5}"#,
        r#"{"amount":123456789012345678901234567890}"#,
        r#"{"amount":1,"more":2}"#, // R-014
    ] {
        assert!(handler.prepare(&arguments(bad)).is_err(), "{bad}");
    }
    // Preparing is not entering.
    let prepared = handler.prepare(&arguments(r#"{"amount":1}"#)).unwrap();
    assert_eq!(entered.load(Ordering::Relaxed), 0);
    drop(prepared);
    answer(&handler, r#"{"amount":1}"#).await.unwrap();
    assert_eq!(entered.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_untyped_handler_reads_the_very_text() {
    let handler = Handler::untyped(|arguments: Arguments, context: ToolContext| async move {
        Ok(Output::raw(format!("[{},\"{}\"]", arguments.text(), context.idempotency_key)))
    });
    let output = answer(&handler, r#"{"n":  123456789012345678901234567890}"#).await.unwrap();
    let OutputContent::Raw(text) = &output.content else { panic!("{output:?}") };
    let key = context().idempotency_key;
    assert_eq!(*text, format!(r#"[{{"n":  123456789012345678901234567890}},"{key}"]"#));
}

#[tokio::test]
async fn what_cannot_be_json_is_said_to_be_invalid() {
    let handler = Handler::typed(|_: serde::de::IgnoredAny| async { Ok::<_, Failure>(f64::NAN) });
    assert_eq!(fault(&answer(&handler, "{}").await.unwrap()).unwrap().word(), "non_finite_number"); // R-073
}

#[test]
fn outputs_of_every_kind_have_one_limit_of_depth() {
    let text = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let document = |depth| Document::parse(text(depth), Limits::OWN).unwrap();
    let deepest = Limits::OUTPUT.max_depth;
    assert!(matches!(Output::new(document(deepest)).content, OutputContent::Value(_)));
    assert!(matches!(Output::of(&document(deepest)).content, OutputContent::Value(_)));
    // One level more could not be journaled as a part of its event.
    assert_eq!(fault(&Output::new(document(deepest + 1))).unwrap().word(), "too_deep");
    assert_eq!(fault(&Output::of(&document(deepest + 1))).unwrap().word(), "too_deep");
    let nested = |depth: usize| {
        let mut value = serde_json::Value::Null;
        for _ in 0..depth {
            value = serde_json::Value::Array(vec![value]);
        }
        Output::of(&value)
    };
    assert!(matches!(nested(deepest).content, OutputContent::Value(_)));
    assert_eq!(fault(&nested(deepest + 1)).unwrap().word(), "too_deep");
}

#[test]
fn wide_outputs_are_not_deep() {
    let wide = format!("[{}{{}}]", "[],".repeat(1000));
    let output = Output::new(Document::parse(wide.clone(), Limits::OWN).unwrap());
    assert_eq!(text(&output), wide); // byte for byte
    let brackets = Document::string(&"[".repeat(1000));
    assert_eq!(text(&Output::new(brackets.clone())), brackets.text());
}

#[test]
fn bytes_become_text_and_losses_are_marked() {
    let plain = Output::text_from_bytes("a\"é".as_bytes());
    assert_eq!((text(&plain), plain.lossy, plain.truncated_chars), (r#""a\"é""#, false, 0));
    let broken = Output::text_from_bytes(b"a\xffb");
    assert_eq!((text(&broken), broken.lossy), ("\"a\u{fffd}b\"", true));
    let genuine = Output::text_from_bytes("\u{fffd}".as_bytes());
    assert!(!genuine.lossy);
}

#[test]
fn a_handler_says_what_it_left_out() {
    assert_eq!(Output::of("a").truncated_chars, 0); // R-103
    assert_eq!(Output::of("a").truncated_chars(7).truncated_chars, 7); // R-057, C-6
}
