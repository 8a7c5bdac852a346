//! A secret in a run: the handler gets it, and nothing that is stored, shown or sent has it.

use std::sync::Arc;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::run::RunStatus;
use lockgate_harness::{DirectCall, RunResult};
use lockgate_redact::{ScrubberBuilder, SecretValue};

use crate::bench::{Bench, codes, stop};
use crate::model::{Turn, calls, says};

const SECRET: &str = "correct-horse-battery";

fn bench(turns: Vec<Turn>) -> Bench {
    let mut builder = ScrubberBuilder::new();
    builder.secret("HORSE", SecretValue::new(SECRET)).unwrap();
    let mut bench = Bench::new(turns);
    bench.redactor = Arc::new(builder.build().unwrap());
    bench
}

fn with_secret(what: &str) -> String {
    format!(r#"{{"do":"{what}","n":1,"key":"{SECRET}"}}"#)
}

#[tokio::test(start_paused = true)]
async fn the_handler_alone_sees_it() {
    let (echo, ok) = (with_secret("echo"), with_secret("ok"));
    let mut turn = calls(&[("look", echo.as_str()), ("note", ok.as_str()), (SECRET, "{}"), ("look", SECRET)]);
    if let Turn::Says(response) = &mut turn {
        response.text = Some(format!("I use {SECRET} now."));
        response.calls[0].provider_call_id = format!("id-{SECRET}");
    }
    let bench = bench(vec![turn, says(&format!("It was {SECRET}."))]);
    let mut task = bench.task();
    task.task = format!("use {SECRET}");
    task.system = Some(format!("the key is {SECRET}"));
    let run = bench.runner().start(task).await.unwrap();
    assert_eq!(codes(&run), ["ok", "ok", "unknown_tool", "invalid_arguments"]);

    // In the same process the handler gets what the model sent, byte for byte.
    let got: Vec<String> = bench.world.entries().into_iter().map(|entry| entry.arguments).collect();
    assert_eq!(got, [echo, ok]); // architecture rule 3

    let events = bench.events(run.run_id()).await;
    for event in &events {
        assert!(!event.data.text().contains(SECRET), "{} {}", event.kind, event.data.text()); // R-178
    }
    assert!(events[0].data.text().contains("[redacted:HORSE#"), "{}", events[0].data.text());
    let result = RunResult::of(&run).with_messages(&run);
    assert!(!serde_json::to_string(&result).unwrap().contains(SECRET));
    assert!(!format!("{run:?}").contains(SECRET));
    assert!(!format!("{:?}", bench.model.asked.lock().unwrap()).contains(SECRET)); // R-182
    let record = bench.journal.run(run.run_id()).await.unwrap().unwrap();
    assert!(!record.title.contains(SECRET));
    crate::invariants::assert_hold(&events);
}

#[tokio::test(start_paused = true)]
async fn what_a_model_says_when_it_fails_is_scrubbed_too() {
    let detail = format!("the key {SECRET} is not known");
    let error = lockgate_contract::ports::ModelError::Unauthorized { detail };
    let bench = bench(vec![Turn::Fails(error)]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Failed, "model_unauthorized".to_owned()));
    assert!(!bench.bytes(run.run_id()).await.contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn stored_arguments_without_their_secret_are_never_run() {
    // Approved, but the process that heard the model is gone.
    let pay = with_secret("ok");
    let bench = bench(vec![calls(&[("pay", pay.as_str()), ("look", r#"{"do":"ok"}"#)]), says("Done.")]);
    let run = bench.run().await.run_id().clone();
    let approval = bench.approvals(&run).await.remove(0);
    assert!(!format!("{approval:?}").contains(SECRET));
    bench.decide_all(&run, ApprovalState::Granted).await;
    let state = bench.resume(&run).await;
    assert_eq!(codes(&state), ["approval_stale", "ok"]);
    assert_eq!(bench.world.entered(), ["look"]);
    assert!(!bench.bytes(&run).await.contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_direct_call_brings_its_secret_again() {
    let pay = with_secret("echo");
    let bench = bench(Vec::new());
    let direct = |approval| DirectCall {
        approval,
        ..DirectCall::new(lockgate_contract::subject::Subject::default(), bench.binding(), "pay", pay.clone())
    };
    let open = bench.runner().call(direct(None)).await.unwrap();
    let approval = open.result.meta.approval_id.clone();
    bench.decide(approval.as_ref().unwrap(), ApprovalState::Granted).await.unwrap();
    let done = bench.runner().call(direct(approval)).await.unwrap();
    assert!(done.result.ok);
    assert_eq!(bench.world.entries()[0].arguments, pay);
    assert!(!bench.bytes(&done.run_id).await.contains(SECRET));
    assert!(!serde_json::to_string(&done.result).unwrap().contains(SECRET));
    // A tool by that name is not named either.
    let named = DirectCall::new(lockgate_contract::subject::Subject::default(), bench.binding(), SECRET, "{}");
    let refused = bench.runner().call(named).await.unwrap();
    assert!(!bench.bytes(&refused.run_id).await.contains(SECRET));
    assert!(!format!("{refused:?}").contains(SECRET));
}
