//! What comes out of a handler: its form, its size, its artifact (R-073, R-183, S-06, Z-05, Z-10, Z-11).

use std::sync::{Arc, Mutex};

use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::ids::{ArtifactId, RunId};
use lockgate_contract::ports::{ArtifactError, Lease};
use lockgate_contract::tool::{Failure, Handler, Output, ToolContext};
use lockgate_executor::RunLog;

use crate::bench::{Bench, CANARY, Setup, answering, code, settlement, tool, with_handler};

async fn giving(max_bytes: usize, output: impl Fn() -> Output + Clone + Send + Sync + 'static) -> Bench {
    Setup::new(|counters| {
        vec![with_handler(tool(counters, Effect::Read), counters, move |_, _| std::future::ready(Ok(output())))]
    })
    .max_output_bytes(max_bytes)
    .scrubbing()
    .build()
    .await
}

fn text_of(document: &Document) -> String {
    document.root().as_str().map_or_else(|| document.text().to_owned(), std::borrow::Cow::into_owned)
}

async fn artifact(bench: &Bench, id: &ArtifactId) -> String {
    use lockgate_contract::ports::ArtifactStore as _;
    bench.scope.log.read(id).await.unwrap()
}

#[tokio::test]
async fn five_million_bytes_are_cut_and_kept() {
    // out-huge: multi-byte characters all the way.
    let whole = "añ€😀 ".repeat(454_546);
    assert!(whole.len() >= 5_000_000);
    let given = whole.clone();
    let bench = giving(65_536, move || Output::new(Document::string(&given))).await;
    let settlement = bench.call("read").await;
    let (result, meta) = (settlement.result(), &settlement.result().meta);
    let shown = text_of(result.data.as_ref().unwrap());
    assert!(shown.len() <= 65_536 && shown.len() > 65_000, "{}", shown.len());
    let artifact_id = meta.artifact.as_ref().unwrap();
    let notice =
        format!("\n[… {} bytes left out; the whole is artifact {artifact_id} …]\n", meta.truncated_bytes.unwrap());
    let (head, tail) = shown.split_once(&notice).unwrap(); // Z-11: the notice tells how to read the rest.
    assert!(whole.starts_with(head) && whole.ends_with(tail));
    assert_eq!(head.len() + tail.len() + usize::try_from(meta.truncated_bytes.unwrap()).unwrap(), whole.len());
    let characters = head.chars().count() + tail.chars().count();
    assert_eq!(settlement.outcome().observation_truncated_chars, (whole.chars().count() - characters) as u64); // R-103
    assert_eq!(artifact(&bench, artifact_id).await, whole);
    assert!(result.ok && settlement.settled().effect_state == EffectState::Done);
    // The journal holds the short form, beside the artifact.
    let stored = bench.ending(&result.call_id).await;
    assert_eq!(text_of(&stored.data.unwrap()), shown);
}

#[tokio::test]
async fn the_limit_is_exact() {
    for (bytes, cut) in [(99, false), (100, false), (101, true)] {
        let bench = giving(100, move || Output::of(&"x".repeat(bytes))).await;
        let settlement = bench.call("read").await;
        assert_eq!(settlement.result().meta.truncated_bytes.is_some(), cut, "{bytes}");
        assert_eq!(settlement.result().meta.artifact.is_some(), cut, "{bytes}");
        assert!(text_of(settlement.result().data.as_ref().unwrap()).len() <= 100);
    }
    let unlimited = giving(0, || Output::of(&"x".repeat(100_000))).await; // Z-10
    let settlement = unlimited.call("read").await;
    assert!(settlement.result().meta.is_empty());
}

#[tokio::test]
async fn what_the_handler_cut_off_comes_on_top() {
    let bench = giving(200, || Output::of(&"x".repeat(1000)).truncated_chars(5000)).await;
    let settlement = bench.call("read").await;
    let left_out = settlement.result().meta.truncated_bytes.unwrap();
    assert_eq!(settlement.outcome().observation_truncated_chars, 5000 + left_out); // R-057, R-103
}

#[tokio::test]
async fn the_artifact_is_scrubbed_before_it_is_stored() {
    let whole = format!("{}{CANARY}{}", "head ".repeat(100), " tail".repeat(100));
    let bench = giving(300, move || Output::of(&whole)).await;
    let settlement = bench.call("read").await;
    let text = artifact(&bench, settlement.result().meta.artifact.as_ref().unwrap()).await;
    assert!(text.starts_with("head ") && text.ends_with(" tail") && text.contains("[redacted:CANARY#"), "{text}"); // R-178
    assert!(!text.contains("Yellow"));
}

#[tokio::test]
async fn no_cut_lets_half_a_secret_through() {
    let whole = CANARY.repeat(100);
    for max_bytes in 0..160 {
        let given = whole.clone();
        let bench = giving(max_bytes, move || Output::of(&given)).await;
        let settlement = bench.call("read").await;
        let shown = text_of(settlement.result().data.as_ref().unwrap());
        assert!(!shown.contains("Yellow") && !shown.contains("canary/"), "{max_bytes}: {shown}"); // R-178
    }
}

#[tokio::test]
async fn a_handler_reads_the_artifacts_of_its_own_run_only() {
    let read: Arc<Mutex<Vec<Result<String, ArtifactError>>>> = Arc::default();
    let noted = Arc::clone(&read);
    let mut bench = Setup::new(move |counters| {
        let large = tool(counters, Effect::Read);
        let page = tool(counters, Effect::Write);
        vec![
            with_handler(large, counters, |_, _| async { Ok(Output::of(&"x".repeat(1000))) }),
            with_handler(page, counters, move |arguments, context: ToolContext| {
                let noted = Arc::clone(&noted);
                async move {
                    let id = arguments.root().get("text").unwrap().as_str().unwrap().into_owned();
                    let found = context.artifacts().unwrap().read(&ArtifactId::new(id)).await;
                    noted.lock().unwrap().push(found);
                    Ok(Output::of("read"))
                }
            }),
        ]
    })
    .max_output_bytes(200)
    .build()
    .await;
    let id = bench.call("read").await.result().meta.artifact.clone().unwrap();
    let page = bench.request("write", &format!(r#"{{"text":"{id}"}}"#));
    bench.send(&page).await;
    bench.send(&bench.request("write", r#"{"text":"art-0000000000000000"}"#)).await;

    let other = RunId::new("run-ba9876543210");
    crate::bench::create_run(&*bench.journal, &other).await;
    bench.scope.log = Arc::new(RunLog::new(Lease::first(other), bench.journal.clone(), 1, Arc::new(|_| {})));
    bench.send(&page).await;

    let read = read.lock().unwrap();
    assert_eq!(read[0], Ok("x".repeat(1000)));
    assert_eq!(read[1], Err(ArtifactError::NotFound(ArtifactId::new("art-0000000000000000"))));
    assert_eq!(read[2], Err(ArtifactError::NotFound(id))); // Another run's stays another run's.
}

#[tokio::test]
async fn bytes_that_are_no_text_are_marked() {
    let bench = giving(0, || Output::text_from_bytes(b"a\xff\xfeb\xc3")).await;
    let settlement = bench.call("read").await;
    assert!(settlement.result().meta.lossy && settlement.result().ok);
    assert_eq!(text_of(settlement.result().data.as_ref().unwrap()), "a\u{fffd}\u{fffd}b\u{fffd}");
    let bench = giving(0, || Output::text_from_bytes("aß".as_bytes())).await;
    assert!(!bench.call("read").await.result().meta.lossy);
}

#[tokio::test]
async fn what_is_not_json_is_not_shown() {
    for (raw, reason) in [
        ("{\"hunter22\":", "not_json"),
        ("hunter22", "not_json"),
        ("", "not_json"),
        ("{\"a\":1}{\"hunter22\":2}", "trailing_characters"),
        ("{\"hunter22\":1,\"hunter22\":2}", "duplicate_key"),
        ("[\"\\ud800 hunter22\"]", "invalid_unicode"),
        ("[NaN,\"hunter22\"]", "non_finite_number"),
        ("[1e999,\"hunter22\"]", "non_finite_number"),
    ] {
        let bench = giving(0, move || Output::raw(raw)).await;
        let settlement = bench.call("read").await;
        let error = settlement.result().error.as_ref().unwrap();
        assert_eq!((error.code.word(), error.reason.as_deref()), ("invalid_tool_output", Some(reason)), "{raw}"); // R-073
        assert!(settlement.result().data.is_none());
        assert!(!settlement.settled().model_content().text().contains("hunter22")); // R-183
        assert_eq!(settlement.settled().effect_state, EffectState::Done); // out-schema-enforced
    }
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let bench = giving(0, move || Output::raw(deep.clone())).await;
    assert_eq!(bench.call("read").await.result().error.as_ref().unwrap().reason.as_deref(), Some("too_deep"));
    let bench = giving(0, || Output::raw(" {\"a\" : 1.50 } ")).await;
    assert_eq!(bench.call("read").await.result().data.as_ref().unwrap().text().trim(), "{\"a\" : 1.50 }");
}

#[tokio::test]
async fn a_number_that_json_does_not_have_is_a_wrong_output() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bench = Setup::new(|counters| {
            let handler =
                Handler::typed(move |_: serde_json::Value| async move { Ok::<_, Failure>(vec![1.0, number]) });
            vec![tool(counters, Effect::Read).handler(handler).build().unwrap()]
        })
        .build()
        .await;
        let settlement = bench.call("read").await;
        assert_eq!(code(&settlement), "invalid_tool_output"); // R-073
        assert_eq!(settlement.result().error.as_ref().unwrap().reason.as_deref(), Some("non_finite_number"));
    }
}

#[tokio::test]
async fn a_declared_form_is_kept_or_nothing_is_shown() {
    let schema =
        r#"{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}"#;
    for (json, expected) in [
        (r#"{"id":"x"}"#, "ok"),
        (r#"{"unexpected":"hunter22"}"#, "invalid_tool_output"),
        (r#"{"id":"x","more":"hunter22"}"#, "invalid_tool_output"),
        (r#"{"id":1}"#, "invalid_tool_output"),
        (r#""hunter22""#, "invalid_tool_output"),
        ("null", "invalid_tool_output"),
    ] {
        let bench = Setup::new(|counters| {
            let builder = tool(counters, Effect::Write).output_schema_text(schema);
            let answer = move |_, _| async move { Ok(Output::new(Document::parse(json, Limits::OUTPUT).unwrap())) };
            vec![with_handler(builder, counters, answer)]
        })
        .build()
        .await;
        let settlement = bench.call("write").await;
        assert_eq!(code(&settlement), expected, "{json}"); // R-073, R-225, R-246
        assert!(!settlement.settled().model_content().text().contains("hunter22"));
    }
}

#[tokio::test]
async fn the_form_is_checked_on_success_only() {
    let bench = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).output_schema_text(r#"{"type":"object"}"#);
        let fails =
            |_, _| async { Err(lockgate_contract::tool::ToolExecutionError::new("no_such_row", "None.").into()) };
        vec![with_handler(builder, counters, fails)]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "no_such_row"); // R-072
}

#[tokio::test]
async fn small_outputs_keep_their_bytes_also_under_a_scrubber() {
    let json = "{ \"a\" : 1.0e+2 , \"b\":[ ] ,\t\"ü\" : \"\\u00fc\" }";
    let bench = Setup::new(|counters| answering(counters, json)).scrubbing().build().await;
    let settlement = settlement(bench.send(&bench.request("read", "{}")).await);
    assert_eq!(settlement.result().data.as_ref().unwrap().text(), json); // Z-05
}
