//! What a decision looked at holds when its call is claimed, or the call is decided about again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::event::{Body, Event};
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::ports::{ApprovalFilter, BoxFuture, HookAnswer, HookedCall, Journal, PolicyDecision, VetoHook};
use lockgate_contract::tool::Output;
use lockgate_executor::{Released, Veto};

use crate::bench::{
    Answer, Bench, Counters, EFFECTS, Fault, Method, Setup, answering, code, count, named, settlement, tool,
    with_handler, word,
};

async fn bench(answer: Answer) -> Bench {
    Setup::new(|counters| answering(counters, "1")).policy(answer).build().await
}

/// The policies that stand in the start of a call.
fn started_by(events: &[Event]) -> Vec<Vec<String>> {
    let starts = events.iter().filter_map(|event| match event.body().unwrap() {
        Body::ToolStarted(started) => Some(started.policies),
        _ => None,
    });
    starts.collect()
}

async fn state_of(bench: &Bench, approval: &ApprovalId) -> ApprovalState {
    let approvals = bench.journal.inner().approvals(ApprovalFilter::default()).await.unwrap();
    approvals.iter().find(|one| one.approval_id == *approval).unwrap().state
}

#[tokio::test]
async fn a_number_that_changes_is_decided_about_again() {
    for effect in EFFECTS {
        let bench = bench(Answer::Fewer(3, PolicyDecision::Deny)).await;
        bench.journal.rivals(2);
        let settled = bench.call(named(effect)).await;
        assert_eq!((code(&settled), bench.handler_count(), count(&bench.counters.policy)), ("ok", 1, 3), "{effect:?}");
        assert_eq!(bench.kinds().await, ["tool.requested", "tool.started", "tool.finished"], "{effect:?}");
        // It says on what it was decided, in the journal and in the audit.
        assert_eq!(started_by(&bench.events().await), [["test:after-2"]]);
        assert_eq!(settled.settled().audit.policies, ["test:after-2"]);
    }
}

/// Lets every call pass, and counts them.
#[derive(Default)]
struct Passing(AtomicUsize);

impl VetoHook for Passing {
    fn before<'a>(&'a self, _call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(HookAnswer::Pass)))
    }
}

#[tokio::test]
async fn a_hook_that_let_the_call_pass_is_not_asked_for_each_number() {
    for effect in EFFECTS {
        let hook = Arc::new(Passing::default());
        let setup = Setup::new(|counters| answering(counters, "1")).policy(Answer::Fewer(9, PolicyDecision::Deny));
        let bench = setup.veto(Veto::new("guard", Arc::clone(&hook) as Arc<dyn VetoHook>)).build().await;
        bench.journal.rivals(3);
        assert_eq!(code(&bench.call(named(effect)).await), "ok");
        assert_eq!((count(&bench.counters.policy), count(&hook.0)), (4, 1), "{effect:?}");
        // Each call is asked about.
        assert_eq!(code(&bench.call(named(effect)).await), "ok");
        assert_eq!(count(&hook.0), 2, "{effect:?}");
    }
}

#[tokio::test]
async fn what_the_new_number_denies_does_not_start() {
    for effect in EFFECTS {
        let bench = bench(Answer::Fewer(3, PolicyDecision::Deny)).await;
        bench.journal.rivals(3);
        let settled = bench.call(named(effect)).await;
        assert_eq!((code(&settled), bench.handler_count()), ("policy_denied", 0), "{effect:?}");
        assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"], "{effect:?}");
    }
}

#[tokio::test]
async fn what_the_new_number_asks_about_waits_for_a_person() {
    let bench = bench(Answer::Fewer(1, PolicyDecision::Ask)).await;
    bench.journal.rivals(1);
    let mut request = bench.request("external", "{}");
    let open = bench.ask(&request).await;
    assert_eq!(bench.kinds().await, ["tool.requested", "approval.requested"]);
    bench.decide(open.approval_id(), ApprovalState::Granted).await;
    request.terms.requested_before = true;
    // The yes is to the call, whatever the number is: it is used once, however often the number changes.
    bench.journal.rivals(4);
    assert_eq!(word(&bench.send(&request).await), "ok");
    assert_eq!(state_of(&bench, open.approval_id()).await, ApprovalState::Consumed);
    let kinds = bench.kinds().await;
    assert_eq!(kinds[2..], ["approval.decided", "approval.consumed", "tool.started", "tool.finished"]);
    assert_eq!(bench.handler_count(), 1);
}

#[tokio::test]
async fn a_number_that_never_holds_ends_in_a_refusal() {
    for (then, asks) in [(PolicyDecision::Deny, false), (PolicyDecision::Ask, true)] {
        let most = if asks { 0 } else { u64::MAX };
        let bench = bench(Answer::Fewer(most, then)).await;
        let request = if asks { bench.approved("external").await } else { bench.request("external", "{}") };
        let before = count(&bench.counters.policy);
        bench.journal.rivals(1_000);
        let settled = settlement(bench.send(&request).await);
        assert_eq!((code(&settled), bench.handler_count()), ("limit_reached", 0));
        assert_eq!(settled.settled().reason.as_deref(), Some("quota"));
        let audit = settled.settled().audit.text.as_deref().unwrap();
        assert_eq!(audit, "the count `calls` has changed since the call was decided");
        assert_eq!(count(&bench.counters.policy) - before, 64);
        assert!(!bench.kinds().await.iter().any(|kind| kind == "tool.started" || kind == "approval.consumed"));
    }
}

#[tokio::test]
async fn a_read_that_is_counted_for_stands_in_the_journal_before_it_runs() {
    for (answer, claims) in [(Answer::Native, 0), (Answer::Fewer(9, PolicyDecision::Deny), 1)] {
        let bench = bench(answer).await;
        assert_eq!(code(&bench.call(named(Effect::Read)).await), "ok");
        assert_eq!((bench.journal.calls(Method::Claim), bench.journal.calls(Method::Admitted)), (claims, claims));
    }
}

#[tokio::test]
async fn without_the_journal_there_is_no_decision() {
    for fault in [Fault::Unavailable, Fault::Panic] {
        for nth in [0, 1] {
            let bench = bench(Answer::Fewer(9, PolicyDecision::Deny)).await;
            bench.journal.rivals(1);
            bench.journal.fail(Method::Admitted, nth, fault);
            let settled = bench.call("external").await;
            assert_eq!((code(&settled), bench.handler_count()), ("storage_unavailable", 0), "{fault:?}, {nth}");
            assert_eq!(bench.kinds().await, ["tool.requested", "tool.failed"], "{fault:?}, {nth}");
        }
    }
}

#[tokio::test]
async fn what_was_found_before_the_decision_is_not_found_twice() {
    let relaxed = |counters: &Arc<Counters>| {
        let relaxed = tool(counters, Effect::Write).permission(Permission::Ask).harmless_when(|_| true);
        vec![with_handler(relaxed, counters, |_, _| async { Ok(Output::of("done")) })]
    };
    let bench = Setup::new(relaxed).policy(Answer::Fewer(9, PolicyDecision::Deny)).build().await;
    bench.journal.rivals(2);
    assert_eq!(code(&bench.call("write").await), "ok");
    assert_eq!(bench.kinds().await, ["tool.requested", "tool.relaxed", "tool.started", "tool.finished"]);
}

#[tokio::test]
async fn a_run_that_is_cancelled_between_two_decisions_starts_nothing() {
    let bench = bench(Answer::Fewer(9, PolicyDecision::Deny)).await;
    bench.journal.rivals(1);
    let (entered, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    bench.journal.hold(Method::Claim, Arc::clone(&entered), Arc::clone(&go));
    let request = bench.request("external", "{}");
    let cancel = async {
        crate::bench::reached(&entered).await;
        bench.scope.cancel.cancel();
        go.notify_one();
    };
    let (released, ()) = tokio::join!(bench.send(&request), cancel);
    assert!(matches!(released, Released::Cancelled { started: false }), "{released:?}");
    assert_eq!(bench.handler_count(), 0);
    assert!(!bench.kinds().await.contains(&"tool.started".to_owned()));
}
