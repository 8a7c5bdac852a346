//! An approval lets one call run once, and only the call that was shown (part 5, "approval"; R-167…R-173, S-35…S-45).

mod files;
mod records;

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{Journal, Lease, PolicyDecision};
use lockgate_contract::tool::{Output, ToolSpec};
use lockgate_executor::{GateOptions, Released};
use lockgate_registry::ReplacementRule;

use crate::bench::{
    Answer, Bench, Counters, Method, Setup, answering, code, count, reached, settlement, tool, with_handler, word,
};

fn asking(counters: &Arc<Counters>, effect: Effect, version: &str) -> ToolSpec {
    let builder = tool(counters, effect).permission(Permission::Ask).version(version.to_owned());
    with_handler(builder, counters, |_, _| async { Ok(Output::of("done")) })
}

/// A bench whose tools ask, with a second tool of the same shape.
async fn bench(effect: Effect) -> Bench {
    Setup::new(|counters| {
        let other = lockgate_contract::tool::ToolSpec::builder("other")
            .effect(effect)
            .permission(Permission::Ask)
            .input_schema_text(
                r#"{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}"#,
            );
        vec![asking(counters, effect, "2.5"), with_handler(other, counters, |_, _| async { Ok(Output::of("done")) })]
    })
    .build()
    .await
}

#[tokio::test]
async fn the_call_runs_under_its_own_id_and_the_use_stands_before_it() {
    let bench = bench(Effect::External).await;
    let request = bench.approved("external").await;
    let settlement = settlement(bench.send(&request).await);
    assert_eq!(settlement.result().call_id, request.call.call_id); // R-172
    let expected = [
        "tool.requested",
        "approval.requested",
        "approval.decided",
        "approval.consumed",
        "tool.started",
        "tool.finished",
    ];
    assert_eq!(bench.kinds().await, expected); // S-51, S-52
    let record =
        bench.journal.approval(settlement.settled().audit.approval_id.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!(record.state, ApprovalState::Consumed);
    assert_eq!(record.arguments_digest, settlement.settled().audit.arguments_digest.unwrap()); // R-171
    assert_eq!(record.expires_at.since(record.requested_at), Duration::from_mins(10)); // R-171
    assert_eq!(record.call_id, request.call.call_id);
}

#[tokio::test]
async fn an_approved_call_that_is_sent_again_gets_its_first_result() {
    for effect in [Effect::Write, Effect::External] {
        let bench = bench(effect).await;
        let request = bench.approved(effect.word()).await;
        let first = settlement(bench.send(&request).await);
        for _ in 0..3 {
            let again = settlement(bench.send(&request).await);
            assert_eq!(code(&again), "ok");
            assert_eq!(again.result().data.as_ref().unwrap().text(), first.result().data.as_ref().unwrap().text());
            assert_eq!(again.result().meta.deduplicated.as_ref(), Some(&request.call.call_id)); // S-31
        }
        assert_eq!(bench.handler_count(), 1);
        bench.ending(&request.call.call_id).await;
    }
}

#[tokio::test]
async fn a_record_that_is_bound_to_something_else_lets_nothing_run() {
    // An approval's id is the start of its digest: another digest can have the same start.
    for state in [ApprovalState::Granted, ApprovalState::Pending, ApprovalState::Consumed] {
        let (bench, other) = (bench(Effect::Write).await, bench(Effect::Write).await);
        let asked = other.ask(&other.request("write", "{}")).await;
        let record = other.journal.approval(asked.approval_id()).await.unwrap().unwrap();
        let record = Approval { digest: Digest::of_text("a test", "something else"), state, ..record };
        bench.journal.inner().ask(&Lease::first(bench.run_id.clone()), record, Vec::new()).await.unwrap();
        assert_eq!(word(&bench.send(&bench.request("write", "{}")).await), "approval_stale", "{state:?}"); // R-168
        assert_eq!(bench.handler_count(), 0);
    }
}

#[tokio::test]
async fn two_at_once_run_one() {
    for effect in [Effect::Write, Effect::External] {
        let bench = bench(effect).await;
        let request = bench.approved(effect.word()).await;
        let sent = tokio::join!(bench.send(&request), bench.send(&request), bench.send(&request));
        assert_eq!(bench.handler_count(), 1); // S-45
        bench.ending(&request.call.call_id).await;
        drop(sent);
    }
}

#[tokio::test]
async fn a_grant_that_runs_out_before_it_is_used_is_too_late() {
    // The store judges by its own clock, in the commit of the claim.
    let bench = bench(Effect::External).await;
    let request = bench.approved("external").await;
    // The gate finds the approval granted, and then somebody holds the run's log until the time is over.
    let (entered, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let holder = {
        let (entered, go, log) = (Arc::clone(&entered), Arc::clone(&go), Arc::clone(&bench.scope.log));
        bench.journal.hold(Method::Append, Arc::clone(&entered), Arc::clone(&go));
        tokio::spawn(async move { log.append(Vec::new()).await })
    };
    reached(&entered).await;
    let call = bench.send(&request);
    let release = async {
        while bench.journal.calls(Method::Approval) < 2 {
            tokio::task::yield_now().await;
        }
        bench.clock.pass(Duration::from_secs(601));
        go.notify_one();
    };
    let (released, ()) = tokio::join!(call, release);
    holder.await.unwrap().unwrap();
    assert_eq!(word(&released), "approval_expired");
    assert_eq!(bench.journal.calls(Method::Claim), 1); // It was refused by the claim, not before.
    assert_eq!(bench.handler_count(), 0); // R-173
    assert!(!bench.kinds().await.contains(&"tool.started".to_owned()));
}

#[tokio::test]
async fn an_approval_taken_back_before_it_is_used_lets_nothing_run() {
    let bench = bench(Effect::Write).await;
    let request = bench.approved("write").await;
    let (entered, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    bench.journal.hold(Method::Claim, Arc::clone(&entered), Arc::clone(&go));
    let take_back = async {
        reached(&entered).await;
        let open = bench.journal.approvals(lockgate_contract::ports::ApprovalFilter::default()).await.unwrap();
        bench.decide(&open[0].approval_id, ApprovalState::Withdrawn).await;
        go.notify_one();
    };
    let (released, ()) = tokio::join!(bench.send(&request), take_back);
    assert_eq!(word(&released), "approval_withdrawn");
    assert_eq!(bench.handler_count(), 0); // R-173
}

#[tokio::test]
async fn a_denial_of_the_policy_stands_above_any_approval() {
    for answer in [Answer::Is(PolicyDecision::Deny), Answer::Error, Answer::Panic] {
        let mut bench = bench(Effect::Write).await;
        let request = bench.approved("write").await;
        // The same run, resumed under a stricter policy.
        let policy = crate::bench::ScriptedPolicy::new(answer, Arc::clone(&bench.counters));
        let redactor = Arc::clone(bench.gate.redactor());
        bench.gate = lockgate_executor::Gate::builder(
            Arc::clone(&bench.registry),
            Arc::new(policy),
            bench.journal.clone(),
            redactor,
            bench.clock.clone(),
        )
        .build()
        .unwrap();
        let released = bench.send(&request).await;
        assert_eq!(word(&released), "policy_denied", "{answer:?}"); // S-36, S-38
        assert_eq!(bench.handler_count(), 0);
    }
}

#[tokio::test]
async fn a_time_that_was_shortened_meanwhile_holds_for_a_yes_that_stands() {
    for (most, expected, runs) in [(3, "approval_expired", 0), (5, "ok", 1)] {
        let mut bench = bench(Effect::External).await;
        let request = bench.approved("external").await;
        bench.clock.pass(Duration::from_mins(4));
        let approval_max_expires = [(Effect::External, Duration::from_mins(most))].into();
        bench.resume_under(GateOptions { approval_max_expires, ..GateOptions::default() });
        assert_eq!(word(&bench.send(&request).await), expected); // S-38
        assert_eq!(bench.handler_count(), runs); // R-173
    }
}

#[tokio::test]
async fn resuming_checks_everything_again() {
    // Each against a granted approval: registered, allowed, schema, the tool's own check come first (S-36, S-38).
    let bench_a = bench(Effect::Write).await;
    let request = bench_a.approved("write").await;
    bench_a.registry.revoke("write");
    assert_eq!(word(&bench_a.send(&request).await), "unknown_tool"); // R-151
    assert_eq!(bench_a.handler_count(), 0);

    let bench_b = bench(Effect::Write).await;
    let request = bench_b.approved("write").await;
    bench_b.registry.replace(asking(&bench_b.counters, Effect::Write, "9"), ReplacementRule::Stop).unwrap();
    assert_eq!(word(&bench_b.send(&request).await), "definition_changed"); // R-147
    assert_eq!(bench_b.handler_count(), 0);
}

#[tokio::test]
async fn a_caller_who_may_send_the_right_arguments_again_finds_the_call_open() {
    let mut bench = bench(Effect::Write).await;
    bench.scope.stale_approval_settles = false;
    let mut request = bench.request("write", r#"{"n":5}"#);
    let approval = bench.ask(&request).await.approval_id().clone();
    bench.decide(&approval, ApprovalState::Granted).await;
    request.terms.requested_before = true;
    request.terms.approval = Some(approval);
    request.call.arguments_text = r#"{"n":5000}"#.to_owned();
    let stale = bench.send(&request).await;
    assert_eq!(word(&stale), "approval_stale");
    assert!(matches!(stale, Released::Open(_)));
    assert!(bench.endings(&request.call.call_id).await.is_empty());
    assert_eq!(bench.handler_count(), 0);
    // Written another way, it is the same value.
    request.call.arguments_text = "{ \"n\" : 5.0 }".to_owned();
    assert_eq!(word(&bench.send(&request).await), "ok");
    assert_eq!(bench.handler_count(), 1);
}

#[tokio::test]
async fn a_question_is_asked_once_however_often_the_call_comes() {
    let bench = bench(Effect::Write).await;
    let request = bench.request("write", "{}");
    let (first, second) = tokio::join!(bench.ask(&request), bench.ask(&request));
    assert_eq!(first.approval_id(), second.approval_id());
    assert_eq!(bench.ask(&request).await.approval_id(), first.approval_id());
    let kinds = bench.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "approval.requested").count(), 1);
}

#[tokio::test]
async fn decisions_belong_to_their_call_in_whatever_order_they_come() {
    let bench = bench(Effect::Write).await;
    let mut requests = [bench.request("write", r#"{"n":1}"#), bench.request("write", r#"{"n":1}"#)];
    let first = bench.ask(&requests[0]).await.approval_id().clone();
    let second = bench.ask(&requests[1]).await.approval_id().clone();
    assert_ne!(first, second); // R-218
    bench.decide(&second, ApprovalState::Granted).await;
    bench.decide(&first, ApprovalState::Denied).await;
    for request in &mut requests {
        request.terms.requested_before = true;
    }
    assert_eq!(word(&bench.send(&requests[1]).await), "ok"); // R-219
    assert_eq!(word(&bench.send(&requests[0]).await), "approval_denied");
    assert_eq!(bench.handler_count(), 1);
}

#[tokio::test]
async fn a_read_that_is_asked_for_uses_its_approval_too() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(PolicyDecision::Ask)).build().await;
    let request = bench.approved("read").await;
    assert_eq!(word(&bench.send(&request).await), "ok");
    assert_eq!(bench.journal.calls(Method::Claim), 1);
    assert!(bench.kinds().await.contains(&"approval.consumed".to_owned()));
}

#[tokio::test]
async fn nobody_is_asked_for_what_is_refused_anyway() {
    let bench = Setup::new(|counters| {
        let rejecting = tool(counters, Effect::Write).permission(Permission::Ask).pre_check(|_| Err("No.".to_owned()));
        let denied = ToolSpec::builder("denied").effect(Effect::External).permission(Permission::Deny);
        vec![
            with_handler(rejecting, counters, |_, _| async { Ok(Output::of(&1)) }),
            with_handler(denied, counters, |_, _| async { Ok(Output::of(&1)) }),
        ]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "rejected_by_tool"); // C-15, Z-30
    assert_eq!(count(&bench.counters.policy), 0); // R-081
    assert_eq!(code(&bench.call("denied").await), "policy_denied");
    assert_eq!(bench.journal.calls(Method::Ask), 0);
}

#[tokio::test]
async fn an_answer_counts_also_where_nobody_would_ask_any_more() {
    // appr-decline-executes: the process that resumes has a policy that allows everything.
    for (answer, expected, runs) in [
        (Some(ApprovalState::Denied), "approval_denied", 0),
        (Some(ApprovalState::Withdrawn), "approval_withdrawn", 0),
        (None, "approval_required", 0), // S-45: a question that is open is not a yes.
        (Some(ApprovalState::Granted), "ok", 1),
    ] {
        for effect in [Effect::Write, Effect::External] {
            let mut bench = bench(effect).await;
            let mut request = bench.request(effect.word(), "{}");
            let approval = bench.ask(&request).await.approval_id().clone();
            if let Some(answer) = answer {
                bench.decide(&approval, answer).await;
            }
            let policy =
                crate::bench::ScriptedPolicy::new(Answer::Is(PolicyDecision::Allow), Arc::clone(&bench.counters));
            bench.gate = lockgate_executor::Gate::builder(
                Arc::clone(&bench.registry),
                Arc::new(policy),
                bench.journal.clone(),
                Arc::clone(bench.gate.redactor()),
                bench.clock.clone(),
            )
            .build()
            .unwrap();
            request.terms.requested_before = true;
            request.terms.approval = Some(approval);
            assert_eq!(word(&bench.send(&request).await), expected, "{answer:?}, {effect}");
            assert_eq!(bench.handler_count(), runs, "{answer:?}, {effect}"); // R-173
        }
    }
}
