//! A cancel reaches a call wherever it is, except inside a commit (R-101, S-23).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::tool::{Output, ToolContext};
use lockgate_executor::Released;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bench::{
    Answer, EFFECTS, Method, Setup, answering, code, count, pending, reached, settlement, tool, with_handler,
};

#[tokio::test]
async fn before_it_started_nothing_runs_and_nobody_is_asked() {
    for decision in [PolicyDecision::Allow, PolicyDecision::Ask] {
        let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(decision)).build().await;
        bench.scope.cancel.cancel();
        for effect in EFFECTS {
            let released = bench.send(&bench.request(effect.word(), "{}")).await;
            assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}"); // R-101
        }
        assert_eq!((bench.handler_count(), bench.journal.calls(Method::Ask)), (0, 0));
        assert!(bench.kinds().await.is_empty()); // The driver writes the ending.
    }
}

#[tokio::test]
async fn what_is_refused_is_refused_also_when_cancelled() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(PolicyDecision::Deny)).build().await;
    bench.scope.cancel.cancel();
    assert_eq!(code(&bench.call("write").await), "policy_denied");
    assert_eq!(code(&bench.call("nothing").await), "unknown_tool");
}

#[tokio::test]
async fn while_the_policy_thinks() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Never).build().await;
    let call = async { bench.send(&bench.request("write", "{}")).await };
    let (released, ()) = tokio::join!(call, async { bench.scope.cancel.cancel() });
    assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}");
    assert_eq!((count(&bench.counters.policy), bench.handler_count()), (1, 0));
}

#[tokio::test]
async fn during_the_commit_of_the_intent_the_handler_does_not_start() {
    let bench = Setup::new(|counters| answering(counters, "1")).build().await;
    let (entered, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    bench.journal.hold(Method::Claim, Arc::clone(&entered), Arc::clone(&go));
    let call = async { bench.send(&bench.request("write", "{}")).await };
    let cancel = async {
        reached(&entered).await;
        bench.scope.cancel.cancel();
        go.notify_one();
    };
    let (released, ()) = tokio::join!(call, cancel);
    assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}");
    assert_eq!(bench.handler_count(), 0);
    assert_eq!(bench.kinds().await, ["tool.requested", "tool.started"]); // A commit is never broken off.
}

#[tokio::test]
async fn while_it_looks_for_the_approval_the_approval_is_not_used_up() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(PolicyDecision::Ask)).build().await;
    let request = bench.approved("write").await;
    let (entered, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    bench.journal.hold(Method::Approval, Arc::clone(&entered), Arc::clone(&go));
    let cancel = async {
        reached(&entered).await;
        bench.scope.cancel.cancel();
        go.notify_one();
    };
    let (released, ()) = tokio::join!(bench.send(&request), cancel);
    assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}");
    assert_eq!((bench.journal.calls(Method::Claim), bench.handler_count()), (0, 0));
}

#[tokio::test]
async fn while_it_runs() {
    for effect in EFFECTS {
        let bench = Setup::new(pending).build().await;
        let request = bench.request(effect.word(), "{}");
        let (released, ()) = tokio::join!(bench.send(&request), async { bench.scope.cancel.cancel() });
        assert!(matches!(released, Released::Cancelled { started: true }), "{released:?}"); // R-101
        assert!(bench.endings(&request.call.call_id).await.is_empty());
        // The driver settles it through the same door.
        let interrupted = lockgate_contract::outcome::Code::Interrupted;
        let released =
            bench.gate.settle(request.clone(), interrupted, true, "the run was cancelled", &bench.scope).await;
        assert_eq!(code(&settlement(released)), "interrupted");
        bench.ending(&request.call.call_id).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_there_counts() {
    let run: Arc<OnceLock<CancellationToken>> = Arc::default();
    let seen = Arc::clone(&run);
    let bench = Setup::new(move |counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, move |_, _| {
            seen.get().unwrap().cancel();
            async { Ok(Output::of("done")) }
        })]
    })
    .build()
    .await;
    run.set(bench.scope.cancel.clone()).unwrap();
    assert_eq!(code(&bench.call("write").await), "ok");
}

#[tokio::test]
async fn no_handler_can_stop_the_run() {
    let bench = Setup::new(|counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, |_, context: ToolContext| async move {
            context.cancel.cancel();
            tokio::task::yield_now().await;
            Ok(Output::of("done"))
        })]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "ok");
    assert!(!bench.scope.cancel.is_cancelled()); // R-080, R-199, R-204
}

#[tokio::test(start_paused = true)]
async fn one_call_that_ends_takes_no_other_along() {
    let bench = Setup::new(|counters| {
        let quick = tool(counters, Effect::Write).timeout(Duration::from_secs(1)).permission(Permission::Allow);
        let slow = tool(counters, Effect::Read).timeout(Duration::from_mins(1));
        vec![
            with_handler(quick, counters, |_, _| std::future::pending()),
            with_handler(slow, counters, |_, context: ToolContext| async move {
                tokio::select! {
                    () = context.cancel.cancelled() => Ok(Output::of("stopped")),
                    () = tokio::time::sleep(Duration::from_secs(30)) => Ok(Output::of("finished")),
                }
            }),
        ]
    })
    .build()
    .await;
    let (quick, slow) = tokio::join!(bench.call("write"), bench.call("read"));
    assert_eq!(code(&quick), "timed_out");
    assert_eq!(slow.result().data.as_ref().unwrap().text(), r#""finished""#);
}

#[tokio::test]
async fn a_handler_sees_that_its_run_was_cancelled() {
    let bench = Setup::new(|counters| {
        vec![with_handler(tool(counters, Effect::Write), counters, |_, context: ToolContext| async move {
            context.cancel.cancelled().await;
            Ok(Output::of("cleaned up"))
        })]
    })
    .build()
    .await;
    let call = async { bench.send(&bench.request("write", "{}")).await };
    let (released, ()) = tokio::join!(call, async { bench.scope.cancel.cancel() });
    // It is polled once more, and its answer counts.
    assert_eq!(code(&settlement(released)), "ok");
}
