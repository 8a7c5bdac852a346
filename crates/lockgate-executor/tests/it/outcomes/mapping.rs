//! What the loop sees of a call (part 5, "outcome mapping": R-096…R-103).

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::effect::Effect;
use lockgate_contract::observation::SyntheticObservations;
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::result::ActionOutcome;
use lockgate_contract::tool::{Failure, Output, ToolEnvironmentError, ToolExecutionError};
use lockgate_executor::Released;

use crate::bench::{Setup, answering, failing, pending, settlement, tool, with_handler};

fn assert_row(outcome: &ActionOutcome, status: Status, synthetic: bool, observation: &str) {
    assert_eq!(outcome.status, status);
    assert_eq!(outcome.observation_is_synthetic, synthetic); // R-113
    assert!(outcome.observation.text().contains(observation), "{} in {}", observation, outcome.observation.text());
    assert!(!outcome.env_reported_completion); // R-102
    assert_eq!(outcome.observation_truncated_chars, 0); // R-103
}

#[tokio::test]
async fn a_refused_call_is_not_executed_and_says_so_in_one_sentence() {
    let bench = Setup::new(|counters| answering(counters, "1")).build().await;
    let unknown = bench.call("delete_prod").await;
    assert_row(unknown.outcome(), Status::NotExecuted, true, "no tool `delete_prod` is registered"); // R-097, R-112
    let invalid = settlement(bench.send(&bench.request("write", r#"{"n":"x"}"#)).await);
    assert_row(invalid.outcome(), Status::NotExecuted, true, ""); // R-097
    let mut code = bench.request("python", "print(1)");
    code.call.language = ActionLanguage::Code;
    let code = settlement(bench.send(&code).await);
    assert_row(code.outcome(), Status::NotExecuted, true, "code reached a gate that takes tool calls only"); // R-096
    assert_eq!(bench.handler_count(), 0);
}

#[tokio::test]
async fn a_refusal_that_is_told_again_is_what_the_model_saw() {
    let bench = Setup::new(|counters| answering(counters, "1")).build().await;
    let request = bench.request("write", r#"{"n":"x"}"#);
    let first = settlement(bench.send(&request).await);
    let again = settlement(bench.send(&request).await);
    assert_eq!(again.result().meta.deduplicated.as_ref(), Some(&request.call.call_id)); // S-31
    assert_row(again.outcome(), Status::NotExecuted, false, "invalid_arguments");
    assert_eq!(again.outcome().observation.text(), again.settled().model_content().text());
    assert_eq!(again.result().code(), first.result().code());
}

#[tokio::test]
async fn a_broken_environment_is_no_valid_action() {
    let bench = Setup::new(|counters| failing(counters, || ToolEnvironmentError::new("connection refused").into()))
        .build()
        .await;
    let settlement = bench.call("read").await;
    assert_row(settlement.outcome(), Status::EnvError, false, "connection refused"); // R-098, R-059
    // R-110: the model's text comes from the configured sentences.
    let message = settlement.settled().message.as_deref();
    assert_eq!(message, Some("The environment of this tool is not available."));
}

#[tokio::test]
async fn a_failure_of_the_tool_is_a_valid_action() {
    let bug =
        Setup::new(|counters| failing(counters, || Failure::bug("ValueError: bad luck at /srv/app.py"))).build().await;
    let settlement = bug.call("read").await;
    assert_row(settlement.outcome(), Status::Executed, false, "tool_internal_error"); // R-099, R-108, R-120
    assert!(!settlement.outcome().observation.text().contains("bad luck")); // C-4, R-104

    let business = || ToolExecutionError::new("service_not_found", "there is no such service").into();
    let bench = Setup::new(|counters| failing(counters, business)).build().await;
    let settlement = bench.call("read").await;
    assert_row(settlement.outcome(), Status::Executed, false, "service_not_found"); // R-072, R-233
}

#[tokio::test]
async fn an_answer_is_the_observation_byte_for_byte() {
    let json = "{ \"b\" : 1.0e2 ,\n \"a\":[ \"ünï\", 123456789012345678901234567890 ] }";
    let bench = Setup::new(|counters| answering(counters, json)).build().await;
    for effect in crate::bench::EFFECTS {
        let settlement = bench.call(effect.word()).await;
        assert_row(settlement.outcome(), Status::Executed, false, json); // R-100
        assert_eq!(settlement.outcome().observation.text(), json); // Z-05
        assert_eq!(settlement.result().data.as_ref().unwrap().text(), json); // R-075
    }
}

#[tokio::test]
async fn a_cancelled_handler_has_no_outcome() {
    let bench = Setup::new(pending).build().await;
    let call = async { bench.send(&bench.request("read", "{}")).await };
    let (released, ()) = tokio::join!(call, async { bench.scope.cancel.cancel() });
    assert!(matches!(released, Released::Cancelled { started: true }), "{released:?}"); // R-101
    assert!(bench.kinds().await.is_empty());
}

#[tokio::test]
async fn what_a_handler_cut_off_is_counted() {
    let bench = Setup::new(|counters| {
        let cut = |_, _| async { Ok(Output::of("beginning").truncated_chars(1234)) };
        vec![with_handler(tool(counters, Effect::Read), counters, cut)]
    })
    .build()
    .await;
    let settlement = bench.call("read").await;
    assert_eq!(settlement.outcome().observation_truncated_chars, 1234); // R-057, C-6
    assert_eq!(settlement.result().meta.truncated_chars, Some(1234));
}

#[tokio::test]
async fn the_configured_sentences_are_what_the_model_reads() {
    let mut texts = Vec::new();
    for _ in 0..2 {
        let mut setup = Setup::new(|counters| failing(counters, || ToolEnvironmentError::new("down").into()));
        setup.observations = SyntheticObservations::new()
            .with(Code::UnknownTool, "Kein solches Werkzeug.")
            .with(Code::EnvironmentError, "Gerade nicht.");
        let bench = setup.build().await;
        let mut text = String::new();
        for tool in ["nothing", "read", "external"] {
            text.push_str(bench.call(tool).await.settled().model_content().text());
        }
        texts.push(text);
    }
    assert_eq!(texts[0], texts[1]); // R-111
    let expected = [
        r#"{"code":"unknown_tool","message":"Kein solches Werkzeug."}"#,
        r#"{"code":"environment_error","message":"Gerade nicht."}"#,
        r#"{"code":"environment_error","message":"Gerade nicht."}"#,
    ];
    assert_eq!(texts[0], expected.concat()); // R-110
}
