//! The incident example, from its run files (R-213, R-234…R-242).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lockgate::assembly::{Assembly, Overrides};
use lockgate::config::ModelTable;
use lockgate::contract::event::Event;
use lockgate::contract::result::ToolResult;
use lockgate::contract::tool::{Handler, Output};
use lockgate::harness::{RunResult, RunState, RunnerOptions};
use lockgate::registry::RegisterError;

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs an example on a journal in memory, and gives the state and the protocol view.
async fn run(name: &str) -> (RunState, Vec<String>) {
    let overrides = Overrides { journal_url: Some("memory:".to_owned()), ..Overrides::default() };
    let assembly = Assembly::load(&example(name), overrides).unwrap();
    let seen = Arc::new(Mutex::new(Vec::<Event>::new()));
    let observer = {
        let seen = Arc::clone(&seen);
        Arc::new(move |event: &Event| seen.lock().unwrap().push(event.clone()))
    };
    let options = RunnerOptions { observer: Some(observer), ..RunnerOptions::default() };
    let runner = assembly.runner(options).unwrap();
    let state = runner.start(assembly.agent_run().unwrap()).await.unwrap();
    let seen = seen.lock().unwrap();
    for (index, event) in (1..).zip(seen.iter()) {
        assert_eq!(event.seq, index, "numbers have no gap");
    }
    assert_eq!(RunState::fold(seen.iter()).unwrap().last_seq(), state.last_seq());
    let protocol = seen.iter().filter(|event| event.kind.in_protocol_view());
    let lines = protocol.map(|event| format!("{} {}", event.step, event.kind)).collect();
    (state, lines)
}

#[tokio::test]
async fn the_reference_run_has_its_thirteen_events() {
    let (state, events) = run("incident/run.toml").await;
    assert_eq!(
        events,
        [
            "0 model.requested",
            "0 model.responded",
            "0 tool.requested",
            "0 tool.finished",
            "0 tool.requested",
            "0 tool.finished",
            "1 model.requested",
            "1 model.responded",
            "1 tool.requested",
            "1 tool.failed",
            "2 model.requested",
            "2 model.responded",
            "2 run.completed",
        ]
    ); // R-213
    let result = RunResult::of(&state); // R-234
    assert_eq!(result.status.unwrap().word(), "completed");
    assert_eq!((result.steps, result.valid_actions), (3, 3));
    assert_eq!(
        result.answer.as_deref(),
        Some(
            "INC-001 is about auth-api (severity high). INC-002 is about invoice-export, which is not in the service \
             directory: service_not_found."
        )
    );
}

#[tokio::test]
async fn two_steps_are_not_enough() {
    let (state, _) = run("incident/max-steps.toml").await;
    let result = RunResult::of(&state); // R-205
    assert_eq!(result.status.unwrap().word(), "limit_reached");
    assert_eq!(result.reason.as_deref(), Some("max_steps"));
}

#[tokio::test]
async fn four_calls_go_four_ways() {
    let (state, _) = run("incident/dispatch.toml").await;
    let result = RunResult::of(&state); // R-239
    let calls: Vec<_> = result
        .calls
        .iter()
        .map(|call| {
            let code = call.code.as_ref().map_or("ok", |code| code.word());
            (call.provider_call_id.as_str(), call.tool_name.as_str(), call.tool_version.as_deref(), code)
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("call-valid", "lookup_incident", Some("1.0"), "ok"),
            ("call-unknown", "delete_prod", None, "unknown_tool"),
            ("call-invalid", "lookup_incident", Some("1.0"), "invalid_arguments"),
            ("call-write", "create_ticket", Some("1.0"), "approval_required"),
        ]
    );
    assert_eq!(result.status.unwrap().word(), "waiting_for_approval");
}

/// Calls one of the example's tools, without a model.
async fn call(assembly: &Assembly, tool: &str, arguments: &str) -> ToolResult {
    let call = assembly.direct_call(tool.to_owned(), arguments.to_owned());
    assembly.caller(RunnerOptions::default()).call(call).await.unwrap().result
}

fn assembled() -> Assembly {
    let overrides = Overrides { journal_url: Some("memory:".to_owned()), ..Overrides::default() };
    Assembly::load(&example("incident/run.toml"), overrides).unwrap()
}

#[tokio::test]
async fn four_cases_of_the_look_up() {
    let assembly = assembled();
    let valid = call(&assembly, "lookup_service_owner", r#"{"service_name":"auth-api"}"#).await;
    assert!(valid.ok && valid.error.is_none(), "{valid:?}"); // R-235
    for (arguments, expected) in [
        (r#"{"service_name":"auth-api","more":1}"#, "invalid_arguments"), // R-235
        (r#"{"service_name":"no-such-service"}"#, "service_not_found"),   // R-233, R-235
    ] {
        let refused = call(&assembly, "lookup_service_owner", arguments).await;
        assert_eq!(refused.code().map(lockgate::contract::outcome::Outcome::word), Some(expected), "{arguments}");
    }
    let handler = Handler::untyped(|_, _| async { Ok(Output::of("somebody else")) });
    let twice = lockgate::ToolSpec::builder("lookup_service_owner").handler(handler).build().unwrap();
    assert!(matches!(assembly.registry.register(twice), Err(RegisterError::Duplicate { .. }))); // R-235
}

#[tokio::test]
async fn an_incident_says_what_is_known() {
    let result = call(&assembled(), "lookup_incident", r#"{"incident_id":"INC-001"}"#).await;
    let incident = result.data.unwrap().to_json_value();
    let fields: Vec<_> = incident.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["incident_id", "service", "severity", "symptom", "evidence"]); // R-240
    assert!(incident["evidence"].as_array().is_some_and(|evidence| evidence.iter().all(serde_json::Value::is_string))); // R-240
}

#[test]
fn the_examples_need_no_network_and_no_model() {
    let folder = example("incident");
    let mut run_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if let Ok(run_file) = lockgate::config::RunFile::read(&path) {
            run_files += 1;
            assert!(matches!(run_file.model, Some(ModelTable::Scripted { .. })), "{}", path.display()); // R-242
        }
    }
    assert!(run_files >= 4, "{run_files}");
    let resolved_here = ["catalog:tools.toml"];
    let assembly = assembled();
    let sources: Vec<_> = assembly.registry.tools().iter().map(|tool| tool.spec().source().to_owned()).collect();
    assert!(sources.iter().all(|source| resolved_here.contains(&source.as_str())), "{sources:?}"); // R-242
}

#[tokio::test]
async fn the_repo_tour_tells_facts() {
    let (state, _) = run("repo-tour/run.toml").await;
    let result = RunResult::of(&state);
    let answer = result.answer.unwrap();
    assert!(answer.contains("crates/lockgate-executor/src/pipeline.rs"), "{answer}");
    assert!(answer.contains(": 7 stages, one a line"), "{answer}");
    assert!(answer.contains("was refused: path_outside_root"), "{answer}");
}
