//! A project's own action executor stands at the run stage, behind every other check (C-18, R-046, R-051, R-118).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ToolCall;
use lockgate_contract::effect::{Effect, OnDuplicate, Permission};
use lockgate_contract::outcome::Status;
use lockgate_contract::ports::{ActionExecutor, ActionReport, BoxFuture};
use lockgate_contract::tool::{Failure, Output, ToolContext, ToolEnvironmentError, ToolSpec};
use lockgate_executor::{Dispatch, EarlierCall};

use crate::bench::{Bench, Fault, Method, Setup, code, settlement};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    Completes,
    Answers,
    AnswersWrongly,
    EnvironmentFails,
    Panics,
    PanicsAtOnce,
    Never,
}

struct Own {
    behaviour: Behaviour,
    actions: Arc<AtomicUsize>,
}

impl ActionExecutor for Own {
    fn execute<'a>(
        &'a self,
        call: &'a ToolCall,
        arguments: &'a Arguments,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ActionReport, Failure>> {
        self.actions.fetch_add(1, Ordering::SeqCst);
        assert!(self.behaviour != Behaviour::PanicsAtOnce, "no future at all");
        Box::pin(async move {
            let output = match self.behaviour {
                Behaviour::AnswersWrongly => Output::of(&1),
                _ => Output::new(arguments.document().clone()),
            };
            assert_eq!(call.arguments_text, arguments.text());
            match self.behaviour {
                Behaviour::Panics => panic!("the environment broke"),
                Behaviour::Never => std::future::pending().await,
                Behaviour::EnvironmentFails => Err(ToolEnvironmentError::new("gone").into()),
                behaviour => Ok(ActionReport { output, env_reported_completion: behaviour != Behaviour::Answers }),
            }
        })
    }
}

async fn bench(behaviour: Behaviour, permission: Permission) -> (Bench, Arc<AtomicUsize>) {
    bench_of(behaviour, permission, OnDuplicate::RunEach).await
}

async fn bench_of(behaviour: Behaviour, permission: Permission, rule: OnDuplicate) -> (Bench, Arc<AtomicUsize>) {
    let actions = Arc::new(AtomicUsize::new(0));
    let own = Own { behaviour, actions: Arc::clone(&actions) };
    // No tool has a handler: the model sees the schemas, the gate still checks names and arguments (R-046).
    let mut setup = Setup::new(|_| {
        let spec = ToolSpec::builder("step")
            .effect(Effect::Write)
            .permission(permission)
            .on_duplicate(rule)
            .input_schema_text(
                r#"{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}"#,
            )
            .output_schema_text(r#"{"type":"object"}"#);
        vec![spec.build().unwrap()]
    });
    setup.dispatch = Some(Dispatch::Own(Arc::new(own)));
    (setup.build().await, actions)
}

#[tokio::test]
async fn only_it_reports_completion_of_the_environment() {
    for (behaviour, completion) in [(Behaviour::Completes, true), (Behaviour::Answers, false)] {
        let (bench, _) = bench(behaviour, Permission::Allow).await;
        let settlement = settlement(bench.send(&bench.request("step", r#"{"n":7}"#)).await);
        assert_eq!(settlement.outcome().env_reported_completion, completion); // R-102, R-118
        assert_eq!(settlement.result().data.as_ref().unwrap().text(), r#"{"n":7}"#);
        assert_eq!(bench.ending(&settlement.result().call_id).await.env_reported_completion, completion);
    }
}

#[tokio::test]
async fn it_claims_nothing_with_a_call_that_fails() {
    for (behaviour, expected, status) in [
        (Behaviour::AnswersWrongly, "invalid_tool_output", Status::Executed),
        (Behaviour::EnvironmentFails, "environment_error", Status::EnvError),
        (Behaviour::Panics, "tool_internal_error", Status::Executed),
        (Behaviour::PanicsAtOnce, "tool_internal_error", Status::Executed),
    ] {
        let (bench, actions) = bench(behaviour, Permission::Allow).await;
        let settlement = bench.call("step").await;
        assert_eq!((code(&settlement), settlement.settled().status), (expected, status), "{behaviour:?}");
        assert!(!settlement.outcome().env_reported_completion, "{behaviour:?}"); // R-116, R-118
        assert_eq!(actions.load(Ordering::SeqCst), 1);
    }
    let (bench, _) = bench(Behaviour::Completes, Permission::Allow).await;
    bench.journal.fail(Method::Settle, 0, Fault::Unavailable);
    let lost = bench.call("step").await;
    assert_eq!((code(&lost), lost.outcome().env_reported_completion), ("result_not_recorded", false));
}

#[tokio::test]
async fn a_result_that_is_shared_completes_nothing_again() {
    let (bench, _) = bench_of(Behaviour::Completes, Permission::Allow, OnDuplicate::ShareResult).await;
    let first = bench.call("step").await;
    assert!(first.settled().env_reported_completion);
    let mut request = bench.request("step", "{}");
    request.terms.earlier = Arc::new(vec![EarlierCall {
        call_id: first.result().call_id.clone(),
        tool_name: "step".to_owned(),
        arguments_digest: first.settled().audit.arguments_digest.unwrap(),
        settled: first.settled().clone(),
    }]);
    let second = settlement(bench.send(&request).await);
    assert!(second.result().meta.deduplicated.is_some());
    assert!(!second.settled().env_reported_completion); // R-102: the environment said it once
}

#[tokio::test(start_paused = true)]
async fn it_is_timed_out_like_any_handler() {
    let (bench, _) = bench(Behaviour::Never, Permission::Allow).await;
    assert_eq!(code(&bench.call("step").await), "timed_out");
}

#[tokio::test]
async fn it_stands_behind_every_check() {
    for (name, arguments, permission, expected) in [
        ("step", "{", Permission::Allow, "invalid_arguments"),
        ("leap", "{}", Permission::Allow, "unknown_tool"),
        ("step", r#"{"n":"x"}"#, Permission::Allow, "invalid_arguments"),
        ("step", "{}", Permission::Deny, "policy_denied"),
    ] {
        let (bench, actions) = bench(Behaviour::Completes, permission).await;
        let settlement = settlement(bench.send(&bench.request(name, arguments)).await);
        assert_eq!(code(&settlement), expected); // R-061, R-064
        assert_eq!(actions.load(Ordering::SeqCst), 0, "{expected}");
    }
    let (bench_of_claims, actions) = bench(Behaviour::Completes, Permission::Allow).await;
    bench_of_claims.journal.fail(Method::Claim, 0, Fault::Unavailable);
    assert_eq!(code(&bench_of_claims.call("step").await), "storage_unavailable");
    assert_eq!(actions.load(Ordering::SeqCst), 0); // R-125

    let (bench, actions) = bench(Behaviour::Completes, Permission::Ask).await;
    let mut request = bench.request("step", "{}");
    let open = bench.ask(&request).await;
    assert_eq!(actions.load(Ordering::SeqCst), 0); // R-173
    bench.decide(open.approval_id(), ApprovalState::Granted).await;
    request.terms.requested_before = true;
    assert_eq!(code(&settlement(bench.send(&request).await)), "ok");
    assert_eq!(actions.load(Ordering::SeqCst), 1);
}
