//! A journal that fails: nothing runs without a durable intent, nothing is shown that is not stored (R-125, S-42).

use std::sync::Arc;

use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::event::{EventType, NewEvent};
use lockgate_contract::ports::{ApprovalFilter, Journal, Lease, PolicyDecision};
use lockgate_contract::tool::{Failure, ToolEnvironmentError};
use lockgate_executor::Released;

use crate::bench::{Answer, Bench, EFFECTS, Fault, Method, Setup, answering, code, failing, settlement};

const FAULTS: [Fault; 4] = [Fault::Unavailable, Fault::UnknownNotWritten, Fault::UnknownWritten, Fault::Panic];

fn secretive(answer: Answer) -> Setup {
    Setup::new(|counters| answering(counters, r#""hunter22""#)).policy(answer)
}

/// What must hold after any call, whatever the journal did.
async fn assert_sound(bench: &Bench, effect: Effect, released: &Released, case: &str) {
    let kinds = bench.kinds().await;
    let started = kinds.iter().filter(|kind| *kind == "tool.started").count();
    let endings = kinds.iter().filter(|kind| ["tool.finished", "tool.failed"].contains(&kind.as_str())).count();
    assert!(endings <= 1, "{case}: {kinds:?}"); // R-212
    assert!(kinds.iter().filter(|kind| *kind == "tool.requested").count() <= 1, "{case}: {kinds:?}");
    let asked = kinds.iter().filter(|kind| *kind == "approval.requested").count();
    let open = bench.journal.inner().approvals(ApprovalFilter::default()).await.unwrap().len();
    assert_eq!(asked, open, "{case}: the journal tells of a question that nobody can answer, or not of one: {kinds:?}");
    if effect != Effect::Read {
        assert!(bench.handler_count() <= started, "{case}: ran without an intent: {kinds:?}"); // R-125
    }
    assert!(bench.handler_count() <= 1, "{case}"); // R-077
    let (result, told) = match released {
        Released::Settled(settlement) => (settlement.result(), settlement.settled().model_content().text().to_owned()),
        Released::Open(open) => (open.result(), String::new()),
        other => panic!("{case}: {other:?}"),
    };
    assert!(!told.contains("/srv/journal.db"), "{case}: {told}"); // R-180
    match result.code().map(lockgate_contract::outcome::Outcome::word) {
        None => assert!(kinds.contains(&"tool.finished".to_owned()), "{case}: shown but not stored: {kinds:?}"), // R-183
        Some("storage_unavailable") => assert_eq!(bench.handler_count(), 0, "{case}"),
        Some("result_not_recorded") => {
            assert_eq!(bench.handler_count(), 1, "{case}");
            assert!(result.data.is_none() && !told.contains("hunter22"), "{case}: {told}"); // R-183
        }
        Some("approval_required" | "approval_stale" | "gate_internal_error" | "approval_used") => {
            assert_eq!(bench.handler_count(), 0, "{case}");
        }
        Some(other) => panic!("{case}: {other}"),
    }
}

#[tokio::test]
async fn each_method_failing_once_and_twice() {
    for effect in EFFECTS {
        for method in [Method::Approval, Method::Ask, Method::Claim, Method::Settle, Method::Events] {
            for fault in FAULTS {
                for twice in [false, true] {
                    for asks in [false, true] {
                        let case = format!("{effect} {method:?} {fault:?} twice={twice} asks={asks}");
                        let decision = if asks { PolicyDecision::Ask } else { PolicyDecision::Allow };
                        let bench = secretive(Answer::Is(decision)).build().await;
                        bench.journal.fail(method, 0, fault);
                        if twice {
                            bench.journal.fail(method, 1, fault);
                            bench.journal.fail(Method::Settle, 0, fault);
                        }
                        let released = bench.send(&bench.request(effect.word(), "{}")).await;
                        assert_sound(&bench, effect, &released, &case).await;
                        assert!(!asks || bench.handler_count() == 0, "{case}"); // R-173
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn each_method_failing_for_an_approved_call() {
    for effect in EFFECTS {
        for method in [Method::Approval, Method::Claim, Method::Settle] {
            for fault in FAULTS {
                let case = format!("{effect} {method:?} {fault:?}");
                let bench = secretive(Answer::Is(PolicyDecision::Ask)).build().await;
                let request = bench.approved(effect.word()).await;
                bench.journal.fail(method, 0, fault);
                let released = bench.send(&request).await;
                assert_sound(&bench, effect, &released, &case).await;
                let consumed = bench.kinds().await.contains(&"approval.consumed".to_owned());
                assert!(bench.handler_count() == 0 || consumed, "{case}: ran without using its approval"); // R-173
                // Sent again, it never runs a second time.
                let _ = bench.send(&request).await;
                assert!(bench.handler_count() <= 1, "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_claim_that_may_stand_runs_nothing() {
    for effect in [Effect::Write, Effect::External] {
        for fault in [Fault::UnknownWritten, Fault::UnknownNotWritten] {
            let bench = secretive(Answer::Native).build().await;
            bench.journal.fail(Method::Claim, 0, fault);
            let settlement = bench.call(effect.word()).await;
            assert_eq!((code(&settlement), bench.handler_count()), ("storage_unavailable", 0)); // R-125
            assert_eq!(settlement.settled().effect_state, EffectState::None);
            bench.ending(&settlement.result().call_id).await;
        }
    }
}

/// An event that somebody else writes into the run.
fn note() -> NewEvent {
    let kind = EventType::Other("note.added".to_owned());
    NewEvent { kind, step: 0, call_id: None, data: Document::empty_object().into() }
}

/// After a claim of which nobody knows whether it stands, the ending brings along what does not: also where something else
/// is known of the call.
#[tokio::test]
async fn what_does_not_stand_is_written_with_the_ending() {
    let bench = secretive(Answer::Native).build().await;
    let request = bench.request("write", "{}");
    let of_call = NewEvent { call_id: Some(request.call.call_id.clone()), ..note() };
    bench.journal.inner().append(&Lease::first(bench.run_id.clone()), vec![of_call]).await.unwrap();
    bench.journal.fail(Method::Claim, 0, Fault::UnknownNotWritten);
    bench.send(&request).await;
    assert_eq!(bench.kinds().await, ["note.added", "tool.requested", "tool.failed"]);
}

#[tokio::test]
async fn what_is_known_of_the_world_survives_a_result_that_is_not_stored() {
    let cases: [(fn() -> Failure, EffectState); 3] = [
        (|| ToolEnvironmentError::new("gone").into(), EffectState::Unknown),
        (|| ToolEnvironmentError::new("gone").nothing_happened().into(), EffectState::None),
        (|| Failure::bug("broken"), EffectState::Unknown),
    ];
    for (failure, state) in cases {
        let bench = Setup::new(|counters| failing(counters, failure)).build().await;
        bench.journal.fail(Method::Settle, 0, Fault::Unavailable);
        let settlement = bench.call("external").await;
        // It ran: not one of them may be told as `storage_unavailable`, "nothing was run".
        assert_eq!(code(&settlement), "result_not_recorded");
        assert_eq!(settlement.settled().effect_state, state); // R-126
    }
}

#[tokio::test]
async fn others_events_are_seen_first_and_once() {
    let bench = secretive(Answer::Native).build().await;
    bench.journal.inner().append(&Lease::first(bench.run_id.clone()), vec![note(), note()]).await.unwrap();
    bench.call("write").await;
    bench.journal.inner().append(&Lease::first(bench.run_id.clone()), vec![note()]).await.unwrap();
    bench.scope.log.catch_up().await.unwrap();
    bench.scope.log.catch_up().await.unwrap();
    let seen: Vec<u64> = bench.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seen, [2, 3, 4, 5, 6, 7]); // R-209
    // Events are read back where somebody else wrote some, and not for every call.
    let before = bench.journal.calls(Method::Events);
    bench.call("write").await;
    assert_eq!(bench.journal.calls(Method::Events), before);
}

#[tokio::test]
async fn a_result_that_stands_is_shown_although_others_events_cannot_be_read() {
    let bench = secretive(Answer::Native).build().await;
    bench.journal.inner().append(&Lease::first(bench.run_id.clone()), vec![note()]).await.unwrap();
    for nth in 0..2 {
        bench.journal.fail(Method::Events, nth, Fault::Unavailable);
    }
    let settlement = bench.call("write").await;
    assert_eq!(code(&settlement), "ok");
    let stored = bench.ending(&settlement.result().call_id).await;
    assert!(stored.ok); // What is told is what is stored.
    bench.scope.log.catch_up().await.unwrap();
    let seen: Vec<u64> = bench.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seen, [2, 3, 4, 5]);
}

#[tokio::test]
async fn a_second_ending_is_the_first_one_told_again() {
    let bench = Arc::new(secretive(Answer::Native).build().await);
    for effect in EFFECTS {
        let request = bench.request(effect.word(), "{}");
        let first = settlement(bench.send(&request).await);
        let code_of = lockgate_contract::outcome::Code::OutcomeUnknown;
        let again = bench.gate.settle(request.clone(), code_of, true, "a second driver", &bench.scope).await;
        let again = settlement(again);
        assert_eq!(again.result().data.as_ref().unwrap().text(), first.result().data.as_ref().unwrap().text());
        assert_eq!(again.result().meta.deduplicated.as_ref(), Some(&request.call.call_id)); // S-31
        bench.ending(&request.call.call_id).await;
    }
}

#[tokio::test]
async fn a_read_that_must_not_be_repeated_has_a_durable_intent_too() {
    use lockgate_contract::effect::ReplayPolicy;
    for (replay, claims) in [(ReplayPolicy::Safe, 0), (ReplayPolicy::Never, 1)] {
        let bench = Setup::new(|counters| {
            let builder = crate::bench::tool(counters, Effect::Read).replay(replay);
            vec![crate::bench::with_handler(builder, counters, |_, _| async {
                Ok(lockgate_contract::tool::Output::of(&1))
            })]
        })
        .build()
        .await;
        bench.call("read").await;
        assert_eq!(bench.journal.calls(Method::Claim), claims, "{replay}"); // R-125, R-128
    }
}
