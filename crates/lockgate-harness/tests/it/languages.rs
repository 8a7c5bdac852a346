//! Actions in another language than the tool call (R-096, R-105, R-106, C-17): the gate refuses them, and the run goes on.

use std::sync::Arc;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::event::{Body, Event};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::run::RunStatus;
use lockgate_harness::{RunResult, RunState};
use lockgate_models::ScriptedModel;
use lockgate_redact::{ScrubberBuilder, SecretValue};

use crate::bench::{Bench, codes, stop};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

/// Runs a script of the real scripted model to its end.
async fn scripted(bench: &Bench, script: &str) -> RunState {
    let runner = bench.runner().with_model(Arc::new(ScriptedModel::parse(script).unwrap()));
    let run = runner.start(bench.task()).await.unwrap();
    crate::invariants::assert_hold(&bench.events(run.run_id()).await);
    run
}

/// The calls of a turn, as code.
fn code(actions: &[(&str, &str)]) -> Turn {
    let mut turn = calls(actions);
    if let Turn::Says(response) = &mut turn {
        response.calls.iter_mut().for_each(|call| call.language = ActionLanguage::Code);
    }
    turn
}

/// The texts of the code in the events of a run: as the model answered it, and as it reached the gate.
fn code_in(events: &[Event]) -> Vec<String> {
    let code = |event: &Event| match event.body().unwrap() {
        Body::ModelResponded(response) => {
            let code = response.calls.into_iter().filter(|call| call.language == ActionLanguage::Code);
            code.map(|call| format!("answered {}: {}", call.tool_name, call.arguments_text)).collect()
        }
        Body::ToolRequested(requested) if requested.language == ActionLanguage::Code => {
            vec![format!("requested {}: {}", requested.tool_name, requested.arguments_text.unwrap())]
        }
        _ => Vec::new(),
    };
    events.iter().flat_map(code).collect()
}

#[tokio::test(start_paused = true)]
async fn code_then_a_call_then_an_answer() {
    let bench = Bench::new([]);
    let script = r#"{"turns": [
        {"text": "Let me compute.", "calls": [{"id": "p1", "name": "python", "code": "print(1)"}]},
        {"calls": [{"id": "p2", "name": "look", "arguments": {"do": "ok", "n": 1}}]},
        {"text": "It is 1."}
    ]}"#;
    let run = scripted(&bench, script).await;
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned())); // R-105: it aborts nothing
    assert_eq!(codes(&run), ["wrong_action_language", "ok"]); // R-096, C-17
    assert_eq!((run.steps(), run.valid_actions()), (3, 1)); // R-119: a step, and no valid action
    assert_eq!(bench.world.entered(), ["look"]);

    // R-105: it leaves a record, with what was sent.
    let events = bench.events(run.run_id()).await;
    let expected = [
        "model.requested",
        "model.responded",
        "tool.requested",
        "tool.failed",
        "model.requested",
        "model.responded",
        "tool.requested",
        "tool.started",
        "tool.finished",
        "model.requested",
        "model.responded",
        "run.completed",
    ];
    assert_eq!(bench.kinds(run.run_id()).await[1..], expected);
    assert_eq!(code_in(&events), ["answered python: print(1)", "requested python: print(1)"]); // R-106
    // Said of what is code, and of nothing else.
    assert_eq!(bench.bytes(run.run_id()).await.matches("language\":").count(), 2);

    // R-105: occurrences can be seen and counted afterwards.
    let result = RunResult::of(&run).with_messages(&run);
    let occurrences = || result.calls.iter().filter(|call| call.code == Some(Code::WrongActionLanguage.into()));
    assert_eq!(occurrences().count(), 1);
    let call = occurrences().next().unwrap();
    assert_eq!((call.tool_name.as_str(), call.provider_call_id.as_str()), ("python", "p1"));
    assert_eq!((call.status, call.tool_version.as_deref()), (Some(Status::NotExecuted), None)); // R-096

    // The model reads what it sent, and why nothing came of it.
    let shown = serde_json::to_value(result.model_messages.unwrap()).unwrap();
    let call_id = run.run_id().call(0, 0).to_string();
    let sent = serde_json::json!({"call_id": call_id, "name": "python", "arguments": {}, "code": "print(1)"});
    assert_eq!(shown[1]["calls"], serde_json::json!([sent])); // R-106, R-228
    assert_eq!(shown[2]["call_id"], call_id.as_str());
    let told = serde_json::json!({"code": "wrong_action_language", "message": "This run takes tool calls only."});
    assert_eq!(shown[2]["content"], told); // R-096, R-110
}

#[tokio::test(start_paused = true)]
async fn code_among_calls_holds_nothing_up() {
    let turn = [("python", "import os"), ("look", OK), ("note", "x = 1"), ("note", OK), ("finish", "{}")];
    let mut turn = calls(&turn);
    if let Turn::Says(response) = &mut turn {
        for index in [0, 2, 4] {
            response.calls[index].language = ActionLanguage::Code;
        }
    }
    let bench = Bench::new([turn, says("Done.")]);
    let run = bench.run().await;
    // Not even code under a tool's name, or code that looks like arguments, is taken for a call.
    let wrong = "wrong_action_language";
    assert_eq!(codes(&run), [wrong, "ok", wrong, "ok", wrong]); // R-096
    assert_eq!(bench.world.entered(), ["look", "note"]);
    assert_eq!((run.steps(), run.valid_actions()), (2, 2)); // R-119, R-120
    // It completes nothing: the model is asked again, and told of each call in its place.
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned())); // R-116
    let told = bench.model.told();
    assert_eq!(told.iter().filter(|told| told.contains(wrong)).count(), 3); // R-228
    assert_eq!(told[1], r#"{"n":1}"#);
}

#[tokio::test(start_paused = true)]
async fn code_alone_ends_by_its_steps() {
    let bench = Bench::new(vec![code(&[("python", "print(1)")]); 9]).within(|budget| {
        budget.max_steps = 4;
        budget.max_valid_actions = 1;
        budget.max_repeated_turns = 2;
        budget.max_environment_failures = 1;
    });
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::LimitReached, "max_steps".to_owned())); // R-105, R-121
    assert_eq!((run.steps(), run.valid_actions()), (4, 0)); // R-119
    assert_eq!(codes(&run), ["wrong_action_language"; 4]);
}

#[tokio::test(start_paused = true)]
async fn code_is_stored_and_shown_without_secrets() {
    let mut builder = ScrubberBuilder::new();
    builder.secret("HORSE", SecretValue::new("correct-horse-battery")).unwrap();
    let mut bench = Bench::new([code(&[("python", "login('correct-horse-battery')")]), says("Done.")]);
    bench.redactor = Arc::new(builder.build().unwrap());
    let run = bench.run().await;
    assert_eq!(codes(&run), ["wrong_action_language"]);
    let code = code_in(&bench.events(run.run_id()).await);
    assert_eq!(code.len(), 2);
    for text in code {
        assert!(text.contains("login('[redacted:HORSE#"), "{text}"); // R-178
    }
    let shown = serde_json::to_string(&RunResult::of(&run).with_messages(&run)).unwrap();
    assert!(shown.contains("login(") && !shown.contains("correct-horse-battery"), "{shown}");
    assert!(!format!("{:?}", bench.model.asked.lock().unwrap()).contains("correct-horse-battery"));
}
