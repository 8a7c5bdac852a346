//! Models that do not answer, or answer badly.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::event::Body;
use lockgate_contract::ports::{Delta, Message, ModelError, ProviderItem};
use lockgate_contract::run::RunStatus;
use lockgate_harness::RunResult;
use lockgate_redact::{ScrubberBuilder, SecretValue};

use crate::bench::{Bench, stop};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

#[tokio::test(start_paused = true)]
async fn every_kind_of_failure_fails_the_run_under_its_own_word() {
    let detail = || "the provider said no".to_owned();
    let later = Some(Duration::from_secs(1));
    let errors = [
        (ModelError::ScriptExhausted, "script_exhausted"),
        (ModelError::Overloaded { detail: detail(), retry_after: later }, "model_overloaded"),
        (ModelError::RateLimited { detail: detail(), retry_after: later }, "model_rate_limited"),
        (ModelError::Refused { detail: detail() }, "model_refused"),
        (ModelError::Unauthorized { detail: detail() }, "model_unauthorized"),
        (ModelError::InvalidRequest { detail: detail() }, "model_invalid_request"),
        (ModelError::InvalidResponse { detail: detail() }, "model_invalid_response"),
        (ModelError::Unreachable { detail: detail() }, "model_unreachable"),
        (ModelError::TimedOut, "model_timed_out"),
        (ModelError::Configuration { detail: detail() }, "model_not_configured"),
    ];
    for (error, word) in errors {
        let bench = Bench::new([calls(&[("look", OK)]), Turn::Fails(error.clone())]);
        let run = bench.run().await;
        assert_eq!(stop(&run), (RunStatus::Failed, word.to_owned()));
        // Asked once: nobody tries again behind it (architecture rule 10, R-204). The step counts (R-119).
        assert_eq!((bench.model.steps(), run.steps()), (vec![0, 1], 2));
        let kinds = bench.kinds(run.run_id()).await;
        assert_eq!(kinds[kinds.len() - 3..], ["model.requested", "model.failed", "run.failed"]);
        let events = bench.events(run.run_id()).await;
        let Body::RunFailed(failed) = events.last().unwrap().body().unwrap() else { panic!("{word}") };
        assert_eq!(failed.detail, error.to_string());
        assert!(events[events.len() - 3..].iter().all(|event| event.step == 1)); // R-211
        assert_eq!(RunResult::of(&run).answer, None);
    }
}

/// Found while fuzzing: what comes next is asked over all calls of a turn after each of them, so that a turn of 64,000 calls, five
/// megabytes, took minutes.
#[tokio::test(start_paused = true)]
async fn a_turn_of_thousands_of_calls_is_no_answer() {
    let many = vec![("look", OK); 4097];
    let bench = Bench::new([calls(&many)]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Failed, "model_invalid_response".to_owned()));
    assert_eq!(run.calls().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_meets_the_deadline() {
    let bench = Bench::new([calls(&[("look", OK)]), Turn::Hangs]).within(|budget| budget.deadline_ms = 5000);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::LimitReached, "deadline".to_owned()));
    assert_eq!((bench.model.steps(), run.steps()), (vec![0, 1], 2));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_makes_nobody_ask_twice() {
    let bench = Bench::new([Turn::Hangs]).within(|budget| budget.deadline_ms = 5000);
    let runner = bench.runner();
    let run = runner.start(bench.task());
    let set_back = async {
        bench.model.hanging.notified().await;
        bench.clock.set_back(Duration::from_hours(1));
    };
    let (run, ()) = tokio::join!(run, set_back);
    assert_eq!(stop(&run.unwrap()), (RunStatus::LimitReached, "deadline".to_owned()));
    assert_eq!(bench.model.steps(), [0]); // R-204
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_a_call_short() {
    let bench = Bench::new([calls(&[("look", r#"{"do":"hangs"}"#), ("note", OK)])]);
    let bench = bench.within(|budget| budget.deadline_ms = 300);
    let began = tokio::time::Instant::now();
    let run = bench.run().await;
    assert_eq!(began.elapsed(), Duration::from_millis(300)); // not the tool's own second
    assert_eq!(crate::bench::codes(&run), ["timed_out", "limit_reached"]); // R-123
    assert_eq!(stop(&run), (RunStatus::LimitReached, "deadline".to_owned()));
    assert_eq!(bench.world.entered(), ["look"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_may_say_something_and_call() {
    let mut turn = calls(&[("look", OK)]);
    if let Turn::Says(response) = &mut turn {
        response.text = Some("Let me look.".to_owned());
        response.usage.input_tokens = Some(12);
    }
    let bench = Bench::new([turn, says("Seen.")]);
    let run = bench.run().await;
    assert_eq!(run.turns()[0].text.as_deref(), Some("Let me look.")); // R-131
    let events = bench.events(run.run_id()).await;
    let tokens: Vec<_> = events
        .iter()
        .filter_map(|event| match event.body().unwrap() {
            Body::ModelResponded(response) => Some(response.usage.input_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(tokens, [Some(12), None]);
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_to_hears_the_model_speak() {
    let mut turn = calls(&[("look", OK)]);
    if let Turn::Says(response) = &mut turn {
        response.text = Some("Let me look.".to_owned());
    }
    let said = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&said);
    let mut bench = Bench::new([turn, says("Seen.")]);
    bench.heard = Some(Arc::new(move |delta| {
        if let Delta::Text(text) = delta {
            listener.lock().unwrap().push(text.to_owned());
        }
    }));
    assert_eq!(stop(&bench.run().await).0, RunStatus::Completed);
    assert_eq!(*said.lock().unwrap(), ["Let me look.", "Seen."]);
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_wants_back_is_stored_and_goes_back_at_its_place() {
    let item = |before, text: &str| ProviderItem {
        adapter: "scripted".to_owned(),
        before,
        item: Document::from_json_value(&serde_json::json!({ "signature": text })),
    };
    let kept = [item(0, "a"), item(1, "b")];
    let mut turn = calls(&[("look", OK), ("look", OK)]);
    if let Turn::Says(response) = &mut turn {
        response.items = vec![kept[0].clone(), item(1, "hunter22-hunter22"), kept[1].clone()];
    }
    let mut bench = Bench::new([turn, says("Seen.")]);
    let mut secrets = ScrubberBuilder::new();
    secrets.secret("S", SecretValue::new("hunter22-hunter22".to_owned())).unwrap();
    bench.redactor = Arc::new(secrets.build().unwrap());
    let run = bench.run().await;
    let items = run.messages().into_iter().find_map(|message| match message {
        Message::Assistant { items, .. } => Some(items),
        _ => None,
    });
    // The one in which a secret stood is nowhere.
    assert_eq!(items.unwrap(), kept);
    let events = bench.events(run.run_id()).await;
    assert!(!events.iter().any(|event| event.data.text().contains("hunter22")));
}
