//! Runs that nobody interrupts.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ToolCall;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::event::Body;
use lockgate_contract::ports::{ActionExecutor, ActionReport, BoxFuture, Message};
use lockgate_contract::run::{Budget, CompletedBy, RunStatus};
use lockgate_contract::tool::{Failure, Output, ToolContext};
use lockgate_executor::Dispatch;
use lockgate_harness::{RunError, RunResult, Runner, RunnerOptions, Stop};
use lockgate_models::ScriptedModel;

use crate::bench::{Bench, codes, stop};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;

#[tokio::test(start_paused = true)]
async fn the_reference_run_has_thirteen_events() {
    let bench = Bench::new([
        calls(&[("look", OK), ("look", r#"{"do":"ok","n":2}"#)]),
        calls(&[("look", r#"{"do":"business"}"#)]),
        says("The owner is team-auth."),
    ]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned()));
    let events = bench.events(run.run_id()).await;
    let shown = events.iter().filter(|event| event.kind.in_protocol_view());
    let seen: Vec<String> = shown.map(|event| format!("{} {}", event.step, event.kind)).collect();
    let expected = [
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
    ];
    assert_eq!(seen, expected); // R-213, R-195, R-210, R-211
    assert_eq!(codes(&run), ["ok", "ok", "not_found"]);
    assert_eq!(run.run_id().as_str(), "run-000000000001"); // R-206
    assert_eq!(RunResult::of(&run).answer.as_deref(), Some("The owner is team-auth."));
}

#[tokio::test(start_paused = true)]
async fn the_real_scripted_model_changes_nothing() {
    let bench = Bench::new([calls(&[("look", OK), ("note", r#"{"do":"business"}"#)]), says("Done.")]);
    let script = r#"{"turns": [
        {"calls": [
            {"id": "p0", "name": "look", "arguments_text": "{\"do\":\"ok\",\"n\":1}"},
            {"id": "p1", "name": "note", "arguments_text": "{\"do\":\"business\"}"}
        ]},
        {"text": "Done."}
    ]}"#;
    let mine = bench.run().await;
    let other = Bench::new([]);
    let runner = other.runner().with_model(Arc::new(ScriptedModel::parse(script).unwrap()));
    let theirs = runner.start(other.task()).await.unwrap();
    let strip = |bytes: String| bytes.replace("\\\"told\\\"", "").replace("\"told\"", "\"scripted\"");
    assert_eq!(strip(bench.bytes(mine.run_id()).await), strip(other.bytes(theirs.run_id()).await)); // R-192, R-193
}

#[tokio::test(start_paused = true)]
async fn two_runs_with_one_configuration_show_the_model_the_same_bytes() {
    let script = || {
        Bench::new([
            calls(&[("look", r#"{"do":"panic"}"#), ("look", "not json"), ("nosuch", "{}"), ("look", OK)]),
            calls(&[("look", r#"{"do":"environment"}"#), ("ban", OK)]),
            says("Done."),
        ])
    };
    let (first, second) = (script(), script());
    let (one, two) = (first.run().await, second.run().await);
    let shown = |bench: &Bench| format!("{:?}", bench.model.asked.lock().unwrap());
    assert_eq!(shown(&first), shown(&second)); // R-111
    assert_eq!(codes(&one), codes(&two));
    assert_eq!(first.bytes(one.run_id()).await, second.bytes(two.run_id()).await);
}

#[tokio::test(start_paused = true)]
async fn failures_go_back_to_the_model_and_the_run_goes_on() {
    let turn = [
        ("look", r#"{"do":"business"}"#),
        ("look", r#"{"do":"bug"}"#),
        ("look", r#"{"do":"panic"}"#),
        ("look", r#"{"do":"wrong"}"#),
        ("look", r#"{"do":"hangs"}"#),
        ("look", r#"{"do":"broken"}"#),
        ("look", r#"{"do":5}"#),
        ("look", r#"{"do":"ok","do":"ok"}"#),
        ("nosuch", "{}"),
        ("ban", OK),
        ("look", OK),
    ];
    let bench = Bench::new([calls(&turn), says("So be it.")]);
    let run = bench.run().await;
    let expected = [
        "not_found",
        "tool_internal_error",
        "tool_internal_error",
        "invalid_tool_output",
        "timed_out",
        "environment_error",
        "invalid_arguments",
        "invalid_arguments",
        "unknown_tool",
        "policy_denied",
        "ok",
    ];
    assert_eq!(codes(&run), expected); // R-107, R-200, R-223
    let told = bench.model.told();
    assert_eq!(told.len(), expected.len()); // R-196, R-228
    for (told, code) in told.iter().zip(expected) {
        assert!(told.contains(code) || code == "ok" && told == r#"{"n":1}"#, "{code}: {told}"); // R-150, R-219
    }
    assert_eq!(bench.world.entries().len(), 7); // R-204: nobody tries again
    assert_eq!((run.steps(), run.valid_actions()), (2, 6)); // R-119, R-120
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_history_is_only_added_to() {
    let bench =
        Bench::new([calls(&[("look", OK), ("note", OK)]), calls(&[("look", r#"{"do":"business"}"#)]), says("Done.")]);
    let mut task = bench.task();
    task.system = Some("Be brief.".to_owned());
    let run = bench.runner().start(task).await.unwrap();
    let asked = bench.model.asked.lock().unwrap();
    let shown: Vec<Vec<String>> =
        asked.iter().map(|request| request.messages.iter().map(|message| format!("{message:?}")).collect()).collect();
    assert!(shown[1].starts_with(&shown[0]) && shown[2].starts_with(&shown[1])); // S-16
    assert!(matches!(&asked[2].messages[0], Message::System { text } if text == "Be brief."));
    // Results stand right behind their assistant message, and nowhere else.
    let lengths: Vec<usize> = shown.iter().map(Vec::len).collect();
    assert_eq!(lengths, [2, 5, 7]);
    assert_eq!(run.messages().len(), 8);
    let tools: Vec<&str> = asked[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        tools,
        [
            "ask", "ban", "book", "charge", "finish", "look", "note", "pay", "peek", "post", "put", "send", "ship",
            "stat"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn two_steps_are_too_few_for_a_script_of_three() {
    let bench = Bench::new([calls(&[("look", OK)]), calls(&[("look", OK)]), says("It is team-auth.")]);
    let bench = bench.within(|budget| budget.max_steps = 2);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::LimitReached, "max_steps".to_owned())); // R-205
    assert_eq!(bench.model.steps(), [0, 1]);
    // Resumed without more, nothing happens; with more, it goes on where it stood.
    let before = bench.bytes(run.run_id()).await;
    assert_eq!(stop(&bench.resume(run.run_id()).await).0, RunStatus::LimitReached);
    assert_eq!(bench.bytes(run.run_id()).await, before);
    let run = bench.resume_within(run.run_id(), Budget { max_steps: 3, ..Budget::default() }).await;
    assert_eq!(RunResult::of(&run).answer.as_deref(), Some("It is team-auth."));
    assert_eq!((bench.model.steps(), bench.world.entries().len()), (vec![0, 1, 2], 2));
}

#[tokio::test(start_paused = true)]
async fn used_up_actions_end_the_run_after_the_turn_and_more_of_them_reopen_it() {
    let turn: Vec<(&str, &str)> = vec![("look", OK); 8];
    let bench = Bench::new([calls(&turn), says("Done.")]).within(|budget| budget.max_valid_actions = 6);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::LimitReached, "max_valid_actions".to_owned()));
    assert_eq!(bench.world.entries().len(), 6); // par-limit-overshoot: never 8
    assert_eq!(codes(&run), [&["ok"; 6][..], &["limit_reached"; 2]].concat());
    let run = bench.resume_within(run.run_id(), Budget { max_valid_actions: 7, ..Budget::default() }).await;
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned()));
    assert_eq!(bench.model.told().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn refused_calls_leave_their_actions_to_others() {
    let mut turn = vec![("look", OK), ("look", r#"{"do":1}"#), ("nosuch", "{}"), ("look", OK), ("ban", OK)];
    turn.extend([("note", OK), ("look", OK), ("look", OK)]);
    let bench = Bench::new([calls(&turn)]).within(|budget| budget.max_valid_actions = 4);
    let run = bench.run().await;
    let refused = ["ok", "invalid_arguments", "unknown_tool", "ok", "policy_denied", "ok", "ok", "limit_reached"];
    assert_eq!(codes(&run), refused);
    assert_eq!(bench.world.entries().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn two_hundred_calls_in_one_turn() {
    let turn: Vec<(&str, &str)> = vec![("look", OK); 200];
    let bench = Bench::new([calls(&turn), says("That was much.")]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned())); // args-128-calls
    assert_eq!(bench.world.entries().len(), 32);
    assert_eq!(codes(&run), [&["ok"; 32][..], &["limit_reached"; 168]].concat());
    assert!(RunResult::of(&run).calls[32].reason.as_deref() == Some("max_calls_per_turn"));
}

#[tokio::test(start_paused = true)]
async fn invalid_calls_alone_end_by_their_steps() {
    let bench = Bench::new(vec![calls(&[("nosuch", "{}"), ("look", "{")]); 9]).within(|budget| budget.max_steps = 4);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::LimitReached, "max_steps".to_owned())); // R-121
    assert_eq!((run.steps(), run.valid_actions()), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_seen_with_real_results() {
    let bench = Bench::new(vec![calls(&[("look", OK)]); 9]).within(|budget| budget.max_repeated_turns = 3);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Failed, "loop_detected".to_owned())); // S-53
    assert_eq!(bench.model.steps(), [0, 1, 2]);
    // The same arguments, written differently, are the same arguments.
    let turns = [r#"{"do":"ok","n":1}"#, r#"{"n":1.0,"do":"ok"}"#, r#"{"do":"o\u006b","n":1e0}"#];
    let bench = Bench::new(turns.map(|arguments| calls(&[("look", arguments)])));
    let run = bench.within(|budget| budget.max_repeated_turns = 3).run().await;
    assert_eq!(stop(&run), (RunStatus::Failed, "loop_detected".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_dead_backend_fails_the_run() {
    let bench = Bench::new(vec![calls(&[("look", r#"{"do":"environment"}"#)]); 9]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Failed, "environment_unavailable".to_owned())); // R-109
    assert_eq!((run.steps(), run.valid_actions()), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_effect_stops_the_run_or_is_told() {
    for what in ["hangs", "panic", "bug", "environment", "lost", "undone"] {
        let arguments = format!(r#"{{"do":"{what}"}}"#);
        let turn = calls(&[("note", arguments.as_str()), ("look", OK)]);
        let mut bench = Bench::new([turn, says("Done.")]);
        let run = bench.run().await;
        assert_eq!(stop(&run), (RunStatus::NeedsReconciliation, "unknown_effect".to_owned()), "{what}");
        assert_eq!(codes(&run)[1], "blocked"); // S-21
        assert_eq!(bench.world.entered(), ["note"]);
        assert_eq!(bench.model.steps(), [0]);
        // Nothing reopens it from here.
        let before = bench.bytes(run.run_id()).await;
        bench.resume_within(run.run_id(), Budget::default()).await;
        assert_eq!(bench.bytes(run.run_id()).await, before);

        bench.on_unknown = OnUnknown::TellModel;
        let run = bench.run().await;
        assert_eq!(stop(&run), (RunStatus::Completed, "final_answer".to_owned()), "{what}");
        assert!(bench.model.told()[1].contains("blocked"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_completes_the_run_by_its_success_alone() {
    let bench = Bench::new([
        calls(&[("finish", r#"{"do":"business"}"#)]),
        calls(&[("finish", r#"{"do":5}"#)]),
        calls(&[("finish", OK), ("look", OK)]),
        says("Nobody asks for this."),
    ]);
    let run = bench.run().await;
    assert_eq!(stop(&run), (RunStatus::Completed, "goal_reached".to_owned())); // R-114, R-116
    assert_eq!(RunResult::of(&run).completed_by, Some(CompletedBy::Agent)); // R-115
    assert_eq!((bench.model.steps(), bench.world.entries().len()), (vec![0, 1, 2], 3));
}

/// An environment that says itself when it is done.
struct Environment;

impl ActionExecutor for Environment {
    fn execute<'a>(
        &'a self,
        call: &'a ToolCall,
        arguments: &'a Arguments,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ActionReport, Failure>> {
        let done = call.tool_name == "note" && arguments.text().contains("\"n\":9");
        Box::pin(async move { Ok(ActionReport { output: Output::raw(r#"{"n":0}"#), env_reported_completion: done }) })
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_environment_says_stays_apart_from_what_the_agent_says() {
    let completed = async |turn: Turn| {
        let mut bench = Bench::new([turn, says("It goes on.")]);
        bench.dispatch = Some(Dispatch::Own(Arc::new(Environment)));
        let run = bench.run().await;
        assert_eq!(bench.world.entries(), []); // the project acts itself (C-18)
        RunResult::of(&run).completed_by
    };
    let nine = r#"{"do":"ok","n":9}"#;
    assert_eq!(completed(calls(&[("note", nine)])).await, Some(CompletedBy::Environment));
    assert_eq!(completed(calls(&[("finish", OK)])).await, Some(CompletedBy::Agent));
    assert_eq!(completed(calls(&[("finish", OK), ("note", nine)])).await, Some(CompletedBy::Environment)); // R-115
    assert_eq!(completed(calls(&[("note", OK)])).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_registry_has_no_environment_to_ask() {
    // A tool that says so in its data says nothing.
    let bench = Bench::new([calls(&[("note", OK)]), says("Done.")]);
    let run = bench.run().await;
    assert_eq!(RunResult::of(&run).completed_by, None); // R-102, R-118
    for event in bench.events(run.run_id()).await {
        if let Body::Settled(settled) = event.body().unwrap() {
            assert!(!settled.env_reported_completion);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_with_equal_or_empty_provider_ids_are_different_calls() {
    let mut turn = calls(&[("note", r#"{"do":"ok","n":1}"#), ("note", r#"{"do":"ok","n":2}"#)]);
    if let Turn::Says(response) = &mut turn {
        response.calls.iter_mut().for_each(|call| call.provider_call_id.clear());
    }
    let bench = Bench::new([turn, says("Done.")]);
    let run = bench.run().await;
    assert_eq!(bench.world.entries().len(), 2); // ids-empty-or-duplicate
    assert_eq!(bench.model.told(), [r#"{"n":1}"#, r#"{"n":2}"#]);
    let ids: Vec<String> = run.calls().map(|call| call.call_id.to_string()).collect();
    assert_eq!(ids, ["run-000000000001:step-0:call-0", "run-000000000001:step-0:call-1"]); // R-207, R-218, R-227
    let keys: Vec<String> = bench.world.entries().into_iter().map(|entry| entry.idempotency_key).collect();
    assert_ne!(keys[0], keys[1]); // R-229, S-24
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_nested_too_deeply_end_one_call() {
    let deep = format!(r#"{{"do":"ok","key":{}}}"#, "[".repeat(3000));
    let bench = Bench::new([calls(&[("look", &deep), ("look", OK)]), says("Done.")]);
    let run = bench.run().await;
    assert_eq!(codes(&run), ["invalid_arguments", "ok"]);
    assert_eq!(RunResult::of(&run).calls[0].reason.as_deref(), Some("too_deep")); // args-deep-nesting
    assert_eq!(stop(&run).0, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_model_does_not_get_far() {
    let bench = Bench::new([]);
    let with = bench.runner();
    let runner =
        Runner::new(Arc::clone(with.gate()), Arc::new(crate::bench::Counter::default()), RunnerOptions::default());
    let error = runner.start(bench.task()).await.unwrap_err();
    assert!(matches!(error, RunError::NoModel(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_there() {
    let bench = Bench::new([]);
    let run = "run-000000000009".into();
    for error in [
        bench.runner().resume(&run, lockgate_harness::Resume::default()).await.unwrap_err(),
        bench.runner().state(&run).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "there is no run `run-000000000009`");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ended_is_left_as_it_is() {
    for (turns, status) in [
        (vec![says("Done.")], RunStatus::Completed),
        (vec![Turn::Fails(lockgate_contract::ports::ModelError::ScriptExhausted)], RunStatus::Failed),
        (vec![calls(&[("note", r#"{"do":"lost"}"#)])], RunStatus::NeedsReconciliation),
    ] {
        let bench = Bench::new(turns);
        let run = bench.run().await;
        assert_eq!(run.stop().map(Stop::status), Some(status));
        let (before, asked) = (bench.bytes(run.run_id()).await, bench.model.steps());
        for _ in 0..2 {
            let again = bench.resume_within(run.run_id(), Budget { max_steps: 99, ..Budget::default() }).await;
            assert_eq!(format!("{again:?}"), format!("{run:?}"));
        }
        assert_eq!((bench.bytes(run.run_id()).await, bench.model.steps()), (before, asked));
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_policy_means_nothing_before_a_recovery() {
    // `put` may be repeated, `note` may not; both break, and the run goes on.
    for outcome in [r#"{"do":"broken"}"#, r#"{"do":"bug"}"#, r#"{"do":"hangs"}"#] {
        let mut shown = Vec::new();
        for tool in ["put", "note"] {
            let bench = Bench::new([calls(&[(tool, outcome)]), says("So be it.")]);
            let run = bench.run().await;
            assert_eq!(bench.world.entered(), [tool]); // R-124: once, whatever it may be
            shown.push((codes(&run), bench.kinds(run.run_id()).await));
        }
        assert_eq!(shown[0], shown[1], "{outcome}"); // R-124
    }
}
