//! A caller that drops a call leaves exactly one ending behind, wherever the call was (architecture rule 4, R-212).

use futures_util::FutureExt as _;
use lockgate_contract::effect::Effect;
use lockgate_contract::ports::PolicyDecision;

use crate::bench::{Answer, Bench, EFFECTS, Fault, Method, Setup, answering, pending};

/// Polls the call until it waits, and drops it there.
async fn drop_where_it_waits(bench: &Bench, request: &lockgate_executor::Request) {
    let mut call = Box::pin(bench.send(request));
    assert!((&mut call).now_or_never().is_none(), "the call ended");
    drop(call);
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn each_place_in_which_a_call_can_wait() {
    type Stand = fn(Answer) -> Setup;
    let answers: Stand = |answer| Setup::new(|counters| answering(counters, "1")).policy(answer);
    let hangs: Stand = |answer| Setup::new(pending).policy(answer);
    let (allow, ask) = (Answer::Is(PolicyDecision::Allow), Answer::Is(PolicyDecision::Ask));
    let before = ["tool.requested", "tool.failed"];
    let after = ["tool.requested", "tool.started", "tool.failed"];
    for effect in EFFECTS {
        let read = effect == Effect::Read;
        for (stand, answer, hanging, code, kinds) in [
            (answers, Answer::Never, None, "cancelled", &before[..]),
            (answers, ask, Some(Method::Approval), "cancelled", &before[..]),
            (answers, allow, (!read).then_some(Method::Claim), "cancelled", &before[..]),
            (hangs, allow, None, "interrupted", &after[..]),
            (answers, allow, Some(Method::Settle), "interrupted", &after[..]),
        ] {
            if read && answer == allow && hanging.is_none() && code == "cancelled" {
                continue; // A read makes no claim.
            }
            let bench = stand(answer).build().await;
            if let Some(method) = hanging {
                bench.journal.fail(method, 0, Fault::Hangs);
            }
            let request = bench.request(effect.word(), "{}");
            drop_where_it_waits(&bench, &request).await;
            let ending = bench.ending(&request.call.call_id).await;
            let place = format!("{effect}, {answer:?}, {hanging:?}");
            assert_eq!(ending.code.unwrap().word(), code, "{place}"); // S-23
            assert_eq!(bench.kinds().await, kinds, "{place}"); // R-212, S-51
        }
    }
}

#[tokio::test]
async fn while_the_question_is_put() {
    let bench = Setup::new(|counters| answering(counters, "1")).policy(Answer::Is(PolicyDecision::Ask)).build().await;
    bench.journal.fail(Method::Ask, 0, Fault::Hangs);
    let request = bench.request("write", "{}");
    drop_where_it_waits(&bench, &request).await;
    assert_eq!(bench.ending(&request.call.call_id).await.code.unwrap().word(), "cancelled");
    assert_eq!(bench.kinds().await.first().unwrap(), "tool.requested");
    assert_eq!(bench.handler_count(), 0);
}

#[tokio::test]
async fn a_call_that_was_never_begun_leaves_nothing() {
    let bench = Setup::new(|counters| answering(counters, "1")).build().await;
    drop(bench.send(&bench.request("write", "{}")));
    tokio::task::yield_now().await;
    assert!(bench.kinds().await.is_empty());
}

#[tokio::test]
async fn a_dropped_call_that_is_sent_again_has_its_ending() {
    let bench = Setup::new(pending).build().await;
    let request = bench.request("write", "{}");
    drop_where_it_waits(&bench, &request).await;
    let again = crate::bench::settlement(bench.send(&request).await);
    assert_eq!(crate::bench::code(&again), "interrupted");
    assert_eq!(again.result().meta.deduplicated.as_ref(), Some(&request.call.call_id)); // S-31
    assert_eq!(bench.handler_count(), 1);
    bench.ending(&request.call.call_id).await;
}

/// Whoever takes the run up recovers the call, as after a crash.
#[tokio::test]
async fn what_is_handed_over_has_no_ending_here() {
    for (setup, kinds) in [
        (Setup::new(|counters| answering(counters, "1")).policy(Answer::Never), &[][..]),
        (Setup::new(pending), &["tool.requested", "tool.started"][..]),
    ] {
        let bench = setup.build().await;
        bench.scope.hand_over.cancel();
        drop_where_it_waits(&bench, &bench.request("write", "{}")).await;
        assert_eq!(bench.kinds().await, kinds);
    }
}
